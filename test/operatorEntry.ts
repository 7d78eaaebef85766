import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Environment } from '../src/config/environment.ts';
import { temporaryFolder } from './temporary.ts';

/** Where a short name leads: to a member of the entry, or to one of its profile. */
type Place = readonly [
  of: 'entry' | 'profile',
  path: readonly string[],
  as?: (text: string) => unknown,
];

const toList = (text: string): readonly string[] => text.split(',');
const toFile = (text: string): object => ({ file: resolve(text) });
const toBoolean = (text: string): boolean => text === 'true';
const TOKEN_GRANT = ['grants', '3-legged'];
const ASSERTION = ['authentication', 'assertion'];

/**
 * Short names of tests for what one operator's entry or profile says. Those of the short form (docs/settings.md) go to the
 * entry as well, where one of these stands beside them.
 */
const PLACES: Readonly<Record<string, Place>> = {
  OPERATOR_AUTH_URL: ['entry', ['authUrl']],
  OPERATOR_SIM_SWAP_URL: ['entry', ['simSwapUrl']],
  OPERATOR_FLOW: ['entry', ['flow']],
  OPERATOR_CLIENT_ID: ['entry', ['client', 'id']],
  OPERATOR_CLIENT_SECRET: ['entry', ['client', 'secret'], () => ({ variable: 'ENTRY_SECRET' })],
  OPERATOR_CLIENT_SECRET_FILE: ['entry', ['client', 'secret'], toFile],
  OPERATOR_ASSERTION_KEY_FILE: ['entry', ['client', 'key'], toFile],
  OPERATOR_TIMEOUT_MS: ['entry', ['limits', 'timeoutMs'], Number],
  OPERATOR_CLIENT_AUTH: ['entry', ['client', 'method']],
  OPERATOR_ASSERTION_KID: ['entry', ['client', 'kid']],
  OPERATOR_TLS_CERTIFICATE_FILE: ['entry', ['tls', 'certificate'], toFile],
  OPERATOR_TLS_KEY_FILE: ['entry', ['tls', 'key'], toFile],
  OPERATOR_TLS_CA_FILE: ['entry', ['tls', 'ca'], toFile],
  OPERATOR_TLS_SERVER_NAME: ['entry', ['tls', 'serverName']],
  OPERATOR_PROXY_URL: ['entry', ['proxy', 'url']],
  OPERATOR_PROXY_CREDENTIALS: [
    'entry',
    ['proxy', 'credentials'],
    () => ({ variable: 'ENTRY_PROXY_CREDENTIALS' }),
  ],
  OPERATOR_PROXY_CREDENTIALS_FILE: ['entry', ['proxy', 'credentials'], toFile],
  OPERATOR_OPERATIONS: ['entry', ['operations'], toList],
  OPERATOR_SCOPE_RETRIEVE_DATE: ['entry', ['scopes', 'retrieve-date']],
  OPERATOR_SCOPE_CHECK: ['entry', ['scopes', 'check']],
  OPERATOR_MAX_AGE_HOURS: ['entry', ['maxAgeHours'], Number],
  OPERATOR_DATE_MARGIN_HOURS: ['entry', ['dateMarginHours'], Number],
  OPERATOR_TRUST_MONITORED_PERIOD: ['entry', ['trustMonitoredPeriod'], toBoolean],
  OPERATOR_CORRELATOR_ECHO: ['entry', ['echo']],
  OPERATOR_HEADERS: ['entry', ['headers'], headersOf],
  OPERATOR_API_KEY_FILE: ['entry', ['headers', 'x-api-key'], toFile],
  OPERATOR_PRICE_CHECK: ['entry', ['price', 'check']],
  OPERATOR_PRICE_RETRIEVE_DATE: ['entry', ['price', 'retrieve-date']],
  OPERATOR_PRICE_CURRENCY: ['entry', ['price', 'currency']],
  OPERATOR_ASSERTION_ALG: ['profile', [...ASSERTION, 'algs'], (alg) => [alg]],
  OPERATOR_ASSERTION_AUDIENCE: ['profile', [...ASSERTION, 'audience']],
  OPERATOR_SIGNED_REQUEST: ['profile', ['authentication', 'signedRequest']],
  OPERATOR_SEND_PHONE_NUMBER: ['profile', ['sendPhoneNumber']],
  OPERATOR_CIBA_GRANT_TYPE: ['profile', [...TOKEN_GRANT, 'grantType']],
  OPERATOR_CIBA_FIRST_POLL: ['profile', [...TOKEN_GRANT, 'firstPoll']],
  OPERATOR_HTTP2: ['profile', ['http2']],
  OPERATOR_TOKEN_MISMATCH: ['profile', ['tokenMismatch']],
  OPERATOR_RETRY_LOOKUPS: ['profile', ['retryLookups'], toBoolean],
};

