import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Environment } from '../../src/config/environment.ts';
import { freshStateKey, NO_REDIS, startRedis } from '../redisServer.ts';
import { Program } from '../program.ts';
import { askAt, startServiceWith, type Service } from '../service.ts';
import { ServerProcess } from '../endToEnd/serverProcess.ts';
import { TemporaryFiles } from '../temporary.ts';
import { answerNever, grant, pend, WiredOperator } from '../wiredOperator.ts';
import { ALICE } from '../values.ts';

const IGNORED = 'SIGHUP is ignored: a changed setting takes a restart';
const NOT_SHARED =
  'consents are known only to this process: after a restart owners may be prompted again';

let operator: WiredOperator;

beforeEach(async () => {
  operator = await WiredOperator.start();
});

afterEach(async () => {
  await operator[Symbol.asyncDispose]();
});

const prompting = { PORT: '0', OPERATOR_FLOW: '3-legged', CONSENT_WAIT_MS: '0' };

describe('SIGHUP', () => {
  test('is ignored, and a line says so; while the process drains it does not keep it from its end', async () => {
    const settings = { ...prompting, DRAIN_GRACE_MS: '300' };
    await using server = await ServerProcess.start(operator.url, settings);
    // Without REDIS_URL the next process knows of no consent.
    await expect
      .poll(() => server.logged(NOT_SHARED))
      .toMatchObject([{ level: 40, setting: 'REDIS_URL' }]);
    for (let n = 0; n < 10; n += 1) server.signal('SIGHUP');
    await expect.poll(() => server.logged(IGNORED).length).toBeGreaterThan(0);
    expect(server.logged(IGNORED)[0]).toMatchObject({ level: 40 });
    expect(await ask(server.url)).toBe('CONSENT_PENDING');
    server.signal('SIGTERM');
    server.signal('SIGHUP');
    await expect.poll(() => server.logged('drained')).toHaveLength(1);
  });

  test('that comes while the process starts does not end it, and is logged as well', async () => {
    await using program = Program.node(['src/main.ts'], { ...operator.settings, PORT: '0' });
    // Until Node runs the first line of the program nothing can keep a signal from ending it.
    await handlesHangup(program.pid);
    program.signal('SIGHUP');
    expect(program.out).toBe('');
    const [, port] = await program.written(/"port":(\d+)/);
    await program.written(new RegExp(IGNORED));
    expect(await ask(`http://127.0.0.1:${port}`)).toBe(false);
    expect(program.out).not.toContain(NOT_SHARED);
  });
});

/** An answer, or the code of why there is none. */
async function ask(url: string): Promise<unknown> {
  const query = `{ phoneNumber(e164: "${ALICE}") { simSwappedWithin } }`;
  const { codes, data } = await askAt(url, query);
  return codes[0] ?? data.phoneNumber.simSwappedWithin;
}

/** Resolves once the process has a handler of its own for SIGHUP, the first of all signals. */
async function handlesHangup(pid: number): Promise<void> {
  const caught = (): boolean => {
    const [, mask = '0'] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(processStatus(pid)) ?? [];
    return (BigInt(`0x${mask}`) & 1n) === 1n;
  };
  await expect.poll(caught, { interval: 1, timeout: 15_000 }).toBe(true);
}

function processStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

test('replicas with one Redis are replaced by others with another secret, limits and STATE_KEY, one replica after the other, with one prompt', async (context) => {
  context.skip(NO_REDIS !== undefined, NO_REDIS);
  const redis = await startRedis();
  const [old, young] = [freshStateKey(), freshStateKey()];
  operator.script = { token: pend };
  const shared = { ...operator.settings, ...prompting, REDIS_URL: redis.url };
  const withKey = (STATE_KEY: string, others: Environment = {}) =>
    startServiceWith({ ...shared, STATE_KEY, ...others });
  // The same operator.
  const changed = { OPERATOR_CLIENT_SECRET: 'another', OPERATOR_TIMEOUT_MS: '7000' };
  const first = await ServerProcess.start(operator.url, { ...shared, STATE_KEY: old });
  const replicas: Pick<Service, 'url' | 'stop'>[] = [
    { url: first.url, stop: () => first[Symbol.asyncDispose]() },
    await withKey(old),
  ];
  const answers = () => Promise.all(replicas.map(({ url }) => ask(url)));
  expect(await answers()).toEqual(['CONSENT_PENDING', 'CONSENT_PENDING']);
  expect(first.logged(NOT_SHARED)).toEqual([]);
  for (const key of [`${old},${young}`, `${young},${old}`]) {
    for (const [index, replica] of replicas.entries()) {
      replicas[index] = await withKey(key, changed);
      await replica.stop();
      expect(await answers()).toEqual(['CONSENT_PENDING', 'CONSENT_PENDING']);
    }
  }
  operator.script = { token: grant, lookUp: answerNever };
  await expect.poll(async () => (await answers())[1], { timeout: 15_000 }).toBe(false);
  // By then nothing lies there that only the old one opens.
  for (const [index, replica] of replicas.entries()) {
    replicas[index] = await withKey(young, changed);
    await replica.stop();
  }
  expect(await answers()).toEqual([false, false]);
  expect(operator.prompts).toHaveLength(1);
  expect(operator.lookups).toHaveLength(1);
  for (const replica of replicas) await replica.stop();
  await redis.kill();
}, 60_000);

// What is hashed by either key is found: test/caller/audit/auditLog.test.ts.
test('AUDIT_KEY: the first of two hashes what is written', async () => {
  const AUDIT_LOG = join(new TemporaryFiles().folder, 'audit.jsonl');
  const hashes = () => new Set(readFileSync(AUDIT_LOG, 'utf8').match(/"number":"\w+"/g) ?? []).size;
  const [old, young] = ['o'.repeat(32), 'y'.repeat(32)];
  for (const [times, AUDIT_KEY] of [old, `${young},${old}`].entries()) {
    await using server = await startServiceWith({
      PORT: '0',
      ...operator.settings,
      AUDIT_LOG,
      AUDIT_KEY,
    });
    await ask(server.url);
    expect(hashes()).toBe(times + 1);
  }
});
