import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimsAt, createKey, sign, TestIssuer } from '../caller/testIssuer.ts';
import { IS_LONG } from '../support/forms.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { WiredOperator } from '../support/wiredOperator.ts';
import { ServerProcess } from './serverProcess.ts';

const LIST = 100;
const ROUTER_SECRET = 'a-router-secret-of-thirty-two-characters';

/** The longest body and the most values in one, with 100 numbers an operation (src/config/loadLimits.ts). */
const MAX_BODY_BYTES = 366_240;
const MAX_BODY_VALUES = 3512;
const DOCUMENT = 'query ($n: ID!) { phoneNumber(e164: $n) { simSwappedWithin } }';
const ENTITIES =
  'query ($r: [_Any!]!) { _entities(representations: $r) { ... on PhoneNumber { simSwappedWithin } } }';

type Settings = Readonly<Record<string, string>>;

const files = new TemporaryFiles();
const issuer = await TestIssuer.start();
afterAll(() => issuer.close());

/** A process with a heap of 64 MiB, which has room for 1,024 numbers at work and 682 requests. */
async function start(settings: Settings = {}) {
  const operator = await WiredOperator.start();
  const server = await ServerProcess.start(operator.url, {
    ...issuer.settings,
    AUDIT_LOG: '/dev/null',
    AUDIT_KEY: 'a-key-of-at-least-thirty-two-characters',
    QUOTA_NUMBERS_PER_HOUR: '1000000',
    QUOTA_LOOKUPS_PER_HOUR: '1000000',
    NODE_OPTIONS: '--max-old-space-size=64',
    // What is late on an idle machine is measured by `npm run long -- crowds`.
    REQUEST_TIMEOUT_MS: '60000',
    OPERATOR_TIMEOUT_MS: '60000',
    ...settings,
  });
  const headersOf = async (sub: string): Promise<Record<string, string>> => ({
    authorization: `Bearer ${await issuer.token({ sub, scope: 'sim-swap:read' })}`,
    'content-type': 'application/json',
    ...('ROLE' in settings ? { 'x-router-secret': ROUTER_SECRET } : {}),
  });
  /** Resolves to the status, once the reply is read; to 0 where the connection was lost. */
  const post = async (body: string, sub = 'risk'): Promise<number> => {
    const request = { method: 'POST', headers: await headersOf(sub), body };
    return fetch(`${server.url}/graphql`, request).then(
      async (reply) => (await reply.arrayBuffer(), reply.status),
      () => 0,
    );
  };
  /** Queries a list of numbers, none of which is in another list. */
  const ask = async (sub: string, list: number, size = LIST) => {
    const e164s = Array.from({ length: size }, (_, n) => number(list * LIST + n));
    const query = 'query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { simSwappedWithin } }';
    const { status, errors } = await server.ask(query, { e164s }, await headersOf(sub));
    return { status, errors: errors.map(({ extensions }) => extensions) };
  };
  /** Until its result is called, lookups wait at the operator. */
  const holdLookups = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    operator.script = {
      lookUp: ({ correlator }, response) => {
        const headers = { 'content-type': 'application/json', 'x-correlator': correlator };
        void promise.then(() => response.writeHead(200, headers).end('{"swapped":false}'));
      },
    };
    return () => resolve(undefined);
  };
  const stop = async (): Promise<void> => {
    await server[Symbol.asyncDispose]();
    await operator[Symbol.asyncDispose]();
  };
  return { server, post, ask, headersOf, holdLookups, stop };
}

function isLate(reply: string): boolean {
  return reply.startsWith('HTTP/1.1 408 ');
}

function number(index: number): string {
  return `+4477${10_000_000 + index}`;
}

/** 3 bytes on the wire for each value, and some 64 on the heap. */
function junk(bytes: number): string {
  return `[${'{},'.repeat(bytes / 3 - 1)}{}]`;
}

const IN_BODY = (n: string, x: string): string =>
  `{"query":"${DOCUMENT}","variables":{"n":"${n}"},"x":${x}}`;

/** Where junk may be. The values of a body are counted before it is known what they are. */
const KINDS: readonly (readonly [
  kind: string,
  settings: Settings,
  bodyOf: (n: string, x: string) => string,
])[] = [
  [
    'undeclared variables',
    { TRUSTED_DOCUMENTS: files.write('documents.json', JSON.stringify({ one: DOCUMENT })) },
    (n, x) => `{"documentId":"one","variables":{"n":"${n}","x":${x}}}`,
  ],
  [
    'extensions',
    {},
    (n, x) => `{"query":"${DOCUMENT}","variables":{"n":"${n}"},"extensions":{"x":${x}}}`,
  ],
  [
    'a representation',
    { ROLE: 'subgraph', ROUTER_SECRET },
    (n, x) =>
      `{"query":"${ENTITIES}","variables":{"r":[{"__typename":"PhoneNumber","e164":"${n}","x":${x}}]}}`,
  ],
];

