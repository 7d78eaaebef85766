import { isNumberPrefix } from '../domain/numberPrefix.ts';
import { parseAmount, type Price } from '../domain/price.ts';
import type { FailureReach } from '../domain/errors.ts';
import type {
  ConnectionSettings,
  ProxySettings,
  TextSource,
  TlsSettings,
} from '../http/connections/connectionSettings.ts';
import type { ErrorRule, MappedCode } from '../http/errorMap.ts';
import type { HeaderValue, OperatorHeader } from '../http/wireSettings.ts';
import {
  addressesBelow,
  CIBA,
  CLIENT_CREDENTIALS,
  OPERATOR_DEFAULTS,
} from '../operator/operatorDefaults.ts';
import type {
  LookupSettings,
  NumberDirectorySettings,
  OperatorSettings,
} from '../operator/operatorSettings.ts';
import type {
  AssertionSettings,
  AuthorizationSource,
  ClientAuthenticationSettings,
  FlowSettings,
  SignedRequestSettings,
} from '../tokens/authorizationSettings.ts';
import { withoutLastSlash } from '../http/address.ts';
import type {
  ClientEntry,
  OperatorEntry,
  OperatorsFile,
  ProxyEntry,
  SecretEntry,
  TextEntry,
  TlsEntry,
} from './definition.ts';
import { egressTo, type Egress } from './egress.ts';
import { readTemplate } from './template.ts';

/** Reads the secret that an entry of the file points to. */
export type ReadSecret = (secret: SecretEntry) => string;

/** Where the text is that an entry of the file points to. */
export type LocateText = (entry: SecretEntry) => TextSource;

/** What the file points to. */
export interface PointedTo {
  readonly secretOf: ReadSecret;
  readonly sourceOf: LocateText;
}

/** What the file leaves to settings of the process. */
export interface ForAllOperators {
  /** Of operators that do not say it themselves. */
  readonly keepFactsSeconds: number | undefined;
  readonly egress: Egress;
}

/** One operator as the file has it, with nothing left to be looked up. */
export function settingsOf(
  entry: OperatorEntry,
  { secretOf, sourceOf }: PointedTo,
  { keepFactsSeconds, egress }: ForAllOperators,
): OperatorSettings {
  const { name, others, client, scopes } = entry;
  return {
    name,
    prefixes: entry.prefixes.filter((prefix) => isNumberPrefix(prefix)),
    others,
    price: entry.price === undefined ? undefined : priceOf(entry.price),
    keepFactsSeconds:
      entry.keepFactsSeconds ?? keepFactsSeconds ?? OPERATOR_DEFAULTS.keepFactsSeconds[entry.flow],
    ...flowOf(entry, secretOf),
    authorization: authorizationOf(entry, egress),
    clientId: client.id,
    clientAuthentication: authenticationOf(client, secretOf),
    ...signedRequestOf(client, secretOf),
    scopes: {
      operations: { 'retrieve-date': scopes['retrieve-date'], check: scopes.check },
      openid: scopes.openid,
      ...(scopes.purpose === undefined ? {} : { purpose: scopes.purpose }),
      joinedBy: scopes.joinedBy,
    },
    tokens: entry.tokens,
    ...lookupSettingsOf(entry, secretOf),
    ...connectionOf(entry, sourceOf),
  };
}

/** The company's number directory, as the file has it. */
export function directoryOf(
  directory: NonNullable<OperatorsFile['directory']>,
  { secretOf }: PointedTo,
  egress: Egress,
): NumberDirectorySettings {
  const { url, headers, ...others } = directory;
  return {
    ...others,
    url: withoutLastSlash(url),
    headers: textsOf(headers, secretOf),
    ...egressTo(egress, url),
  };
}

function connectionOf(
  { tls, proxy }: Pick<OperatorEntry, 'tls' | 'proxy'>,
  sourceOf: LocateText,
): ConnectionSettings {
  return {
    ...(tls === undefined ? {} : { tls: tlsOf(tls, sourceOf) }),
    ...(proxy === undefined ? {} : { proxy: proxyOf(proxy, sourceOf) }),
  };
}

