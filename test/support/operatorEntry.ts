import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Environment } from '../../src/config/environment.ts';
import { temporaryFolder } from './temporary.ts';

/** The short form of docs/settings.md. */
const SHORT_FORM = {
  OPERATOR_PROFILE: 'entry.profile',
  OPERATOR_AUTH_URL: 'entry.authUrl',
  OPERATOR_SIM_SWAP_URL: 'entry.simSwapUrl',
  OPERATOR_FLOW: 'entry.flow',
  OPERATOR_CLIENT_ID: 'entry.client.id',
  OPERATOR_CLIENT_SECRET: 'entry.client.secret',
  OPERATOR_CLIENT_SECRET_FILE: 'entry.client.secret',
  OPERATOR_ASSERTION_KEY_FILE: 'entry.client.key',
  OPERATOR_TIMEOUT_MS: 'entry.limits.timeoutMs',
};

/**
 * Names that tests use for members of an operator's entry or profile. Those of the short form become members of the entry
 * where one of the others is set too.
 */
const PLACES: Readonly<Record<string, string>> = {
  ...SHORT_FORM,
  OPERATOR_CLIENT_AUTH: 'entry.client.method',
  OPERATOR_TLS_CERTIFICATE_FILE: 'entry.tls.certificate',
  OPERATOR_TLS_KEY_FILE: 'entry.tls.key',
  OPERATOR_TLS_CA_FILE: 'entry.tls.ca',
  OPERATOR_TLS_SERVER_NAME: 'entry.tls.serverName',
  OPERATOR_PROXY_URL: 'entry.proxy.url',
  OPERATOR_PROXY_CREDENTIALS: 'entry.proxy.credentials',
  OPERATOR_PROXY_CREDENTIALS_FILE: 'entry.proxy.credentials',
  OPERATOR_OPERATIONS: 'entry.operations',
  OPERATOR_SCOPE_CHECK: 'entry.scopes.check',
  OPERATOR_MAX_AGE_HOURS: 'entry.maxAgeHours',
  OPERATOR_DATE_MARGIN_HOURS: 'entry.dateMarginHours',
  OPERATOR_CORRELATOR_ECHO: 'entry.echo',
  OPERATOR_HEADERS: 'entry.headers',
  OPERATOR_PRICE_CHECK: 'entry.price.check',
  OPERATOR_PRICE_CURRENCY: 'entry.price.currency',
  OPERATOR_ASSERTION_AUDIENCE: 'profile.authentication.assertion.audience',
  OPERATOR_SIGNED_REQUEST: 'profile.authentication.signedRequest',
  OPERATOR_SEND_PHONE_NUMBER: 'profile.sendPhoneNumber',
  OPERATOR_CIBA_GRANT_TYPE: 'profile.grants.3-legged.grantType',
  OPERATOR_CIBA_FIRST_POLL: 'profile.grants.3-legged.firstPoll',
  OPERATOR_HTTP2: 'profile.http2',
  OPERATOR_TOKEN_MISMATCH: 'profile.tokenMismatch',
  OPERATOR_RETRY_LOOKUPS: 'profile.retryLookups',
};

/** Variables that the entry points to: the file holds no secret. */
const SECRETS = ['OPERATOR_CLIENT_SECRET', 'OPERATOR_PROXY_CREDENTIALS'];

/** The settings of a test. If one of the names is not of the short form, a file of one operator replaces them all. */
export function withEntry(environment: Environment): Record<string, string> {
  const all = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const ofEntry = all.filter(([name, value]) => name in PLACES && value !== '');
  if (ofEntry.every(([name]) => name in SHORT_FORM)) return Object.fromEntries(all);
  const variables: Record<string, string> = {};
  const pointedTo = (name: string, value: string): object => {
    variables[`ENTRY_${name}`] = value;
    return { variable: `ENTRY_${name}` };
  };
  const valueOf = (name: string, text: string): unknown => {
    if (name.endsWith('_FILE')) return { file: resolve(text) };
    if (SECRETS.includes(name)) return pointedTo(name, text);
    if (name === 'OPERATOR_OPERATIONS') return text.split(',');
    if (name !== 'OPERATOR_HEADERS')
      return /^(?:\d+|true|false)$/.test(text) ? JSON.parse(text) : text;
    const headers = Object.entries(JSON.parse(text) as Record<string, string>);
    return Object.fromEntries(
      headers.map(([header, value], index) => [header, pointedTo(`HEADER_${index}`, value)]),
    );
  };
  const made = {
    entry: { name: 'operator', prefixes: ['default'], flow: '2-legged' },
    profile: {},
  };
  for (const [name, text] of ofEntry)
    put(made, PLACES[name]?.split('.') ?? [], valueOf(name, text));
  const folder = temporaryFolder();
  const own = Object.keys(made.profile).length > 0 ? { profile: './own.mjs' } : {};
  const OPERATORS_FILE = join(folder, 'operators.json');
  writeFileSync(OPERATORS_FILE, JSON.stringify({ operators: [{ ...made.entry, ...own }] }));
  writeFileSync(join(folder, 'own.mjs'), ownProfile(made.profile));
  const others = all.filter(([name]) => !(name in PLACES));
  return { ...Object.fromEntries(others), ...variables, OPERATORS_FILE };
}

function put(into: object, [name = '', ...further]: readonly string[], value: unknown): void {
  const member = (Reflect.get(into, name) ?? {}) as object;
  Reflect.set(into, name, further.length === 0 ? value : member);
  if (further.length > 0) put(member, further, value);
}

/** The default profile with changed members; `null` removes one. */
export function ownProfile(changes: object): string {
  const vodafone = new URL('../../profiles/vodafone.ts', import.meta.url).href;
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
