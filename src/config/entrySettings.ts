import { isNumberPrefix } from '../domain/phoneNumber.ts';
import { OPERATIONS } from '../domain/question.ts';
import {
  withoutLastSlash,
  type ConnectionSettings,
  type TextSource,
} from '../wire/wireSettings.ts';
import { callProfile } from '../judging/profileCall.ts';
import type { NumberDirectorySettings, OperatorSettings } from '../operator/operatorSettings.ts';
import type {
  AuthenticationMethod,
  OperatorProfile,
  Options,
  ProfileHeader,
} from '../domain/profile.ts';
import type {
  AssertionSettings,
  AuthorizationSource,
  ClientAuthenticationSettings,
  Flow,
  FlowSettings,
  SigningKey,
} from '../tokens/authorizationSettings.ts';
import { egressTo, type Egress } from './egress.ts';
import { camara } from '../../profiles/camara.ts';
import type { OperatorEntry, OperatorsFile, SecretEntry, TextEntry } from './definition.ts';
import type { LoadedProfile } from './profiles.ts';
import { createPrivateKey } from 'node:crypto';

export interface PointedTo {
  read(secret: SecretEntry): string;
  /** Its file, to be read again when it changes. */
  source(secret: SecretEntry): TextSource;
}

/** Settings of the process that the file does not set. */
export interface ForAllOperators {
  /** For operators that do not set their own. */
  readonly keepFactsSeconds: number | undefined;
  readonly egress: Egress;
}

/** The settings of one operator from its contract and its profile, both checked. */
export function settingsOf(
  entry: OperatorEntry,
  { name: profileName, sha256, profile }: LoadedProfile,
  pointedTo: PointedTo,
  { keepFactsSeconds, egress }: ForAllOperators,
): OperatorSettings {
  const { grants: _, errors, lookups, ...asInProfile } = profile;
  const options = Object.freeze(
    mapped(profile.options, (option, name) => entry.options[name] ?? option.default ?? ''),
  );
  const flow = entry.flow ?? flowsOf(profile)[0] ?? '2-legged';
  const simSwapUrl = withoutLastSlash(entry.simSwapUrl);
  const at = (operation: keyof typeof lookups): string =>
    simSwapUrl + filled((lookups[operation] ?? camara.lookups[operation]).path, options);
  const making: Making = { entry, profile, options, pointedTo };
  return {
    ...asInProfile,
    name: entry.name,
    profile: { name: profileName, sha256 },
    prefixes: entry.prefixes.filter((prefix) => isNumberPrefix(prefix)),
    formerly: entry.formerly,
    others: entry.others,
    price: entry.price,
    purposes: entry.purposes,
    keepFactsSeconds: entry.keepFactsSeconds ?? keepFactsSeconds ?? (flow === '3-legged' ? 60 : 0),
    ...grantOf(flow, profile),
    authorization: authorizationOf(flow, making, egress),
    clientId: entry.client.id ?? '',
    clientAuthentication: authenticationOf(making),
    scopes: {
      ...profile.scopes,
      openid: profile.scopes.openid && flow === '3-legged',
      operations: { ...profile.scopes.operations, ...entry.scopes },
    },
    tokens: {
      ...profile.tokens,
      use: entry.tokens.use ?? profile.tokens.use,
      ...(entry.tokens.dpop && DPOP_TOKENS),
    },
    authentication: {
      ...profile.authentication,
      dpop: entry.tokens.dpop || profile.authentication.dpop,
    },
    lookupAddresses: { retrieveDate: at('retrieve-date'), check: at('check') },
    operations: new Set(entry.operations ?? operationsOf(profile)),
    lookups,
    options,
    maxAgeHours: entry.maxAgeHours ?? profile.maxAgeHours,
    dateMarginHours: entry.dateMarginHours ?? profile.dateMarginHours,
    trustMonitoredPeriod: entry.trustMonitoredPeriod ?? profile.trustMonitoredPeriod,
    oneCallPerNumber: entry.oneCallPerNumber ?? profile.oneCallPerNumber,
    errors: { ...errors, wordAt: errors.wordAt.map((pointer) => pointer.split('/').slice(1)) },
    correlator: { ...profile.correlator, echo: entry.echo ?? profile.correlator.echo },
    headers: [
      ...profile.headers.flatMap((header) => headerOf(header, options)),
      ...Object.entries(textsOf(entry.headers, pointedTo)).map(([name, value]) => ({
        name,
        value,
      })),
    ],
    limits: entry.limits,
    ...connectionOf(entry, pointedTo),
  };
}