function tlsOf(
  { certificate, key, passphrase, ca, serverName }: TlsEntry,
  sourceOf: LocateText,
): TlsSettings {
  return {
    ...(certificate === undefined ? {} : { certificate: sourceOf(certificate) }),
    ...(key === undefined ? {} : { key: sourceOf(key) }),
    ...(passphrase === undefined ? {} : { passphrase: sourceOf(passphrase) }),
    ...(ca === undefined ? {} : { ca: sourceOf(ca) }),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

function proxyOf({ url, credentials, ca }: ProxyEntry, sourceOf: LocateText): ProxySettings {
  return {
    url,
    ...(credentials === undefined ? {} : { credentials: sourceOf(credentials) }),
    ...(ca === undefined ? {} : { ca: sourceOf(ca) }),
  };
}

/** What an operator bills, as the file has it. */
export function priceOf({
  currency,
  check,
  'retrieve-date': retrieveDate,
}: NonNullable<OperatorEntry['price']>): Price {
  return {
    currency,
    microsPerLookup: {
      'retrieve-date': parseAmount(retrieveDate) ?? 0,
      check: parseAmount(check) ?? 0,
    },
  };
}

function flowOf({ flow, grant, client }: OperatorEntry, secretOf: ReadSecret): FlowSettings {
  switch (grant?.type) {
    case undefined:
      return flow === '3-legged'
        ? { flow, grant: CIBA }
        : { flow: '2-legged', grant: CLIENT_CREDENTIALS };
    case 'client_credentials': {
      const { type, username, inQuery } = grant;
      const named = username === null ? {} : { username: readTemplate(username) };
      return { flow: '2-legged', grant: { type, ...named, inQuery } };
    }
    case 'jwt-bearer': {
      const { type, subject } = grant;
      const assertion = assertionOf(client.assertion, secretOf);
      return { flow: '2-legged', grant: { type, assertion, subject: readTemplate(subject) } };
    }
    case 'ciba': {
      const loginHint = readTemplate(grant.loginHint);
      return { flow: '3-legged', grant: { ...grant, loginHint } };
    }
  }
}

function authorizationOf(
  { authUrl, discovery, simSwapUrl, paths }: OperatorEntry,
  egress: Egress,
): AuthorizationSource {
  if (discovery === undefined) {
    return addressesBelow(withoutLastSlash(authUrl ?? ''), simSwapUrl, paths).authorization;
  }
  const { issuer, hosts } = discovery;
  // OpenID Connect Discovery 1.0 §4.1.
  const ofIssuer = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { documentUrl = ofIssuer } = discovery;
  return {
    from: 'discovery',
    issuer,
    documentUrl,
    hosts,
    connection: egressTo(egress, documentUrl),
  };
}

function authenticationOf(client: ClientEntry, secretOf: ReadSecret): ClientAuthenticationSettings {
  switch (client.method) {
    case 'basic':
      return { method: client.method, secret: secretOf(client.secret) };
    case 'private_key_jwt':
    case 'bearer_jwt':
      return { method: client.method, assertion: assertionOf(client.assertion, secretOf) };
    case 'both':
      return {
        method: client.method,
        secret: secretOf(client.secret),
        assertion: assertionOf(client.assertion, secretOf),
      };
    case 'headers':
      return { method: client.method, headers: textsOf(client.headers, secretOf) };
  }
}

function signedRequestOf(
  { signedRequest, assertion }: ClientEntry,
  secretOf: ReadSecret,
): { readonly signedRequest?: SignedRequestSettings } {
  if (signedRequest === 'off') return {};
  const isStrict = signedRequest === 'strict';
  return { signedRequest: { assertion: assertionOf(assertion, secretOf), isStrict } };
}

function assertionOf(entry: ClientEntry['assertion'], secretOf: ReadSecret): AssertionSettings {
  // That it is there has been checked over all members.
  if (entry === undefined) throw new Error('An assertion is needed and was not asked for.');
  const { key, alg, kid, lifetimeSeconds, audience } = entry;
  return {
    privateKeyPem: secretOf(key),
    alg,
    ...(kid === undefined ? {} : { kid }),
    lifetimeSeconds,
    audience:
      typeof audience === 'string'
        ? { token: audience, backchannelAuthentication: audience, cibaToken: audience }
        : audience,
  };
}

function lookupSettingsOf(entry: OperatorEntry, secretOf: ReadSecret): LookupSettings {
  const { phoneNumber, reading, errors, correlator, limits, paths } = entry;
  const { requestsPerSecond, ...bounds } = limits;
  const { nullMeans } = reading;
  const simSwapUrl = withoutLastSlash(entry.simSwapUrl);
  return {
    lookupAddresses: addressesBelow('', simSwapUrl, paths).lookupAddresses,
    operations: new Set(entry.operations),
    maxAgeHours: entry.maxAgeHours,
    dateMarginHours: entry.dateMarginHours,
    trustMonitoredPeriod: entry.trustMonitoredPeriod,
    phoneNumber: {
      send: phoneNumber.send,
      place:
        phoneNumber.header === undefined
          ? { in: 'body' }
          : { in: 'header', name: phoneNumber.header },
      form: phoneNumber.form,
    },
    reading: {
      members: reading.members,
      maxAgeUnit: reading.maxAgeUnit,
      nullMeans:
        nullMeans === 'not-disclosed'
          ? { kind: 'not-disclosed' }
          : { kind: 'no-swap-within', days: nullMeans.noSwapWithinDays },
      sentinelDates: reading.sentinelDates,
    },
    retriesLookups: entry.retryLookups,
    oneCallPerNumber: entry.oneCallPerNumber,
    errors: {
      wordAt: errors.wordAt.map((pointer) => pointer.split('/').slice(1)),
      rules: errors.rules.map(ruleOf),
    },
    correlator: { ...correlator, header: correlator.header.toLowerCase() },
    http2: entry.http2,
    tokenMismatch: entry.tokenMismatch,
    headers: entry.headers.map((header) => headerOf(header, secretOf)),
    limits: requestsPerSecond === undefined ? bounds : { ...bounds, requestsPerSecond },
  };
}

/** How far each code speaks where the file does not say. */
const REACHES: Readonly<Record<MappedCode, FailureReach>> = {
  NUMBER_NOT_SERVED: 'number',
  PERIOD_NOT_SUPPORTED: 'question',
  OPERATION_NOT_OFFERED: 'operation',
  CONSENT_DENIED: 'number',
  CONSENT_EXPIRED: 'number',
  OPERATOR_RATE_LIMITED: 'number',
  OPERATOR_UNAVAILABLE: 'number',
  OPERATOR_TIMEOUT: 'number',
  OPERATOR_REFUSED: 'operation',
  OPERATOR_INVALID_REPLY: 'question',
};

function ruleOf({
  status,
  word,
  code,
  reach,
  retryAfterSeconds,
}: OperatorEntry['errors']['rules'][number]): ErrorRule {
  return {
    status,
    ...(word === undefined ? {} : { word }),
    code,
    reach: reach ?? REACHES[code],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

function headerOf(
  { name, value, endpoints }: OperatorEntry['headers'][number],
  secretOf: ReadSecret,
): OperatorHeader {
  return { name, value: valueOf(value, secretOf), endpoints: new Set(endpoints) };
}

function valueOf(
  value: OperatorEntry['headers'][number]['value'],
  secretOf: ReadSecret,
): HeaderValue {
  return value.kind === 'generated' ? value : { kind: 'fixed', text: textOf(value, secretOf) };
}

function textsOf(
  named: Readonly<Record<string, TextEntry>>,
  secretOf: ReadSecret,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(named).map(([name, value]) => [name, textOf(value, secretOf)]),
  );
}

function textOf(entry: TextEntry, secretOf: ReadSecret): string {
  switch (entry.kind) {
    case 'text':
      return entry.text;
    case 'file':
    case 'variable':
      return secretOf(entry);
  }
}