/** What the short form has itself. */
const SHORT_FORM =
  /^OPERATOR_(?:PROFILE|AUTH_URL|SIM_SWAP_URL|FLOW|CLIENT_ID|CLIENT_SECRET(?:_FILE)?|ASSERTION_KEY_FILE|TIMEOUT_MS)$/;

/** A header may be a secret, which does not stand in the file. */
function headersOf(text: string): object {
  const named = JSON.parse(text) as Record<string, string>;
  return Object.fromEntries(
    Object.keys(named).map((name, index) => [name, { variable: `ENTRY_HEADER_${index}` }]),
  );
}

/**
 * The settings of a test with a file of one operator in the place of its names, where one of them is not of the short
 * form; otherwise as they are.
 */
export function withEntry(environment: Environment): Record<string, string> {
  const names = Object.keys(environment).filter(
    (name) => isOfEntry(name) && (environment[name] ?? '') !== '',
  );
  if (names.every((name) => SHORT_FORM.test(name))) return set(environment);
  const made = { entry: {}, profile: {} };
  for (const name of names) {
    const [of, path, as = (text: string) => text] = PLACES[name] ?? ['entry', []];
    put(made[of], path, as(environment[name] ?? ''));
  }
  const folder = temporaryFolder();
  const hasProfile = Object.keys(made.profile).length > 0;
  const entry = {
    name: 'operator',
    prefixes: ['default'],
    flow: '2-legged',
    ...(hasProfile ? { profile: './own.mjs' } : {}),
    ...made.entry,
  };
  writeFileSync(join(folder, 'operators.json'), JSON.stringify({ operators: [entry] }));
  writeFileSync(join(folder, 'own.mjs'), ownProfile(made.profile));
  const headers = JSON.parse(environment['OPERATOR_HEADERS'] ?? '{}') as Record<string, string>;
  return set({
    ...Object.fromEntries(Object.entries(environment).filter(([name]) => !isOfEntry(name))),
    OPERATORS_FILE: join(folder, 'operators.json'),
    ENTRY_SECRET: environment['OPERATOR_CLIENT_SECRET'],
    ENTRY_PROXY_CREDENTIALS: environment['OPERATOR_PROXY_CREDENTIALS'],
    ...Object.fromEntries(
      Object.values(headers).map((value, index) => [`ENTRY_HEADER_${index}`, value]),
    ),
  });
}

function set(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );
}

function put(into: object, [name = '', ...further]: readonly string[], value: unknown): void {
  if (further.length === 0) {
    Reflect.set(into, name, value);
    return;
  }
  const member = (Reflect.get(into, name) ?? {}) as object;
  Reflect.set(into, name, member);
  put(member, further, value);
}

/** The default profile, with some of its members changed; `null` takes one out. */
export function ownProfile(changes: object): string {
  const vodafone = new URL('../profiles/vodafone.ts', import.meta.url).href;
  return `import vodafone from ${JSON.stringify(vodafone)};
const changes = ${JSON.stringify(changes)};
const merge = (value, change) =>
  typeof change !== 'object' || change === null || Array.isArray(change)
    ? change
    : Object.entries(change).reduce(
        (merged, [name, one]) => {
          const { [name]: _, ...others } = merged;
          return one === null ? others : { ...others, [name]: merge(value[name], one) };
        },
        value,
      );
export default (camara) => merge(vodafone(camara), changes);
`;
}

function isOfEntry(name: string): boolean {
  return name in PLACES;
}
