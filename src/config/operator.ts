import { OPERATIONS, type Operation } from '../domain/question.ts';
import { ENDPOINT_NAMES, type OperatorHeader } from '../http/wireSettings.ts';
import {
  addressesBelow,
  CIBA,
  CLIENT_CREDENTIALS,
  OPERATOR_DEFAULTS,
  type OperatorAddresses,
} from '../operator/operatorDefaults.ts';
import type { OperatorSettings } from '../operator/operatorSettings.ts';
import {
  asksOwner,
  type AssertionSettings,
  type ClientAuthenticationSettings,
  type FlowSettings,
} from '../tokens/authorizationSettings.ts';
import type { ConnectionSettings } from '../http/connections/connectionSettings.ts';
import { CONNECTION_NAMES, readConnection } from './connection.ts';
import { readPrice } from './price.ts';
import type { EnvironmentReader } from './environment.ts';
import { OWN_HEADERS } from './headers.ts';
import { isPrivateKeyFor } from './privateKey.ts';

/** Where an operator is, and as whom it knows us: what onboarding with one yields. */
export type OperatorAccess = OperatorAddresses &
  ConnectionSettings &
  Pick<OperatorSettings, 'clientId' | 'clientAuthentication' | 'signedRequest'>;

/** Everything about an operator except its addresses and credentials. */
export type OperatorProfile = Without<OperatorSettings, keyof OperatorAccess>;

/** `Omit`, of each member of a union. */
type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** The methods of client authentication that the short form has. */
type Method = Extract<ClientAuthenticationSettings['method'], 'basic' | 'private_key_jwt' | 'both'>;

/** Reads `OPERATOR_…` except the access; the defaults are those of {@link OPERATOR_DEFAULTS}. */
export function readProfile(read: EnvironmentReader): OperatorProfile {
  const flow = readFlow(read);
  const { scopes, phoneNumber, correlator, limits, ...defaults } = OPERATOR_DEFAULTS;
  return {
    ...flow,
    name: ONLY_OPERATOR,
    prefixes: ['default'],
    others: [],
    price: readPrice(read),
    keepFactsSeconds: read.integer('KEEP_FACTS_SECONDS') ?? defaults.keepFactsSeconds[flow.flow],
    operations: readOperations(read),
    scopes: {
      ...scopes,
      operations: {
        'retrieve-date': read.text('OPERATOR_SCOPE_RETRIEVE_DATE'),
        check: read.text('OPERATOR_SCOPE_CHECK'),
      },
    },
    tokens: defaults.tokens,
    phoneNumber: {
      ...phoneNumber,
      send: read.oneOf('OPERATOR_SEND_PHONE_NUMBER'),
    },
    maxAgeHours: read.integer('OPERATOR_MAX_AGE_HOURS'),
    dateMarginHours: read.integer('OPERATOR_DATE_MARGIN_HOURS'),
    trustMonitoredPeriod: read.boolean('OPERATOR_TRUST_MONITORED_PERIOD'),
    reading: defaults.reading,
    retriesLookups: read.boolean('OPERATOR_RETRY_LOOKUPS'),
    oneCallPerNumber: defaults.oneCallPerNumber,
    errors: defaults.errors,
    correlator: {
      ...correlator,
      echo: read.oneOf('OPERATOR_CORRELATOR_ECHO'),
    },
    http2: read.oneOf('OPERATOR_HTTP2'),
    tokenMismatch: read.oneOf('OPERATOR_TOKEN_MISMATCH'),
    headers: readHeaders(read),
    limits: {
      ...limits,
      timeoutMs: read.integer('OPERATOR_TIMEOUT_MS'),
    },
  };
}

/** What the operator of the short form is called. */
const ONLY_OPERATOR = 'operator';

function readFlow(read: EnvironmentReader): FlowSettings {
  const flow = read.oneOf('OPERATOR_FLOW');
  const grantType = read.text('OPERATOR_CIBA_GRANT_TYPE');
  const firstPoll = read.oneOf('OPERATOR_CIBA_FIRST_POLL');
  return asksOwner(flow)
    ? { flow: '3-legged', grant: { ...CIBA, grantType, firstPoll } }
    : { flow: '2-legged', grant: CLIENT_CREDENTIALS };
}

/** Whether anything is set that only an operator has. */
export function isAccessSet(read: EnvironmentReader): boolean {
  return ACCESS_NAMES.some((name) => read.isSet(name));
}

const ACCESS_NAMES = [
  'OPERATOR_AUTH_URL',
  'OPERATOR_SIM_SWAP_URL',
  'OPERATOR_CLIENT_ID',
  'OPERATOR_CLIENT_SECRET',
  'OPERATOR_CLIENT_SECRET_FILE',
  'OPERATOR_ASSERTION_KEY_FILE',
  'OPERATOR_ASSERTION_ALG',
  'OPERATOR_ASSERTION_KID',
  'OPERATOR_ASSERTION_AUDIENCE',
  ...CONNECTION_NAMES,
] as const;

