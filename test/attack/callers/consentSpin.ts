import { setTimeout as sleep } from 'node:timers/promises';
import { answerJson } from '../../http/recordingServer.ts';
import type { Attack } from '../attack.ts';
import { acknowledge, grant, pend, type WiredOperator } from '../../wiredOperator.ts';
import type { Target } from '../target.ts';
import { number } from '../values.ts';

const BOTH = (e164: string): string =>
  `{ phoneNumber(e164: "${e164}") { lastSimSwap simSwappedWithin(maxAgeHours: 24) } }`;
const WINDOW = (e164: string): string =>
  `{ phoneNumber(e164: "${e164}") { simSwappedWithin(maxAgeHours: 24) } }`;

/** As the history that was found: who asks when, whose patience ends, who hangs up. */
export const consentSpin: Attack = {
  name: 'consent-spin',
  tries:
    'to have a consent pursued for a request that has left, so that nothing else runs any more',
  holds: 'the event loop turns, every request has its answer, SIGTERM ends the process',
  async run(stage) {
    for (const end of ['expired_token', 'invalid_grant', 'access_denied'] as const) {
      const operator = await stage.operator({});
      const target = await stage.serve(operator, {
        OPERATOR_FLOW: '3-legged',
        CONSENT_WAIT_MS: '3000',
      });
      scriptHistory(operator, end);
      const asked = await playHistory(target);
      const answered = await Promise.all(asked);
      stage.equals(`${end}: served on`, await target.statusOf('/livez'), 200);
      stage.equals(
        `${end}: without an answer`,
        answered.filter((status) => status === 0).length,
        0,
      );
    }
  },
};

/** The date's consent is granted when two wait for it; the next one ends after one of three has left. */
function scriptHistory(operator: WiredOperator, end: string): void {
  let prompts = 0;
  const startedAtMs = performance.now();
  operator.script = {
    authorize: (received, response) => {
      prompts += 1;
      acknowledge(received, response);
    },
    token: (received, response) => {
      if (prompts === 1 && performance.now() - startedAtMs > 1800) grant(received, response);
      else if (prompts > 1 && performance.now() - startedAtMs > 3200) {
        answerJson(received, response, { error: end }, 400);
      } else pend(received, response);
    },
    lookUp: (received, response) => {
      const isCheck = received.path.endsWith('/check');
      const lately = new Date(Date.now() - 3_600_000).toISOString();
      answerJson(received, response, isCheck ? { swapped: true } : { latestSimChange: lately });
    },
  };
}

async function playHistory(target: Target): Promise<Promise<number>[]> {
  const e164 = number(50);
  const asked = [statusOf(target, BOTH(e164))];
  await sleep(1500);
  asked.push(statusOf(target, BOTH(e164)));
  await sleep(900);
  const leaves = new AbortController();
  const left = fetch(`${target.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: WINDOW(e164) }),
    signal: leaves.signal,
  }).catch(() => undefined);
  await sleep(800);
  leaves.abort();
  await left;
  await sleep(1500);
  return asked;
}

async function statusOf(target: Target, query: string): Promise<number> {
  return (await target.ask(query)).status;
}
