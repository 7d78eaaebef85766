import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { AuditEntry, AuditStart } from '../../src/caller/audit/entry.ts';
import type { Environment } from '../../src/config/environment.ts';
import { DeadlineExceeded } from '../../src/http/urgency.ts';
import { systemClock } from '../../src/system/clock.ts';
import { TestIssuer } from '../caller/testIssuer.ts';
import { NO_REDIS } from '../redisServer.ts';
import { TemporaryFiles } from '../tls/temporaryFiles.ts';
import { AskedSimSwaps, line } from './askedSimSwaps.ts';
import { answerRightly } from '../wiredOperator.ts';
import { startService, startSimulated } from '../service.ts';
import { STORES, useStores } from './stores.ts';
import { LightAbortSignal } from '../../src/http/urgency.ts';

const settingsOf = useStores();
const issuer = await TestIssuer.start();
afterAll(() => issuer.close());

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

describe('the audit log', () => {
  test('has a line of its own for each request that hears a kept answer', async () => {
    using files = new TemporaryFiles();
    const file = join(files.folder, 'audit.jsonl');
    await using service = await startSimulated({
      ...issuer.settings,
      KEEP_FACTS_SECONDS: '60',
      AUDIT_LOG: file,
      AUDIT_KEY: 'a-key-of-at-least-thirty-two-characters',
      PURPOSES: 'fraud-prevention,account-recovery',
    });
    const ask = async (sub: string, correlator: string, purpose = 'fraud-prevention') => {
      const token = await issuer.token({ sub, scope: 'sim-swap:read' });
      const headers = {
        authorization: `Bearer ${token}`,
        'x-correlator': correlator,
        'x-purpose': purpose,
      };
      expect(await service.ask(WINDOW, {}, headers)).toMatchObject(ANSWER);
    };
    await ask('anna', 'first');
    await ask('anna', 'second');
    await ask('anna', 'third', 'account-recovery');
    await ask('bert', 'fourth');
    const entries = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text) as AuditEntry | AuditStart)
      // The line that says that the process has begun may stand anywhere.
      .filter((entry) => entry.audit !== 'start');
    expect(
      entries.map(({ audit, purpose, correlator, outcome }) =>
        [audit, purpose, correlator.split('-')[0], outcome].join(' '),
      ),
    ).toEqual([
      'before fraud-prevention first ',
      'after fraud-prevention first answered',
      'kept fraud-prevention second ',
      'before account-recovery third ',
      'after account-recovery third answered',
      'before fraud-prevention fourth ',
      'after fraud-prevention fourth answered',
    ]);
    expect(service.stats()).toMatchObject({ lookups: 3 });
  });
});

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