/**
 * Reads where the operator is; `undefined` where nothing is set. A part of it set means that
 * an operator is intended: the simulator's inventions in its place would be wrong answers.
 */
export function readAccess(read: EnvironmentReader, isNeeded: boolean): OperatorAccess | undefined {
  const method = read.oneOf('OPERATOR_CLIENT_AUTH');
  const signing = read.oneOf('OPERATOR_SIGNED_REQUEST');
  const isSet = isAccessSet(read);
  if (!isSet && !isNeeded) return undefined;

  const why = isSet
    ? 'an operator has two addresses'
    : 'with NODE_ENV=production there is no built-in simulator';
  for (const name of ['OPERATOR_AUTH_URL', 'OPERATOR_SIM_SWAP_URL'] as const) {
    read.required(name, why);
  }
  return {
    ...addressesBelow(read.url('OPERATOR_AUTH_URL') ?? '', read.url('OPERATOR_SIM_SWAP_URL') ?? ''),
    clientId: read.required('OPERATOR_CLIENT_ID', 'the operator knows us by it'),
    ...readKeys(read, method, signing),
    ...readConnection(read, ['OPERATOR_AUTH_URL', 'OPERATOR_SIM_SWAP_URL']),
  };
}

/** One key serves assertions and signed requests. */
function readKeys(
  read: EnvironmentReader,
  method: Method,
  signing: 'off' | 'on' | 'strict',
): Pick<OperatorAccess, 'clientAuthentication' | 'signedRequest'> {
  if (signing === 'off') return { clientAuthentication: readClientAuthentication(read, method) };
  const assertion = readAssertion(read, `OPERATOR_SIGNED_REQUEST=${signing} needs it`);
  return {
    clientAuthentication: readClientAuthentication(read, method, assertion),
    signedRequest: { assertion, isStrict: signing === 'strict' },
  };
}

function readClientAuthentication(
  read: EnvironmentReader,
  method: Method,
  known?: AssertionSettings,
): ClientAuthenticationSettings {
  const why = `OPERATOR_CLIENT_AUTH=${method} needs it`;
  const assertion = (): AssertionSettings => known ?? readAssertion(read, why);
  const secret = (): string => read.requiredSecret('OPERATOR_CLIENT_SECRET', why);
  switch (method) {
    case 'basic':
      return { method, secret: secret() };
    case 'private_key_jwt':
      return { method, assertion: assertion() };
    case 'both':
      return { method, secret: secret(), assertion: assertion() };
  }
}

function readAssertion(read: EnvironmentReader, why: string): AssertionSettings {
  const alg = read.oneOf('OPERATOR_ASSERTION_ALG');
  const kid = read.text('OPERATOR_ASSERTION_KID');
  const privateKeyPem = read.file('OPERATOR_ASSERTION_KEY_FILE', why);
  if (privateKeyPem !== undefined && !isPrivateKeyFor(alg, privateKeyPem)) {
    read.problem(
      'OPERATOR_ASSERTION_KEY_FILE',
      `names a file that is not a private key for ${alg} in PEM`,
    );
  }
  const audience = read.required('OPERATOR_ASSERTION_AUDIENCE', why);
  return {
    privateKeyPem: privateKeyPem ?? '',
    alg,
    ...(kid === undefined ? {} : { kid }),
    lifetimeSeconds: OPERATOR_DEFAULTS.assertionLifetimeSeconds,
    audience: { token: audience, backchannelAuthentication: audience, cibaToken: audience },
  };
}

function readOperations(read: EnvironmentReader): ReadonlySet<Operation> {
  const named = read.list('OPERATOR_OPERATIONS');
  const operations = OPERATIONS.filter((operation) => named.includes(operation));
  const areAllKnown = named.every((name) => OPERATIONS.some((operation) => operation === name));
  if (!areAllKnown || operations.length === 0) {
    read.unfit('OPERATOR_OPERATIONS', 'must be retrieve-date, check, or both with a comma between');
  }
  return new Set(operations);
}

function readHeaders(read: EnvironmentReader): readonly OperatorHeader[] {
  const name = 'OPERATOR_HEADERS';
  const headers = parseJson(read.secret(name));
  if (!isHeaders(headers)) {
    read.problem(name, 'must be a JSON object whose members are header names and text values');
    return [];
  }
  for (const own of Object.keys(headers).filter((one) => OWN_HEADERS.has(one.toLowerCase()))) {
    read.problem(name, `sets ${own.toLowerCase()}, which this service sets itself`);
  }
  return Object.entries(headers).map(([header, text]) => ({
    name: header,
    value: { kind: 'fixed', text },
    endpoints: new Set(ENDPOINT_NAMES),
  }));
}

function isHeaders(value: unknown): value is Record<string, string> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(value).every(
      ([name, text]) =>
        /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) &&
        typeof text === 'string' &&
        /^[\t\x20-\x7e]*$/.test(text),
    )
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