/** RFC 9449 §5 and §7.1, in lower case as in profiles. Bearer tokens, from an operator that binds none, are refused. */
const DPOP_TOKENS = {
  types: ['dpop'],
  sentIn: { header: 'authorization', prefix: 'DPoP ' },
} as const;

interface Making {
  readonly entry: OperatorEntry;
  readonly profile: OperatorProfile;
  readonly options: Options;
  readonly pointedTo: PointedTo;
}

export function flowsOf({ grants }: OperatorProfile): readonly Flow[] {
  return (['2-legged', '3-legged'] as const).filter((flow) => grants[flow] !== undefined);
}

export function operationsOf({ lookups }: OperatorProfile): OperatorEntry['operations'] & object {
  return OPERATIONS.filter((operation) => lookups[operation] !== undefined);
}

/** A text with these values for their placeholders, percent-encoded in a path; others (the number's) stay. Pure. */
function filled(text: string, values: Options, encode = encodeURIComponent): string {
  return text.replaceAll(/\{(\w+)\}/g, (place, name: string) =>
    Object.hasOwn(values, name) ? encode(values[name] ?? '') : place,
  );
}

function grantOf(flow: Flow, { grants }: OperatorProfile): FlowSettings {
  return flow === '3-legged'
    ? { flow, grant: grants[flow] ?? camara.grants[flow] }
    : { flow, grant: grants[flow] ?? camara.grants[flow] };
}

function authorizationOf(
  flow: Flow,
  { entry, profile, options }: Making,
  egress: Egress,
): AuthorizationSource {
  const { discovery, authUrl } = entry;
  const direct = profile.grants['2-legged'];
  if (flow === '2-legged' && direct?.type === 'none') return { from: 'nowhere' };
  if (discovery === undefined) {
    const at = (path: string): string => withoutLastSlash(authUrl ?? '') + filled(path, options);
    const { paths } = profile.grants['3-legged'] ?? camara.grants['3-legged'];
    const addresses = {
      token: at(direct !== undefined && 'path' in direct ? direct.path : ''),
      backchannelAuthentication: at(paths.backchannelAuthentication),
      cibaToken: at(paths.cibaToken),
    };
    return { from: 'settings', addresses };
  }
  const { issuer, hosts } = discovery;
  // OpenID Connect Discovery 1.0 §4.1.
  const issuerDocumentUrl = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { documentUrl = issuerDocumentUrl } = discovery;
  const connection = egressTo(egress, documentUrl);
  const hasCertificate = entry.tls?.certificate !== undefined;
  return { from: 'discovery', issuer, documentUrl, hosts, hasCertificate, connection };
}

type ClientMember = 'id' | 'secret' | 'key';

export const METHOD_NEEDS: Readonly<Record<AuthenticationMethod, readonly ClientMember[]>> = {
  basic: ['id', 'secret'],
  post: ['id', 'secret'],
  private_key_jwt: ['id', 'key'],
  both: ['id', 'secret', 'key'],
  bearer_jwt: ['id', 'key'],
  headers: ['secret'],
  tls: ['id'],
};

/**
 * The authentication of the client: the entry's method, otherwise the first of the profile's for which its secret and key
 * are sufficient. With both a secret and a key, methods that use both come first. A certificate may be for the connection
 * only, so that `tls` must be named. Pure.
 */
export function methodOf(
  named: AuthenticationMethod | undefined,
  client: Readonly<Partial<Record<ClientMember, unknown>>>,
  { authentication: { methods }, grants }: OperatorProfile,
): AuthenticationMethod {
  if (named !== undefined) return named;
  const has = (member: ClientMember): boolean => client[member] !== undefined;
  const isFor = (method: AuthenticationMethod): boolean =>
    method !== 'tls' && METHOD_NEEDS[method].every((member) => member === 'id' || has(member));
  // Both a secret and a key are used, unless the grant uses the key.
  const isKeyOfGrant = grants['2-legged']?.type === 'jwt-bearer';
  const isLeftOver = (method: AuthenticationMethod): boolean =>
    (has('secret') && !METHOD_NEEDS[method].includes('secret')) ||
    (has('key') && !METHOD_NEEDS[method].includes('key') && !isKeyOfGrant);
  const fitting = methods.filter(isFor);
  return fitting.find((method) => !isLeftOver(method)) ?? fitting[0] ?? methods[0];
}

