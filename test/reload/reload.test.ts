import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Program } from '../program.ts';
import { freshStateKey, NO_REDIS, startRedis } from '../redisServer.ts';
import { TemporaryFiles } from '../tls/temporaryFiles.ts';
import { answerNever, grant, pend, WiredOperator } from '../wiredOperator.ts';
import { ReloadingServer } from './reloadingServer.ts';

let operator: WiredOperator;
let files: TemporaryFiles;

beforeEach(async () => {
  operator = await WiredOperator.start();
  files = new TemporaryFiles();
});

afterEach(async () => {
  files[Symbol.dispose]();
  await operator[Symbol.asyncDispose]();
});

const ALICE = '+447700900001';

function asSubgraph(ROUTER_SECRET: string): Readonly<Record<string, string>> {
  return { ...operator.settings, ROLE: 'subgraph', ROUTER_SECRET };
}

/** An answer, or the code of why there is none. */
async function ask(
  { url }: ReloadingServer,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const reply = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: `{ phoneNumber(e164: "${ALICE}") { simSwappedWithin } }` }),
  });
  const { data, errors } = (await reply.json()) as {
    data?: { phoneNumber: { simSwappedWithin: boolean | null } };
    errors?: readonly { extensions: { code: string } }[];
  };
  return errors?.[0]?.extensions.code ?? data?.phoneNumber.simSwappedWithin;
}

