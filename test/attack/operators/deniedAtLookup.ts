import { answerJson } from '../../http/recordingServer.ts';
import type { Attack } from '../attack.ts';
import { answerIn, number, within } from '../values.ts';

export const deniedAtLookup: Attack = {
  name: 'denied-at-lookup',
  tries: 'to ring the phone of an owner who has withdrawn consent, at every ask',
  holds:
    'one prompt, CONSENT_DENIED each time; 2-legged it is OPERATOR_REFUSED, for no owner was asked',
  async run(stage) {
    const operator = await stage.operator({
      lookUp: (received, response) => {
        answerJson(
          received,
          response,
          { status: 403, code: 'access_denied', error: 'access_denied' },
          403,
        );
      },
    });
    const asks = async (flow: string, e164: string): Promise<readonly unknown[]> => {
      const target = await stage.serve(operator, { OPERATOR_FLOW: flow });
      const heard: unknown[] = [];
      for (let time = 0; time < 4; time += 1) heard.push(answerIn(await target.ask(within(e164))));
      return [...new Set(heard)];
    };
    stage.equals('3-legged', await asks('3-legged', number(53)), ['CONSENT_DENIED']);
    stage.equals('prompts', operator.count('prompts'), 1);
    stage.equals('2-legged', await asks('2-legged', number(54)), ['OPERATOR_REFUSED']);
  },
};
