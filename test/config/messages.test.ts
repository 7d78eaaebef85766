import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { ConfigError, type Environment } from '../../src/config/environment.ts';
import { VARIABLE_NAMES } from '../../src/config/settings.ts';
import { JWT, OPERATOR } from './problems.ts';

/*
 * messages.txt has what is said about wrong settings, one case after the other. Where a message has changed, the line with
 * a minus is what it was, and that with a plus below it what it is: none says less than before. A problem between members, or
 * with another operator, is reported once an entry's own problems are fixed.
 */

const WRONG = `no|0.5|x y|,|/nowhere|http://plain.example|https://u:p@a.example`;

const ENTRY = {
  name: 'alpha',
  formerly: ['former'],
  profile: 'vodafone',
  prefixes: ['+44', 'default'],
  others: [],
  flow: '3-legged',
  authUrl: 'https://auth.example',
  simSwapUrl: 'https://api.example/sim-swap/v2',
  client: { id: 'client', secret: { variable: 'SECRET' }, method: 'basic' },
  purposes: ['dpv:FraudPreventionAndDetection'],
  operations: ['check'],
  scopes: { check: 'sim-swap' },
  tokens: { use: 'per-number', dpop: true },
  maxAgeHours: 240,
  dateMarginHours: 24,
  trustMonitoredPeriod: true,
  echo: 'auto',
  oneCallPerNumber: true,
  keepFactsSeconds: 60,
  limits: { timeoutMs: 1000, connections: 8, requestsPerSecond: 20 },
  price: { currency: 'EUR', check: '0.02' },
  tls: { serverName: 'a.example' },
  proxy: { url: 'http://proxy:3128', credentials: { variable: 'SECRET' } },
  headers: { 'x-partner': 'Acme', 'x-key': { variable: 'SECRET' } },
  options: {},
};
const DIRECTORY = {
  url: 'https://numbers.example',
  headers: { 'x-key': { variable: 'SECRET' } },
  timeoutMs: 1000,
  keepSeconds: 60,
  fallback: 'none',
};
const BETA = { ...ENTRY, name: 'beta', formerly: [], prefixes: ['+33'] };

const WRONG_MEMBERS: readonly unknown[] = [undefined, null, 7, 'x y', '', [], ['x y'], { a: 1 }];

type Case = readonly [name: string, environment: Environment, handedIn?: object];

function* cases(): Generator<Case> {
  for (const name of VARIABLE_NAMES) {
    // Any other host is exposed: below.
    if (name === 'HOST') continue;
    for (const value of WRONG.split('|')) yield [`${name}=${value}`, { [name]: value }];
  }
  const exposed = { HOST: '0.0.0.0', ROLE: 'subgraph' };
  yield ['exposed', exposed];
  yield ['production', { NODE_ENV: 'production' }];
  yield ['everything', Object.fromEntries([...VARIABLE_NAMES].map((name) => [name, 'x y']))];
  yield ['exposed, with an operator', { ...exposed, ...OPERATOR, ...JWT, AUDIT_KEY: 'short' }];
  for (const [path, members] of variants(ENTRY, '')) {
    yield [`entry: ${path}`, { SECRET: 's3cret' }, { operators: [members, BETA] }];
  }
  for (const [path, directory] of variants(DIRECTORY, '')) {
    yield [`directory: ${path}`, { SECRET: 's3cret' }, { directory, operators: [ENTRY] }];
  }
  for (const members of TOGETHER) {
    const operators = [ENTRY, { ...BETA, ...members }];
    yield [`both: ${JSON.stringify(members)}`, { SECRET: 's3cret' }, { operators }];
  }
}

const TOGETHER: readonly object[] = [
  { name: 'alpha' },
  { prefixes: ['+44'] },
  { formerly: ['alpha'] },
  { others: ['beta'] },
  { others: ['alhpa'] },
  { price: { currency: 'GBP' } },
  { profile: 'kpn' },
  { profile: 'kpn', flow: undefined, operations: ['check'] },
  { profile: 'nokia', flow: undefined },
  { profile: 'aggregator-in', flow: undefined },
  { profile: 'twilio-lookup', flow: undefined, tls: { key: { variable: 'SECRET' } } },
  { flow: undefined, discovery: { issuer: 'https://auth.example' } },
  { authUrl: undefined },
  { simSwapUrl: 'http://127.0.0.1:1', client: { id: 'c' } },
  {
    client: { id: 'c', method: 'tls' },
    headers: { 'x-key': 'a', 'X-Key': 'b', Authorization: 'c' },
  },
  { client: { id: 'c', key: { variable: 'SECRET' } }, tokens: { use: 'any-number' } },
  { proxy: { url: 'http://proxy', ca: { variable: 'SECRET' } }, options: { realm: 'x' } },
  { client: { id: 'c', secret: { variable: 'NONE' } }, headrs: {} },
];

/** The entry with each of its members replaced by wrong values, one at a time. */
function* variants(value: object, path: string): Generator<readonly [string, object]> {
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    const at = `${path}${name}`;
    for (const wrong of WRONG_MEMBERS)
      yield [`${at} = ${JSON.stringify(wrong)}`, { ...value, [name]: wrong }];
    if (typeof member === 'object' && member !== null && !Array.isArray(member)) {
      for (const [where, inner] of variants(member, `${at}.`))
        yield [where, { ...value, [name]: inner }];
    }
  }
}

function messagesOf([, environment, handedIn]: Case): readonly string[] {
  try {
    readConfig(environment, handedIn);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

test('what is said about each wrong setting says no less than before', () => {
  const text = readFileSync(new URL('messages.txt', import.meta.url), 'utf8');
  const now = text.replaceAll(/^- .*\n/gm, '').replaceAll(/^\+/gm, ' ');
  const found = Array.from(cases(), (one) =>
    [one[0], ...messagesOf(one).map((message) => `  ${message}`)].join('\n'),
  ).join('\n');
  expect(`${found}\n`).toBe(now);
});
