import { answerJson } from '../../http/recordingServer.ts';
import type { Attack } from '../attack.ts';
import { grant } from '../../wiredOperator.ts';
import { answerIn, number, within } from '../values.ts';

export const cibaWords: Attack = {
  name: 'ciba-words',
  tries:
    "to end a consent that has not ended, by another's reply or by a body that says two things",
  holds: 'the stray reply counts as none, the next poll tells; a code does not hide the error',
  async run(stage) {
    for (const echo of ['auto', 'always']) {
      let polls = 0;
      const operator = await stage.operator({
        token: (received, response) => {
          polls += 1;
          if (polls === 1) answerJson(received, response, { error: 'authorization_pending' }, 400);
          else if (polls === 2) {
            // A gateway's mistake: it is meant for another request, and names none.
            response.writeHead(400, { 'content-type': 'application/json' });
            response.end('{"error":"access_denied"}');
          } else grant(received, response);
        },
      });
      const target = await stage.serve(operator, {
        OPERATOR_FLOW: '3-legged',
        OPERATOR_CORRELATOR_ECHO: echo,
        CONSENT_WAIT_MS: '3900',
      });
      const first = await target.ask(within(number(25)));
      const heard = answerIn(first) === false ? first : await target.ask(within(number(25)));
      stage.equals(`a stray denial (${echo})`, answerIn(heard), false);
      stage.equals(`prompts (${echo})`, operator.count('prompts'), 1);
    }
    let asked = 0;
    const operator = await stage.operator({
      token: (received, response) => {
        asked += 1;
        if (asked > 1) grant(received, response);
        else answerJson(received, response, { code: 400, error: 'authorization_pending' }, 400);
      },
    });
    const target = await stage.serve(operator, {
      OPERATOR_FLOW: '3-legged',
      CONSENT_WAIT_MS: '3900',
    });
    stage.equals('a code beside the error', answerIn(await target.ask(within(number(26)))), false);
  },
};