type Started = Awaited<ReturnType<typeof start>>;

/** Nothing of the longest bodies is parsed; of those with the most values, what is not read is dropped. */
async function expectAlive({ server, post }: Started, bodyOf = IN_BODY): Promise<void> {
  const sendAll = (count: number, x: string): Promise<number[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => post(bodyOf(number(index), x))));
  const refused = new Set(await sendAll(60, junk(MAX_BODY_BYTES - 300)));
  expect([...refused].filter((status) => status !== 413 && status !== 503)).toEqual([]);
  const most = new Set(await sendAll(150, junk(1.5 * (MAX_BODY_VALUES - 20))));
  expect([...most].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(most).toContain(200);
  expect(await post(bodyOf(number(100_000), '[]'), 'other')).toBe(200);
  expect(server.err).toBe('');
}

let shared: Started;
beforeAll(async () => void (shared = await start()));
afterAll(() => shared.stop());

describe('junk of little on the wire and much on the heap ends no process', () => {
  it('in unknown members of the body', () => expectAlive(shared));

  it.runIf(IS_LONG).each(KINDS)('in %s', async (_kind, settings, bodyOf) => {
    const started = await start(settings);
    try {
      await expectAlive(started, bodyOf);
    } finally {
      await started.stop();
    }
  });
});

describe('more numbers than may be at work', () => {
  it('do not end a process, and each request is answered', async () => {
    const { server, ask, holdLookups } = shared;
    const release = holdLookups();
    const lists = Array.from({ length: 14 }, (_, list) => ask('risk', list));
    // One of which all numbers are beyond the bound.
    await Promise.race(lists);
    release();
    const replies = await Promise.all(lists);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    const told = replies
      .flatMap(({ errors }) => errors)
      .filter((extensions) => extensions?.code === 'UNAVAILABLE')
      .map((extensions) => Number(extensions?.retryAfterSeconds));
    expect(told).not.toEqual([]);
    // By the pace of those at work, of which none takes longer than its request may.
    expect(told.filter((s) => !Number.isInteger(s) || s < 1 || s > 60)).toEqual([]);
    expect(server.logged('A request did not end in time.')).toEqual([]);
    expect((await ask('app', 1000, 1)).status).toBe(200);
  });
});

describe('more requests than may be under way', () => {
  it('are refused before their bodies are read, and are served once there is room', async () => {
    const { server, ask, headersOf } = shared;
    const { authorization = '' } = await headersOf('risk');
    const sockets: Socket[] = [];
    const replies: string[] = [];
    const { port } = new URL(server.url);
    // A caller gets three quarters of the room for 682. On a busy machine it takes more: a body has five seconds.
    for (let n = 0; n < 3000 && replies.every(isLate); n += 1) {
      const socket = connect(Number(port), '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (text: Buffer) => replies.push(text.toString()));
      socket.write(
        `POST /graphql HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n` +
          'content-type: application/json\r\ncontent-length: 20\r\n\r\n',
      );
      if (n % 20 === 0) await once(socket, 'connect');
    }
    expect((await ask('app', 0, 1)).status).toBe(200);
    const refused = replies.filter((reply) => !isLate(reply));
    expect(refused).not.toEqual([]);
    for (const reply of refused) {
      expect(reply).toMatch(/^HTTP\/1\.1 503 .*\r\n/);
      expect(reply).toMatch(/\r\nretry-after: 1\r\n/i);
      expect(reply).toContain('"UNAVAILABLE"');
    }
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await ask('risk', 0, 1)).status).toBe(200);
  });
});

describe('tokens that name keys which the issuer does not have, while it is slow', () => {
  it('take no places of callers whose keys are known', async () => {
    const { server, ask } = shared;
    expect((await ask('app', 0, 1)).status).toBe(200);
    // Keys that are a second old are fetched again.
    await pause(1000);
    const { promise: held, resolve: answer } = Promise.withResolvers<void>();
    issuer.held = held;
    const forger = await createKey('ES256');
    const statuses: number[] = [];
    // Of 909 places an eighth is for callers that are not known yet.
    const forged = Array.from({ length: 300 }, async (_, n) => {
      const token = await sign(forger, claimsAt(Date.now()), { kid: `forged ${n}` });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const reply = await fetch(`${server.url}/graphql`, { method: 'POST', headers, body: '{}' });
      statuses.push(reply.status);
    });
    await expect.poll(() => statuses.length).toBeGreaterThan(150);
    expect(new Set(statuses)).toEqual(new Set([503]));
    expect((await ask('app', 0, 1)).status).toBe(200);
    answer();
    await Promise.all(forged);
    expect(new Set(statuses)).toEqual(new Set([401, 503]));
  });
});
