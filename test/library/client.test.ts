import { stripTypeScriptTypes } from 'node:module';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createSimSwapClient,
  type SimSwapClient,
  type SimSwapClientOptions,
  type SimSwapRequestOptions,
} from '../../src/library/client.ts';
import { DEMO_CLIENT, startSimulator, type Simulator } from '../../simulator/simulator.ts';
import { codeBlocksOf } from '../support/documents.ts';
import { Program } from '../support/program.ts';
import { settingsFor } from '../support/service.ts';

const SWAPPED = '+447700900001';
const NEVER = '+447700900004';
const UNKNOWN_NUMBER = '+447700900010';
const SILENT_NUMBER = '+447700900016';
const CONSENTS_LATE = '+447700900051';

type Settings = Readonly<Record<string, string | number | boolean>>;

/** Closed, with its simulator, when the test ends. */
async function openedWith(
  optionsFor: (simulator: Simulator) => SimSwapClientOptions,
): Promise<{ client: SimSwapClient; simulator: Simulator }> {
  const simulator = await startSimulator({ port: 0 });
  const client = await createSimSwapClient(optionsFor(simulator));
  onTestFinished(async () => {
    await client.close();
    await simulator.close();
  });
  return { client, simulator };
}

function opened(settings: Settings = {}) {
  return openedWith(({ authUrl, simSwapUrl }) => ({
    settings: { ...settingsFor(authUrl), OPERATOR_SIM_SWAP_URL: simSwapUrl, ...settings },
  }));
}

/** Runs statements as a module in a process of its own, which ends by itself: no timer and no socket keeps it alive. */
async function ran(statements: string): Promise<unknown> {
  const run = Program.node(['--input-type=module', '--eval', statements]);
  expect({ ...(await run.ended), err: run.err }).toEqual({ code: 0, signal: null, err: '' });
  return JSON.parse(run.out);
}

