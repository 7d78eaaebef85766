import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { ServerProcess } from '../endToEnd/serverProcess.ts';
import { answerJson } from '../http/recordingServer.ts';
import { processUsage } from '../processUsage.ts';
import { pend, WiredOperator } from '../wiredOperator.ts';
import { count, longRun, numeric, report, tallied, wrongIf, type Verdict } from './longRun.ts';

/** Lines of a range reserved for fiction; requests about the same one share a consent. */
const NUMBERS = 1000;
const INTERVAL_SECONDS = 5;
/** How many requests are sent at a time: the server takes them in before it takes more. */
const BATCH = 200;

export const waiters = longRun({
  about: 'requests that wait for owners who never answer, and what they take',
  options: {
    waiters: count('how many requests wait at the same time', 10_000),
    seconds: numeric('how long each waits, 5 or more', 25, (n) => Number.isInteger(n) && n >= 5),
  },
  async *run({ waiters: requests, seconds }) {
    yield await wait(requests, seconds);
  },
});

async function wait(requests: number, seconds: number): Promise<Verdict> {
  // Its owners never answer.
  await using operator = await WiredOperator.start({
    authorize: (received, response) => {
      const auth_req_id = `request-${operator.count('prompts')}`;
      const asked = { auth_req_id, expires_in: 120, interval: INTERVAL_SECONDS };
      answerJson(received, response, asked);
    },
    token: pend,
  });

  await using server = await ServerProcess.start(operator.url, {
    OPERATOR_FLOW: '3-legged',
    REQUEST_TIMEOUT_MS: String((seconds + 30) * 1000),
  });
  const dispatcher = new Agent({ connections: requests, bodyTimeout: 0, headersTimeout: 0 });
  const ask = (waitSeconds: number, index = 0): Promise<string> =>
    codeOf(dispatcher, server.url, waitSeconds, index);
  await ask(0);
  await sleep(2000);
  const before = processUsage(server.pid);

  const asking: Promise<string>[] = [];
  for (let sent = 0; sent < requests; sent += BATCH) {
    for (let i = sent; i < Math.min(sent + BATCH, requests); i += 1) asking.push(ask(seconds, i));
    await sleep(20);
  }
  // All have come in, and none has gone.
  await sleep(2000);
  const begun = processUsage(server.pid);
  const pollsBegun = operator.count('tokens');
  const beganAtMs = performance.now();
  await sleep((seconds - 5) * 1000 - 2000);
  const waiting = processUsage(server.pid);
  const waitedSeconds = (performance.now() - beganAtMs) / 1000;
  const pollsWaiting = operator.count('tokens') - pollsBegun;
  const prompts = operator.count('prompts');

  const heard = new Map<string, number>();
  for (const code of await Promise.all(asking)) heard.set(code, (heard.get(code) ?? 0) + 1);
  const cpu = (waiting.cpuSeconds - begun.cpuSeconds) / waitedSeconds;
  const grownKib = (waiting.residentMib - before.residentMib) * 1024;
  const numbers = Math.min(requests, NUMBERS);
  report(`${requests} requests about ${numbers} numbers`, [
    ['prompts', prompts],
    ['resident before, MiB', before.residentMib.toFixed(0)],
    ['resident while they wait, MiB', waiting.residentMib.toFixed(0)],
    ['for each, KiB', (grownKib / requests).toFixed(1)],
    ['polls a second', (pollsWaiting / waitedSeconds).toFixed(0)],
    ['of a core while they wait, %', (100 * cpu).toFixed(1)],
    ['of a core to take them in, s', (begun.cpuSeconds - before.cpuSeconds).toFixed(1)],
    ...tallied('heard', heard),
  ]);
  server.terminate();
  await server.exit;
  await dispatcher.destroy();
  return wrongIf(prompts !== numbers || heard.get('CONSENT_PENDING') !== requests);
}

async function codeOf(
  dispatcher: Agent,
  origin: string,
  waitSeconds: number,
  index: number,
): Promise<string> {
  const number = `+447700900${String(index % NUMBERS).padStart(3, '0')}`;
  const { body } = await dispatcher.request({
    origin,
    path: '/graphql',
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: `wait=${waitSeconds}` },
    body: JSON.stringify({ query: `{ phoneNumber(e164: "${number}") { simSwappedWithin } }` }),
  });
  const { errors } = (await body.json()) as {
    readonly errors?: readonly [{ readonly extensions: { readonly code: string } }];
  };
  return errors?.[0].extensions.code ?? 'answered';
}
