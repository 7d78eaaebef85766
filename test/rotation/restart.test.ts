import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Program } from '../program.ts';
import { freshStateKey, NO_REDIS, startRedis } from '../redisServer.ts';
import { startServiceWith } from '../service.ts';
import { TemporaryFiles } from '../tls/temporaryFiles.ts';
import { answerNever, grant, pend, WiredOperator } from '../wiredOperator.ts';
import { ask, StartedServer } from './startedServer.ts';

const ALICE = '+447700900001';
const IGNORED = 'SIGHUP is ignored';
const NOT_SHARED = 'consents are known only to this process';

let operator: WiredOperator;

beforeEach(async () => {
  operator = await WiredOperator.start();
});

afterEach(async () => {
  await operator[Symbol.asyncDispose]();
});

describe('SIGHUP', () => {
  test('is ignored, and a line says so; while the process drains it does not keep it from its end', async () => {
    await using server = await StartedServer.start({ ...operator.settings, DRAIN_GRACE_MS: '300' });
    for (let n = 0; n < 10; n += 1) server.signal('SIGHUP');
    await expect.poll(() => server.logged(IGNORED).length, { timeout: 15_000 }).toBeGreaterThan(0);
    expect(server.logged(IGNORED)[0]).toMatchObject({ level: 40 });
    expect(await ask(server.url, ALICE)).toBe(false);
    server.signal('SIGTERM');
    server.signal('SIGHUP');
    await expect.poll(() => server.logged('drained').length, { timeout: 15_000 }).toBe(1);
  });

  test('that comes while the process starts does not end it, and is logged as well', async () => {
    await using server = await StartedServer.start(operator.settings, async (program) => {
      // Until Node runs the first line of the program nothing can keep a signal from ending it.
      await handlesHangup(program.pid);
      program.signal('SIGHUP');
      expect(program.out).toBe('');
    });
    await expect.poll(() => server.logged(IGNORED).length, { timeout: 15_000 }).toBe(1);
    expect(await ask(server.url, ALICE)).toBe(false);
  });
});

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

describe('an operator that asks owners', () => {
  const prompting = { OPERATOR_FLOW: '3-legged', CONSENT_WAIT_MS: '0' };

  test('without REDIS_URL is warned of at the start: the next process knows of no consent', async () => {
    await using server = await StartedServer.start({ ...operator.settings, ...prompting });
    await using other = await StartedServer.start(operator.settings);
    expect(server.logged(NOT_SHARED)).toMatchObject([{ level: 40, setting: 'REDIS_URL' }]);
    expect(other.logged(NOT_SHARED)).toEqual([]);
  });

  test('a restart with REDIS_URL goes on with a consent that the process before began, with one prompt', async (context) => {
    context.skip(NO_REDIS !== undefined, NO_REDIS);
    const redis = await startRedis();
    operator.script = { token: pend };
    const settings = {
      ...operator.settings,
      ...prompting,
      REDIS_URL: redis.url,
      STATE_KEY: freshStateKey(),
    };
    await using before = await StartedServer.start(settings);
    expect(before.logged(NOT_SHARED)).toEqual([]);
    expect(await ask(before.url, ALICE)).toBe('CONSENT_PENDING');
    // Another secret and other limits are the same operator.
    await using after = await StartedServer.start({
      ...settings,
      OPERATOR_CLIENT_SECRET: 'the-secret-after-it',
      OPERATOR_TIMEOUT_MS: '7000',
    });
    await before.stop();
    operator.script = { token: grant, lookUp: answerNever };
    await expect.poll(() => ask(after.url, ALICE), { timeout: 15_000 }).toBe(false);
    expect(operator.prompts).toHaveLength(1);
    expect(operator.lookups).toHaveLength(1);
    await redis.kill();
  });

  test('STATE_KEY is rotated by restarts, one replica after the other, with one prompt', async (context) => {
    context.skip(NO_REDIS !== undefined, NO_REDIS);
    const redis = await startRedis();
    const [old, young] = [freshStateKey(), freshStateKey()];
    operator.script = { token: pend };
    const shared = { PORT: '0', ...operator.settings, ...prompting, REDIS_URL: redis.url };
    const withKey = (STATE_KEY: string) => startServiceWith({ ...shared, STATE_KEY });
    const replicas = [await withKey(old), await withKey(old)];
    const answers = () => Promise.all(replicas.map(({ url }) => ask(url, ALICE)));
    expect(await answers()).toEqual(['CONSENT_PENDING', 'CONSENT_PENDING']);
    for (const key of [`${old},${young}`, `${young},${old}`]) {
      for (const [index, replica] of replicas.entries()) {
        replicas[index] = await withKey(key);
        await replica.stop();
        expect(await answers()).toEqual(['CONSENT_PENDING', 'CONSENT_PENDING']);
      }
    }
    operator.script = { token: grant, lookUp: answerNever };
    await expect.poll(async () => (await answers())[1], { timeout: 15_000 }).toBe(false);
    // By then nothing lies there that only the old one opens.
    for (const [index, replica] of replicas.entries()) {
      replicas[index] = await withKey(young);
      await replica.stop();
    }
    expect(await answers()).toEqual([false, false]);
    expect(operator.prompts).toHaveLength(1);
    for (const replica of replicas) await replica.stop();
    await redis.kill();
  }, 60_000);
});

test('AUDIT_KEY: a search finds what either key has hashed', async () => {
  using files = new TemporaryFiles();
  const [old, young] = ['o'.repeat(32), 'y'.repeat(32)];
  const AUDIT_LOG = join(files.folder, 'audit.jsonl');
  const hashes = () =>
    new Set(
      [...readFileSync(AUDIT_LOG, 'utf8').matchAll(/"number":"(\w+)"/g)].map(([, hash]) => hash),
    );
  for (const [times, AUDIT_KEY] of [old, `${young},${old}`].entries()) {
    await using server = await StartedServer.start({ ...operator.settings, AUDIT_LOG, AUDIT_KEY });
    await ask(server.url, ALICE);
    expect(hashes().size).toBe(times + 1);
    await server.stop();
  }
  const settings = { AUDIT_LOG, AUDIT_KEY: `${young},${old}` };
  await using search = Program.node(['src/commands/auditSearch.ts', '--number', ALICE], settings);
  await search.ended;
  expect(search.err).toContain('4 entries');
});
