import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { auditHash } from '../../src/caller/audit/entry.ts';
import type { Environment } from '../../src/config/environment.ts';
import { freshStateKey, NO_REDIS, startRedis } from '../support/redisServer.ts';
import { Program } from '../support/program.ts';
import { askAt, startServiceWith, type Service } from '../support/service.ts';
import { ServerProcess } from '../endToEnd/serverProcess.ts';
import type { Answer } from '../wire/recordingServer.ts';
import { entryAt, startServiceOf } from '../support/operatorsFile.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { acknowledge, answerNever, grant, pend, WiredOperator } from '../support/wiredOperator.ts';
import { ALICE } from '../support/values.ts';

const IGNORED = 'SIGHUP is ignored: restart to apply changed settings.';
const NOT_SHARED =
  'Consents are known only to this process: after a restart owners may be prompted again. Set REDIS_URL.';

let operator: WiredOperator;

beforeEach(async () => {
  operator = await WiredOperator.start();
});

afterEach(async () => {
  await operator[Symbol.asyncDispose]();
});

const prompting = { PORT: '0', OPERATOR_FLOW: '3-legged', CONSENT_WAIT_MS: '0' };

describe('SIGHUP', () => {
  test('is ignored and logged, also during the start, and does not delay a process that drains', async () => {
    const settings = { ...operator.settings, ...prompting, DRAIN_GRACE_MS: '300' };
    await using program = Program.node(['src/main.ts'], settings);
    // Before Node runs the first line of the program, a signal ends it.
    await handlesHangup(program.pid);
    program.signal('SIGHUP');
    expect(program.out).toBe('');
    const url = await program.serves();
    await program.written(new RegExp(`"level":40.*${IGNORED}`));
    // Without REDIS_URL consents are lost at a restart.
    await program.written(new RegExp(`"level":40.*${NOT_SHARED}`));
    for (let n = 0; n < 10; n += 1) program.signal('SIGHUP');
    expect(await ask(url)).toBe('CONSENT_PENDING');
    program.signal('SIGTERM');
    program.signal('SIGHUP');
    expect(await program.exit).toEqual({ code: 0, signal: null });
    expect(program.out).toContain('"msg":"Drained."');
  });
});

/** The answer, or the code of the error. */
async function ask(url: string): Promise<unknown> {
  const query = `{ phoneNumber(e164: "${ALICE}") { simSwappedWithin } }`;
  const { codes, data } = await askAt(url, query);
  return codes[0] ?? data.phoneNumber.simSwappedWithin;
}

/** In a PID namespace of its own, where the kernel drops signals that the first process does not handle. */
const AS_FIRST = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child'] as const;
const hasNamespaces = spawnSync('unshare', [...AS_FIRST, 'true']).status === 0;

describe.skipIf(!hasNamespaces)('SIGTERM before it listens, as the first process', () => {
  test.each([
    ['before it has read its settings', (node: number) => handlesHangup(node)],
    ['once it has', (_: number, program: Program) => program.written(/"Starting\."/)],
    [
      'while Redis hangs',
      (_node: number, _program: Program, hung: Server) => once(hung, 'connection'),
    ],
  ])('ends it with 0 and a line: %s', async (_stage, reached) => {
    const sockets = new Set<Socket>();
    const hung = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
    await once(hung.listen(0, '127.0.0.1'), 'listening');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
    const { port } = hung.address() as AddressInfo;
    const settings = {
      ...operator.settings,
      ...prompting,
      REDIS_URL: `redis://127.0.0.1:${port}`,
      STATE_KEY: freshStateKey(),
    };
    await using program = new Program(
      'unshare',
      [...AS_FIRST, process.execPath, 'src/main.ts'],
      settings,
    );
    const childOf = (): number => Number(procFile(program.pid, `task/${program.pid}/children`));
    await expect.poll(childOf, { interval: 1 }).toBeGreaterThan(0);
    const node = childOf();
    await reached(node, program, hung);
    process.kill(node, 'SIGTERM');

    expect(await program.ended).toEqual({ code: 0, signal: null });
    const last: unknown = JSON.parse(program.lines.at(-1) ?? '');
    expect(last).toMatchObject({ msg: 'Ended before listening.', signal: 'SIGTERM' });
    for (const socket of sockets) socket.destroy();
    hung.close();
  });
});