describe('a client', () => {
  test('answers, or returns why there is no answer', async () => {
    const { client } = await opened();
    const swapped = { kind: 'answered', swapped: true };
    const unswapped = { kind: 'answered', swapped: false };
    const refused = { kind: 'unknown', code: 'BAD_USER_INPUT' };
    const rows: readonly (readonly [number: unknown, hours: number, answer: object])[] = [
      [SWAPPED, 240, swapped],
      [SWAPPED, 1, unswapped],
      [NEVER, 2400, unswapped],
      ['+44 7700-900 004', 24, unswapped],
      [UNKNOWN_NUMBER, 24, { kind: 'unknown', code: 'NUMBER_NOT_SERVED' }],
      ['07700 900001', 24, refused],
      [SWAPPED, 0, refused],
      [SWAPPED, 2401, refused],
      [SWAPPED, 1.5, refused],
      // A program in JavaScript, or a row of its database, may have anything there.
      ...[undefined, null, 447_700_900_004, {}].map((number) => [number, 24, refused] as const),
    ];
    for (const [number, hours, answer] of rows) {
      const told = await client.simSwappedWithin(number as string, hours);
      expect(told, `${JSON.stringify(number)} ${hours}`).toMatchObject(answer);
    }
  });

  test('takes operators as an object, with their secrets in settings', async () => {
    const client = { method: 'basic', id: DEMO_CLIENT.clientId };
    const entry = { name: 'northern', prefixes: ['+44'], flow: '2-legged' };
    const operatorsOf = ({ authUrl, simSwapUrl }: Pick<Simulator, 'authUrl' | 'simSwapUrl'>) => {
      const secret = { variable: 'OF_THE_NORTHERN' };
      return { operators: [{ ...entry, authUrl, simSwapUrl, client: { ...client, secret } }] };
    };
    const settings = { OF_THE_NORTHERN: DEMO_CLIENT.clientSecret };
    const { client: ours, simulator } = await openedWith((one) => ({
      settings,
      operators: operatorsOf(one),
    }));
    const operators = operatorsOf(simulator);
    expect(await ours.simSwappedWithin(SWAPPED, 240)).toMatchObject({ swapped: true });
    expect(await ours.simSwappedWithin('+33600000000', 240)).toMatchObject({
      code: 'NUMBER_NOT_SERVED',
    });
    await expect(createSimSwapClient({ settings: {}, operators })).rejects.toThrow(
      'operators[0].client.secret.variable names a variable that is not set.',
    );
    await expect(
      createSimSwapClient({ settings: { OPERATORS_FILE: 'operators.json' }, operators }),
    ).rejects.toThrow('OPERATORS_FILE is set, but operators are passed in as well');
  });

  test('plans the questions of one request together', async () => {
    const { client, simulator } = await opened();
    const request = client.request();

    const answers = await Promise.all([
      request.simSwappedWithin(NEVER, 24),
      request.lastSimSwap(NEVER),
      request.simSwappedWithin(NEVER, 720),
    ]);

    expect(answers.map(({ kind }) => kind)).toEqual(['answered', 'answered', 'answered']);
    expect(simulator.stats().lookups).toBe(1);
  });

  test('returns unknown when its time or its signal ends', async () => {
    const { client } = await opened();
    const ask = (options: SimSwapRequestOptions) =>
      client.simSwappedWithin(SILENT_NUMBER, 24, options);
    const timeout = { kind: 'unknown', code: 'OPERATOR_TIMEOUT' };
    expect(await ask({ timeoutMs: 50 })).toMatchObject(timeout);
    expect((await ask({ signal: AbortSignal.timeout(50) })).kind).toBe('unknown');
    expect((await ask({ signal: AbortSignal.abort() })).kind).toBe('unknown');
  });

  test('a request answers nothing after its time, not even what it has learned', async () => {
    const { client, simulator } = await opened();
    const request = client.request({ timeoutMs: 2000 });
    const ask = () => request.simSwappedWithin(NEVER, 24);

    expect(await ask()).toMatchObject({ kind: 'answered', swapped: false });
    await expect.poll(ask).toMatchObject({ kind: 'unknown', code: 'OPERATOR_TIMEOUT' });
    expect((await request.lastSimSwap(NEVER)).kind).toBe('unknown');
    expect((await request.simSwapConsent(NEVER)).kind).toBe('unknown');
    expect(simulator.stats().lookups).toBe(1);
  });

  test('returns a pending consent, prompts once for one caller, and waits for waitMs', async () => {
    const { client, simulator } = await opened({ OPERATOR_FLOW: '3-legged', CONSENT_WAIT_MS: 0 });
    const caller = { issuer: 'https://id.example.com', subject: 'one' };
    const ask = (subject: string) =>
      client.simSwappedWithin(CONSENTS_LATE, 24, { caller: { ...caller, subject } });
    const pending = { kind: 'unknown', code: 'CONSENT_PENDING' };

    const [first, again, another] = [await ask('one'), await ask('one'), await ask('another')];
    expect([first, again, another]).toMatchObject([pending, pending, pending]);
    expect(first).toHaveProperty('expiresAt', expect.any(Date));
    // Another caller's consent shows only in that this one has to wait.
    expect(another).not.toHaveProperty('expiresAt');
    await expect.poll(() => simulator.stats().prompts).toBe(1);
    const consent = { kind: 'answered', state: 'PENDING' };
    const statusFor = (subject: string) =>
      client.simSwapConsent(CONSENTS_LATE, { caller: { ...caller, subject } });
    expect(await statusFor('one')).toMatchObject(consent);
    // It has met it; to others it reveals nothing, and prompts nobody.
    expect(await statusFor('another')).toEqual({ ...consent, retryAfterSeconds: 60 });
    expect(await statusFor('third')).toEqual({ kind: 'answered', state: 'NOT_ASKED' });
    expect(simulator.stats().prompts).toBe(1);

    const waited = await client.simSwappedWithin('+447700900059', 24, { waitMs: 8000 });
    expect(waited).toMatchObject({ kind: 'answered', swapped: false });
  });

  const MISSING =
    'OPERATOR_AUTH_URL is missing: the library has no built-in simulator. Set it and OPERATOR_SIM_SWAP_URL, or OPERATORS_FILE, or SIMULATOR.';
  test.each<[Settings, string]>([
    [{}, MISSING],
    [{ SIMULATOR: 'auto' }, MISSING],
    [{ SIMULATOR: 'built-in' }, MISSING],
    [{ NODE_ENV: 'production' }, MISSING],
    [{ NODE_ENV: '' }, MISSING],
    [{ OPERATOR_FLOW: '4-legged' }, 'OPERATOR_FLOW must be one of 2-legged, 3-legged'],
    [{ OPERATOR_TIMEOUTMS: 100 }, 'OPERATOR_TIMEOUTMS is not a known setting'],
    // The value of SIMULATOR may be a secret, and is not quoted.
    [{ ROUTER_SECRET: 'hunter2', SIMULATOR: 'hunter2' }, 'SIMULATOR must be'],
  ])('refuses settings %j with what is wrong', async (settings, problem) => {
    const refusal = await createSimSwapClient({ settings }).catch(String);
    expect(refusal).toMatch(/^ConfigError: /);
    expect(refusal).toContain(problem);
    expect(refusal).not.toContain('hunter2');
  });

  test('calls a simulator that runs by itself', async () => {
    const { client } = await openedWith(({ authUrl }) => ({ settings: { SIMULATOR: authUrl } }));
    expect(await client.simSwappedWithin(SWAPPED, 24)).toMatchObject({ swapped: true });
  });

  test('ignores what the environment has for another program', async () => {
    const { client } = await opened({
      LOG_LEVEL: 'debug',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4317',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_TRACES_SAMPLER: 'jaeger_remote',
      OTEL_TRACES_EXPORTER: 'console',
      ALLOWED_ORIGINS: '*',
      ALLOWED_HOSTS: 'https://app.example/',
      JWT_SECRET: 'of the other program',
      JWT_ISSUER: 'https://id.example.com',
      ROUTER_SECRET_FILE: '/nonexistent',
      NODE_ENV: 'production',
      HOST: '0.0.0.0',
      METRICS_PORT: 4000,
      QUOTA_CLIENTS: '{"risk": {"lookupsPerHour": 5}}',
    });
    expect(await client.lastSimSwap(NEVER)).toMatchObject({ kind: 'answered' });
  });

  test('refuses a purpose that is not allowed, and times that no timer takes', async () => {
    const { client } = await opened({ PURPOSES: 'fraud-prevention,login' });
    for (const request of [
      ...[0, -5, Number.NaN, Infinity, 1e12].map((timeoutMs) => ({ timeoutMs })),
      // Added to a moment, it would be written behind it: hours later.
      { timeoutMs: '5000' as never },
      ...[-5, Number.NaN].map((waitMs) => ({ waitMs })),
      { purpose: 'marketing' },
    ]) {
      await expect(client.lastSimSwap(NEVER, request)).rejects.toThrow(RangeError);
    }
    const allowed = await client.lastSimSwap(NEVER, { purpose: 'login' });
    expect(allowed.kind).toBe('answered');
  });

  test('refuses a caller without an issuer or a subject at once, and names what is missing', async () => {
    const { client, simulator } = await opened();
    const good = { issuer: 'https://id.example.com', subject: 's' };
    for (const [caller, member] of [
      [null, 'issuer'],
      [{}, 'issuer'],
      [{ ...good, issuer: '' }, 'issuer'],
      [{ issuer: good.issuer }, 'subject'],
      [{ ...good, subject: 5 }, 'subject'],
      [{ ...good, subject: '' }, 'subject'],
      [{ ...good, client: {} }, 'client'],
    ] as const) {
      const options = { caller } as SimSwapRequestOptions;
      const message = `caller.${member} must be a text that is not empty`;
      expect(() => client.request(options)).toThrow(message);
      await expect(client.lastSimSwap(NEVER, options)).rejects.toThrow(message);
    }
    expect(simulator.stats().lookups).toBe(0);
  });

  test('quotas are those of a caller', async () => {
    const { client } = await opened({ QUOTA_CLIENTS: '{"risk": {"lookupsPerHour": 1}}' });
    const caller = { issuer: 'https://id.example.com', subject: 's', client: 'risk' };
    expect((await client.lastSimSwap(NEVER, { caller })).kind).toBe('answered');
    expect(await client.lastSimSwap(SWAPPED, { caller })).toMatchObject({
      kind: 'unknown',
      code: 'RATE_LIMITED',
      quota: 'lookups',
    });
    expect((await client.lastSimSwap(SWAPPED)).kind).toBe('answered');
  });
});

