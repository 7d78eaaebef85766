import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import type { Environment } from '../../src/config/environment.ts';
import { DeadlineExceeded } from '../../src/http/urgency.ts';
import { systemClock } from '../../src/system/clock.ts';
import { NO_REDIS } from '../redisServer.ts';
import { AskedSimSwaps, line } from './askedSimSwaps.ts';
import { answerRightly } from '../wiredOperator.ts';
import { startService, startSimulated } from '../service.ts';
import { STORES, useStores } from './stores.ts';
import { LightAbortSignal } from '../../src/http/urgency.ts';

const settingsOf = useStores();

const WINDOW = '{ phoneNumber(e164: "+447700900500") { simSwappedWithin } }';
const ANSWER = { data: { phoneNumber: { simSwappedWithin: false } } };

// The flow, its settings, and what three equal asks in a row cost.
const COSTS: readonly [string, Environment, { lookups: number; prompts: number }][] = [
  ['2-legged', {}, { lookups: 3, prompts: 0 }],
  ['2-legged', { KEEP_FACTS_SECONDS: '60' }, { lookups: 1, prompts: 0 }],
  ['3-legged', {}, { lookups: 1, prompts: 1 }],
  ['3-legged', { KEEP_FACTS_SECONDS: '0' }, { lookups: 3, prompts: 3 }],
];

describe.each(STORES)('an answer that was just given, in %s', (store) => {
  test.each(COSTS)('three times in a row, %s with %j: %j', async (flow, settings, costs) => {
    const all = { OPERATOR_FLOW: flow, ...settings, ...settingsOf(store) };
    await using service = await startSimulated(all);
    for (let asks = 0; asks < 3; asks += 1)
      expect((await service.ask(WINDOW)).body).toEqual(ANSWER);
    expect(service.stats()).toMatchObject(costs);
  });
});

test.skipIf(NO_REDIS)('replicas tell what one of them keeps, 2-legged', async () => {
  const settings = { KEEP_FACTS_SECONDS: '60', ...settingsOf('Redis') };
  await using one = await startSimulated(settings);
  const { authUrl, simSwapUrl } = one.simulator;
  await using other = await startService(authUrl, {
    OPERATOR_SIM_SWAP_URL: simSwapUrl,
    ...settings,
  });
  expect((await one.ask(WINDOW)).body).toEqual(ANSWER);
  expect((await other.ask(WINDOW)).body).toEqual(ANSWER);
  expect(one.stats()).toMatchObject({ lookups: 1 });
});

test('what did not reach its caller is heard by the next request, and prompts no owner', async () => {
  await using service = await startSimulated({
    OPERATOR_FLOW: '3-legged',
    KEEP_FACTS_SECONDS: '0',
  });
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  // The reply to the second waits behind the one to the first, whose owner takes eight seconds.
  socket.write(`${posted(WINDOW.replace('500', '051'))}${posted(WINDOW)}`);
  await vi.waitFor(() => expect(service.stats()).toMatchObject({ lookups: 1, prompts: 2 }), 5000);
  await service.ask('{ __typename }');
  socket.destroy();

  expect((await service.ask(WINDOW)).body).toEqual(ANSWER);
  expect(service.stats()).toMatchObject({ lookups: 1, prompts: 2 });
  // It has been heard now.
  expect((await service.ask(WINDOW)).body).toEqual(ANSWER);
  expect(service.stats()).toMatchObject({ lookups: 2, prompts: 3 });
});

function posted(query: string): string {
  const body = JSON.stringify({ query });
  return [
    'POST /graphql HTTP/1.1',
    'host: 127.0.0.1',
    'content-type: application/json',
    `content-length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}

describe('requests at the same time', () => {
  test('are answered until the deadline of the last, though that of the first is over', async () => {
    const held: (() => void)[] = [];
    await using asked = await AskedSimSwaps.start(systemClock, (received, response) => {
      held.push(() => answerRightly(received, response));
    });
    const timeLeftMs = 300;
    const deadline = new LightAbortSignal();
    const first = asked.ask({ number: line(1), timeLeftMs, signal: deadline });
    // The token is on its way: its exchange began when nothing but the first deadline was known.
    await expect.poll(() => held.length).toBe(1);
    const second = asked.ask({ number: line(1) });
    await systemClock.sleep(timeLeftMs);
    deadline.abort(new DeadlineExceeded());
    expect(await first).toBe('OPERATOR_TIMEOUT');
    held.pop()?.();
    await expect.poll(() => held.length).toBe(1);
    held.pop()?.();
    expect(await second).toBe(false);
    expect(asked.count()).toBe(2);
  });
});
