import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerJson, type Received } from '../../http/recordingServer.ts';
import type { Attack } from '../attack.ts';
import { answerIn, number, within } from '../values.ts';

type Answer = (received: Received, response: ServerResponse) => void;

const refused =
  (
    status: number,
    headers: Readonly<Record<string, string>> = {},
    body: object = { error: 'x' },
  ): Answer =>
  ({ correlator }, response) => {
    response.writeHead(status, {
      'content-type': 'application/json',
      'x-correlator': correlator,
      ...headers,
    });
    response.end(JSON.stringify(body));
  };

/** What may come after the phone has rung. */
const ENDS: Readonly<Record<string, Answer>> = {
  '500': refused(500),
  '502': refused(502, { 'retry-after': '0' }),
  '503 with Retry-After': refused(503, { 'retry-after': '1' }),
  '504': refused(504),
  '408': refused(408),
  '409': refused(409),
  '429 with Retry-After': refused(429, { 'retry-after': '1' }),
  '429 without': refused(429),
  'no JSON': ({ correlator }, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'x-correlator': correlator });
    response.end('<html>');
  },
  'no auth_req_id': (received, response) => answerJson(received, response, { expires_in: 60 }),
  'a foreign correlator': (_received, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'x-correlator': 'another' });
    response.end('{"auth_req_id":"x","expires_in":60}');
  },
  'a reset': (_received, response) => response.socket?.resetAndDestroy(),
  'a reply cut in the middle': ({ correlator }, response) => {
    response.writeHead(200, {
      'content-length': '200',
      'content-type': 'application/json',
      'x-correlator': correlator,
    });
    response.write('{"auth_req_id":');
    setTimeout(() => response.socket?.destroy(), 20);
  },
  'no reply': () => undefined,
};

const ASKED_TIMES = 4;

export const promptTwice: Attack = {
  name: 'prompt-twice',
  tries: 'to ring a phone twice, by failing after it has rung',
  holds: 'one prompt, however often the same caller asks in the seconds after',
  async run(stage) {
    const operator = await stage.operator({
      authorize: (received, response) => {
        const index = Number(/447700900(\d{3})/.exec(received.body)?.[1] ?? 0);
        (Object.values(ENDS)[index] ?? refused(500))(received, response);
      },
    });
    // A server each: many failures would open the circuit, and nothing would be asked.
    await Promise.all(
      Object.keys(ENDS).map(async (name, index) => {
        if (index % 5 !== 0) return;
        const group = Object.keys(ENDS).slice(index, index + 5);
        const target = await stage.serve(operator, {
          OPERATOR_FLOW: '3-legged',
          CONSENT_WAIT_MS: '800',
          OPERATOR_TIMEOUT_MS: '700',
        });
        for (const [place] of group.entries()) {
          for (let time = 0; time < ASKED_TIMES; time += 1) {
            await target.ask(within(number(index + place)));
            await sleep(300);
          }
        }
      }),
    );
    for (const [index, name] of Object.keys(ENDS).entries()) {
      const prompts = operator.prompts.filter(({ body }) =>
        body.includes(number(index).slice(1)),
      ).length;
      stage.equals(name, prompts, 1);
    }
  },
};

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