/** Resolves once the process handles SIGHUP, signal number 1, the last that it begins to handle. */
async function handlesHangup(pid: number): Promise<void> {
  const caught = (): boolean => {
    const [, mask = '0'] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(procFile(pid, 'status')) ?? [];
    return (BigInt(`0x${mask}`) & 1n) === 1n;
  };
  await expect.poll(caught, { interval: 1, timeout: 15_000 }).toBe(true);
}

function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

const acknowledgeLate: Answer = (received, response) =>
  void setTimeout(() => acknowledge(received, response), 1500);

test('a rolling restart with another secret, limits and STATE_KEY prompts once', async (context) => {
  context.skip(NO_REDIS !== undefined, NO_REDIS);
  const redis = await startRedis();
  const [old, young] = [freshStateKey(), freshStateKey()];
  // The first replica is stopped meanwhile.
  operator.script = { authorize: acknowledgeLate, token: pend };
  const shared = { ...operator.settings, ...prompting, REDIS_URL: redis.url };
  const withKey = (STATE_KEY: string, others: Environment = {}) =>
    startServiceWith({ ...shared, STATE_KEY, ...others });
  // These do not change the identity of the operator.
  const changed = { OPERATOR_CLIENT_SECRET: 'another', OPERATOR_TIMEOUT_MS: '7000' };
  await using first = await ServerProcess.start(operator.url, { ...shared, STATE_KEY: old });
  // A killed one would leave a prompt in doubt, or the lease of a poll.
  const stop = async (): Promise<void> => {
    first.terminate();
    expect(await first.ended).toEqual({ code: 0, signal: null });
  };
  const replicas: Pick<Service, 'url' | 'stop'>[] = [{ url: first.url, stop }, await withKey(old)];
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
  // Nothing is left in Redis that only the old key opens.
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

test('a rolling restart with another name of the operator continues a consent by formerly', async (context) => {
  context.skip(NO_REDIS !== undefined, NO_REDIS);
  const redis = await startRedis();
  operator.script = { token: pend };
  const shared = { REDIS_URL: redis.url, STATE_KEY: freshStateKey(), CONSENT_WAIT_MS: '0' };
  const startNamed = (name: string, formerly: readonly string[]) =>
    startServiceOf([entryAt(operator.url, { name, formerly, flow: '3-legged' })], shared);
  const before = await startNamed('alpha', []);
  expect(await ask(before.url)).toBe('CONSENT_PENDING');
  await before.stop();
  operator.script = { token: grant, lookUp: answerNever };
  {
    await using renamed = await startNamed('beta', []);
    // Its prompt is still on the phone.
    expect(await ask(renamed.url)).toBe('CONSENT_PENDING');
    expect(operator.lookups).toEqual([]);
    expect(renamed.logged.join()).toContain('of an operator that is not configured');
  }
  await using renamed = await startNamed('beta', ['alpha']);
  await expect.poll(() => ask(renamed.url), { timeout: 15_000 }).toBe(false);
  expect([operator.prompts.length, operator.lookups.length]).toEqual([1, 1]);
  await redis.kill();
}, 60_000);

// Searching by both keys: test/caller/audit/auditLog.test.ts.
test('AUDIT_KEY: the first of two keys hashes new lines', async () => {
  const AUDIT_LOG = join(new TemporaryFiles().folder, 'audit.jsonl');
  const [old, young] = ['o'.repeat(32), 'y'.repeat(32)];
  const settings = { PORT: '0', AUDIT_LOG, AUDIT_KEY: `${young},${old}` };
  await using server = await startServiceWith({ ...operator.settings, ...settings });
  await ask(server.url);
  expect(readFileSync(AUDIT_LOG, 'utf8')).toContain(`"number":"${auditHash(young, ALICE)}"`);
});