function authenticationOf(making: Making): ClientAuthenticationSettings {
  const { entry, profile, pointedTo } = making;
  const { id = '', secret: named } = entry.client;
  const secret = named === undefined ? '' : pointedTo.read(named);
  return {
    method: methodOf(entry.client.method, entry.client, profile),
    secret,
    assertion: assertionOf(making),
    headers: mapped(profile.authentication.headers, (text) => filled(text, { id, secret }, String)),
  };
}

/** The profile's algorithm for a key; `undefined` where none fits. Pure. */
export function algFor(
  pem: string,
  { authentication }: OperatorProfile,
): SigningKey['alg'] | undefined {
  return authentication.assertion.algs.find((alg) => isPrivateKeyFor(alg, pem));
}

function assertionOf({ entry, profile, options, pointedTo }: Making): AssertionSettings {
  const { key, kid, id: clientId = '' } = entry.client;
  const { audience, lifetimeSeconds, claims } = profile.authentication.assertion;
  const privateKeyPem = key === undefined ? '' : pointedTo.read(key);
  const server = entry.discovery?.issuer ?? entry.authUrl ?? entry.simSwapUrl;
  const named = audience === 'server' ? withoutLastSlash(server) : audience;
  return {
    privateKeyPem,
    alg: algFor(privateKeyPem, profile) ?? 'ES256',
    kid,
    lifetimeSeconds,
    audience: named === 'endpoint' ? undefined : named,
    claims: (aud) =>
      callProfile('claims', claims, Object.freeze({ clientId, audience: aud, options })),
  };
}

/** A header with the options instead of their placeholders; omitted where it becomes empty. */
function headerOf(header: ProfileHeader, options: Options): readonly ProfileHeader[] {
  if (typeof header.value === 'object') return [header];
  const value = filled(header.value, options, String);
  return value === '' ? [] : [{ ...header, value }];
}

export function directoryOf(
  directory: NonNullable<OperatorsFile['directory']>,
  pointedTo: PointedTo,
  egress: Egress,
): NumberDirectorySettings {
  return {
    ...directory,
    url: withoutLastSlash(directory.url),
    headers: textsOf(directory.headers, pointedTo),
    ...egressTo(egress, directory.url),
  };
}

function connectionOf({ tls, proxy }: OperatorEntry, pointedTo: PointedTo): ConnectionSettings {
  const at = (secret: SecretEntry | undefined): TextSource | undefined =>
    secret && pointedTo.source(secret);
  return {
    tls: tls && {
      ...tls,
      certificate: at(tls.certificate),
      key: at(tls.key),
      passphrase: at(tls.passphrase),
      ca: at(tls.ca),
    },
    proxy: proxy && { ...proxy, credentials: at(proxy.credentials), ca: at(proxy.ca) },
  };
}

function textsOf(
  named: Readonly<Record<string, TextEntry>>,
  pointedTo: PointedTo,
): Readonly<Record<string, string>> {
  return mapped(named, (entry) => (entry.kind === 'text' ? entry.text : pointedTo.read(entry)));
}

/** The members of an object, each with its converted value. */
function mapped<Value>(
  object: Readonly<Record<string, Value>>,
  make: (value: Value, name: string) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, make(value, name)]),
  );
}

/** RFC 7518 §3.1 and §3.3. */
function isPrivateKeyFor(alg: SigningKey['alg'], pem: string): boolean {
  try {
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = createPrivateKey(pem);
    return alg === 'ES256'
      ? type === 'ec' && details?.namedCurve === 'prime256v1'
      : type === 'rsa' && (details?.modulusLength ?? 0) >= MIN_RSA_KEY_BITS;
  } catch {
    return false;
  }
}

const MIN_RSA_KEY_BITS = 2048;