function start(
  variables: Readonly<Record<string, string>> = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<ReloadingServer> {
  return ReloadingServer.start(files, { ...operator.settings, ...variables }, environment);
}

function secretShown(): string {
  const [, basic = ''] = operator.tokens.at(-1)?.headers.authorization?.split(' ') ?? [];
  return Buffer.from(basic, 'base64').toString().split(':')[1] ?? '';
}

describe('SIGHUP', () => {
  test('puts in force what the file of --env-file says by now; the environment goes before it', async () => {
    await using server = await start(
      { QUOTA_NUMBERS_PER_HOUR: '5' },
      { OPERATOR_CLIENT_ID: 'of-the-environment' },
    );
    await ask(server);
    const told = await server.reloadWith({
      ...operator.settings,
      OPERATOR_CLIENT_ID: 'of-the-file',
      OPERATOR_CLIENT_SECRET: 'the-new-secret',
    });
    expect(told).toMatchObject({ msg: 'settings reloaded', reload: 1, level: 30 });
    await ask(server);
    expect(secretShown()).toBe('the-new-secret');
    const [, basic = ''] = operator.tokens.at(-1)?.headers.authorization?.split(' ') ?? [];
    expect(Buffer.from(basic, 'base64').toString()).toMatch(/^of-the-environment:/);
  });

  test('with settings that are not fit leaves the old ones in force, and names every problem', async () => {
    await using server = await start({ METRICS_PORT: '0' });
    const { port } = server.logged('metrics')[0] as { port: number };
    const refusedOf = async () =>
      /^sim_swap_reload_refused (\d)$/m.exec(
        await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
      )?.[1];
    expect(await refusedOf()).toBe('0');
    const told = await server.reloadWith({
      ...operator.settings,
      OPERATOR_TIMEOUT_MS: 'soon',
      OPERATOR_FLOW: '4-legged',
      AUDIT_LGO: 'x',
    });
    expect(told).toMatchObject({ level: 50 });
    for (const name of ['OPERATOR_TIMEOUT_MS', 'OPERATOR_FLOW', 'AUDIT_LGO']) {
      expect(told['problems']).toContain(name);
    }
    expect(await ask(server)).toBe(false);
    expect(await refusedOf()).toBe('1');
    expect(await server.reloadWith(operator.settings)).toMatchObject({ level: 30 });
    expect(await refusedOf()).toBe('0');
  });

  test('names what takes a restart, and leaves it as it was', async () => {
    await using server = await start();
    await server.reloadWith({
      ...operator.settings,
      HOST: '0.0.0.0',
      ROLE: 'subgraph',
      LOG_LEVEL: 'error',
      AUDIT_KEY: 'a-key-of-at-least-thirty-two-characters',
    });
    const [told] = server.logged('changed settings that take a restart are as they were');
    expect(told?.['settings']).toBe('HOST, ROLE, LOG_LEVEL, AUDIT_KEY');
    expect(await ask(server)).toBe(false);
  });

  test('that comes ten times at once is not too much', async () => {
    await using server = await start();
    for (let n = 0; n < 10; n += 1) server.signal('SIGHUP');
    await server.reloaded(0);
    expect(await ask(server)).toBe(false);
    server.signal('SIGTERM');
  });

  test.each([
    ['a pipe that nothing writes to', (path: string) => void execFileSync('mkfifo', [path])],
    ['a device without an end', (path: string) => symlinkSync('/dev/zero', path)],
  ])('with %s in the place of a file goes on as before, and says so', async (_, make) => {
    const secret = files.write('secret', 'the-first');
    const { OPERATOR_CLIENT_SECRET: _secret, ...settings } = operator.settings;
    const variables = { ...settings, OPERATOR_CLIENT_SECRET_FILE: secret };
    await using server = await ReloadingServer.start(files, variables);
    rmSync(secret);
    make(secret);
    expect(await server.reload()).toMatchObject({
      level: 50,
      problems: 'OPERATOR_CLIENT_SECRET_FILE names a file that cannot be read.',
    });
    expect(await ask(server)).toBe(false);
    expect(secretShown()).toBe('the-first');
  });

  test('while it drains does not keep it from its end', async () => {
    await using server = await start({ DRAIN_GRACE_MS: '300' });
    server.signal('SIGTERM');
    server.signal('SIGHUP');
    await expect.poll(() => server.logged('drained').length, { timeout: 15_000 }).toBe(1);
  });
});

test('RELOAD_ON_CHANGE: a file of a secret that changes is read again, without a signal', async () => {
  const secret = files.write('secret', 'the-first');
  const { OPERATOR_CLIENT_SECRET: _secret, ...settings } = operator.settings;
  const variables = { ...settings, OPERATOR_CLIENT_SECRET_FILE: secret, RELOAD_ON_CHANGE: 'true' };
  await using server = await ReloadingServer.start(files, variables);
  files.write('secret', 'the-second');
  expect(await server.reloaded(0)).toMatchObject({ cause: 'a file changed', level: 30 });
  await ask(server);
  expect(secretShown()).toBe('the-second');
}, 30_000);

describe('without a restart is rotated', () => {
  test('ROUTER_SECRET: both count while one takes the place of the other', async () => {
    const [old, young] = [
      'an-old-secret-of-thirty-two-characters',
      'a-new-secret-of-thirty-two-characters',
    ];
    await using server = await ReloadingServer.start(files, asSubgraph(old));
    const statusOf = async (secret: string) =>
      (
        await fetch(`${server.url}/graphql?query={__typename}`, {
          headers: { 'x-router-secret': secret, 'apollo-require-preflight': 'yes' },
        })
      ).status;
    const statuses = async () => [await statusOf(old), await statusOf(young)];
    expect(await statuses()).toEqual([200, 403]);
    await server.reloadWith(asSubgraph(`${young},${old}`));
    expect(await statuses()).toEqual([200, 200]);
    await server.reloadWith(asSubgraph(young));
    expect(await statuses()).toEqual([403, 200]);
  });

  test('AUDIT_KEY: a search finds what either key has hashed', async () => {
    const [old, young] = [
      'an-old-key-of-thirty-two-characters-',
      'a-new-key-of-thirty-two-characters--',
    ];
    const AUDIT_LOG = join(files.folder, 'audit.jsonl');
    await using server = await start({ AUDIT_LOG, AUDIT_KEY: old });
    await ask(server);
    const hashes = () =>
      new Set(
        [...readFileSync(AUDIT_LOG, 'utf8').matchAll(/"number":"(\w+)"/g)].map(([, hash]) => hash),
      );
    expect(hashes().size).toBe(1);
    await server.reloadWith({ ...operator.settings, AUDIT_LOG, AUDIT_KEY: `${young},${old}` });
    await ask(server);
    expect(hashes().size).toBe(2);
    const settings = { AUDIT_LOG, AUDIT_KEY: `${young},${old}` };
    await using search = Program.node(['src/auditSearch.ts', '--number', ALICE], settings);
    await search.ended;
    expect(search.err).toContain('4 entries');
  });

  test('STATE_KEY: a consent under way goes on, with one prompt', async (context) => {
    context.skip(NO_REDIS !== undefined, NO_REDIS);
    const redis = await startRedis();
    const [old, young] = [freshStateKey(), freshStateKey()];
    operator.script = { token: pend };
    const withKey = (STATE_KEY: string) => ({
      ...operator.settings,
      OPERATOR_FLOW: '3-legged',
      REDIS_URL: redis.url,
      CONSENT_WAIT_MS: '0',
      STATE_KEY,
    });
    await using one = await ReloadingServer.start(files, withKey(old));
    using others = new TemporaryFiles();
    await using other = await ReloadingServer.start(others, withKey(old));
    expect(await ask(one)).toBe('CONSENT_PENDING');
    for (const key of [`${old},${young}`, `${young},${old}`]) {
      for (const server of [one, other]) {
        expect(await server.reloadWith(withKey(key))).toMatchObject({ level: 30 });
        expect([await ask(one), await ask(other)]).toEqual(['CONSENT_PENDING', 'CONSENT_PENDING']);
      }
    }
    operator.script = { token: grant, lookUp: answerNever };
    await expect.poll(() => ask(other), { timeout: 15_000 }).toBe(false);
    // By then nothing lies there that only the old one opens.
    for (const server of [one, other]) await server.reloadWith(withKey(young));
    expect([await ask(one), await ask(other)]).toEqual([false, false]);
    expect(operator.prompts).toHaveLength(1);
    await redis.kill();
  }, 60_000);
});