test('importing the client, then the subgraph, does nothing to the process; the client loads no GraphQL and no Apollo', async () => {
  const found = await ran(
    `import { registerHooks } from 'node:module';
     const listeners = () => JSON.stringify(process.eventNames().map((name) => [String(name), process.listenerCount(name)]));
     const before = listeners();
     const read = new Set();
     const loaded = [];
     registerHooks({ resolve(name, context, next) { const found = next(name, context); loaded.push(found.url); return found; } });
     process.env = new Proxy(process.env, { get: (all, name) => { read.add(name); return all[name]; } });
     await import('./src/library/client.ts');
     const byClient = loaded.filter((url) => /node_modules\\/(?:graphql|@apollo|@graphql-tools)\\//.test(url));
     await import('./src/library/subgraph.ts');
     console.log(JSON.stringify({
       byClient,
       listens: before !== listeners(),
       isZodSetUp: globalThis.__zod_globalConfig?.jitless !== undefined,
       read: [...read].filter((name) => /^(?!NODE_|UNDICI_|WATCH_|FORCE_)/.test(name)),
     }));`,
  );
  expect(found).toEqual({ byClient: [], listens: false, isZodSetUp: false, read: [] });
});

test.each(['client', 'subgraph'])(
  'importing the %s on an older Node says what it needs, in one sentence',
  async (entry) => {
    const older = 'Object.defineProperty(process.versions, "node", { value: "20.20.2" })';
    const run = Program.node([
      `--import=data:text/javascript,${encodeURIComponent(older)}`,
      '--input-type=module',
      '--eval',
      `await import('./src/library/${entry}.ts');`,
    ]);
    expect((await run.ended).code).toBe(1);
    expect(run.err).toContain(
      'sim-swap-subgraph needs Node 24.21 or newer, or 26; this is Node 20.20.2.',
    );
    expect(run.err).not.toMatch(/^\s+at /m);
  },
);

describe('a server that sends a code (docs/adopting.md)', () => {
  const [block] = codeBlocksOf('docs/adopting.md').filter(({ text }) => text.includes('sendCode'));

  test.each([
    [{ kind: 'sent' }, NEVER],
    [{ kind: 'anotherWay' }, SWAPPED],
    [{ kind: 'anotherWay' }, UNKNOWN_NUMBER],
  ])('%j: sends an SMS only where it says so', async (told, phoneNumber) => {
    const { client: simSwaps } = await opened();
    const sent: string[] = [];
    const sendSms = (number: string) => sent.push(number);
    const source = `(${stripTypeScriptTypes(block?.text ?? '')})`;
    const sendCode = runInNewContext(source, { simSwaps, sendSms }) as (user: object) => unknown;
    expect(await sendCode({ id: 'alice', phoneNumber })).toEqual(told);
    expect(sent).toEqual(told.kind === 'sent' ? [phoneNumber] : []);
  });
});
