import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { TestIssuer } from '../caller/testIssuer.ts';
import { TemporaryFiles } from '../temporary.ts';
import { WiredOperator } from '../wiredOperator.ts';
import { ServerProcess } from './serverProcess.ts';

/** Of each body, and how many at once: longer than any may be, and the longest that names a trusted document. */
const SIZES = [
  [1024 * 1024, 20],
  [95 * 1024, 80],
] as const;
const OPERATOR_TAKES_MS = 1000;
const DOCUMENT = 'query ($n: ID!) { phoneNumber(e164: $n) { simSwappedWithin } }';
const ENTITIES =
  'query ($r: [_Any!]!) { _entities(representations: $r) { ... on PhoneNumber { simSwappedWithin } } }';

/** 3 bytes on the wire for each, and some 64 on the heap. */
const junk = (bytes: number): string => `[${'{},'.repeat(Math.floor(bytes / 3))}{}]`;

const files = new TemporaryFiles();
const documents = files.write('documents.json', JSON.stringify({ one: DOCUMENT }));
const issuer = await TestIssuer.start();
afterAll(() => issuer.close());

async function start(settings: Readonly<Record<string, string>>, heapMib = 128) {
  const operator = await WiredOperator.start({
    lookUp: (received, response) =>
      void setTimeout(() => {
        response.writeHead(200, {
          'content-type': 'application/json',
          'x-correlator': received.correlator,
        });
        response.end('{"swapped":false}');
      }, OPERATOR_TAKES_MS),
  });
  const server = await ServerProcess.start(operator.url, {
    ...issuer.settings,
    AUDIT_LOG: '/dev/null',
    AUDIT_KEY: 'a-key-of-at-least-thirty-two-characters',
    QUOTA_NUMBERS_PER_HOUR: '1000000',
    QUOTA_LOOKUPS_PER_HOUR: '1000000',
    NODE_OPTIONS: `--max-old-space-size=${heapMib}`,
    ...settings,
  });
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await operator[Symbol.asyncDispose]();
  });
  const post = async (body: string, sub = 'app'): Promise<number> => {
    const token = await issuer.token({ sub, scope: 'sim-swap:read' });
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(settings['ROUTER_SECRET'] === undefined
        ? {}
        : { 'x-router-secret': settings['ROUTER_SECRET'] }),
    };
    const request = { method: 'POST', headers, body };
    return fetch(`${server.url}/graphql`, request).then(
      async (reply) => (await reply.arrayBuffer(), reply.status),
      () => 0,
    );
  };
  return { server, post };
}

/** A number that no other request is about. */
const number = (index: number): string => `+4477${10_000_000 + index}`;

const KINDS: readonly (readonly [
  kind: string,
  settings: Readonly<Record<string, string>>,
  bodyOf: (index: number, bytes: number) => string,
])[] = [
  [
    'undeclared variables',
    { TRUSTED_DOCUMENTS: documents },
    (index, bytes) =>
      `{"documentId":"one","variables":{"n":"${number(index)}","x":${junk(bytes)}}}`,
  ],
  [
    'unknown members of the body',
    {},
    (index, bytes) =>
      `{"query":"${DOCUMENT}","variables":{"n":"${number(index)}"},"x":${junk(bytes)}}`,
  ],
  [
    'extensions',
    {},
    (index, bytes) =>
      `{"query":"${DOCUMENT}","variables":{"n":"${number(index)}"},"extensions":{"x":${junk(bytes)}}}`,
  ],
  [
    'a representation',
    { ROLE: 'subgraph', ROUTER_SECRET: 'a-router-secret-of-thirty-two-characters' },
    (index, bytes) =>
      `{"query":"${ENTITIES}","variables":{"r":[{"__typename":"PhoneNumber","e164":"${number(index)}","x":${junk(bytes)}}]}}`,
  ],
];

describe('junk of little on the wire and much on the heap ends no process', () => {
  it.each(KINDS)('in %s', async (_kind, settings, bodyOf) => {
    const { server, post } = await start(settings);
    for (const [bytes, requests] of SIZES) {
      const sent = Array.from({ length: requests }, (_, index) => post(bodyOf(index, bytes)));
      const statuses = new Set(await Promise.all(sent));
      expect([...statuses].filter((status) => ![200, 413, 503].includes(status))).toEqual([]);
      expect(await post(bodyOf(100_000, 10), 'other')).toBe(200);
    }
    expect(server.err).toBe('');
  });
});
