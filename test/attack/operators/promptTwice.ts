import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerJson, type Received } from '../../http/recordingServer.ts';
import type { Attack } from '../attack.ts';
import { number, within } from '../values.ts';

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
