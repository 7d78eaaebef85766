import type { Operation } from '../src/domain/question.ts';
import type { Dialect } from './dialect.ts';

const BOTH: readonly Operation[] = ['retrieve-date', 'check'];

/** The URN of CIBA Core, which docs/operator-api.md does not use. */
const STANDARD_CIBA = 'urn:openid:params:grant-type:ciba';

const LOOKUP_PATHS = {
  simSwap: '/sim-swap/v2',
  retrieveDate: '/retrieve-date',
  check: '/check',
} as const;

/** docs/operator-api.md, answered in the words of CAMARA 2.1. */
const STANDARD: Dialect = {
  paths: {
    token: '/oauth/v1/token',
    backchannelAuthentication: '/openIDConnectCIBA/v1/bc-authorize',
    cibaToken: '/openIDConnectCIBA/v1/token',
    ...LOOKUP_PATHS,
  },
  version: '2.1',
  lookupErrors: 'camara',
  authorizationErrors: 'oauth',
  clientAuthentication: 'basic',
  audience: 'server',
  tokenRequest: { grant: 'client_credentials', namesNumber: true, inQuery: false },
  cibaGrantType: 'urn:openid:params:mc:grant-type:ciba',
  scopes: { 'retrieve-sim-swap-date': ['retrieve-date'], 'check-sim-swap': ['check'] },
  tokens: { use: 'once', lifetimeSeconds: 60 },
  // A short interval, so that trials are quick; operators state 0 to 5.
  consent: { intervalSeconds: 2, expiresInSeconds: 120 },
  phoneNumber: { in: 'body' },
  maxAgeUnit: 'hours',
  maxAgeHours: 2400,
  swappedMember: 'swapped',
  correlatorHeader: 'x-correlator',
  oneCallPerNumber: false,
};

const V1_PATHS = { ...STANDARD.paths, simSwap: '/sim-swap/v1' };

/** A token request of RFC 6749 §4.4 without a number. */
const NAMELESS = { grant: 'client_credentials', namesNumber: false, inQuery: false } as const;

const BY_NAME = {
  '2.1': STANDARD,
  '1.0': { ...STANDARD, version: '1.0', paths: V1_PATHS },
  // CAMARA's Security and Interoperability Profile r4.2 as it is written, with the paths of its examples.
  camara: {
    ...STANDARD,
    paths: {
      discovery: '/.well-known/openid-configuration',
      token: '/token',
      backchannelAuthentication: '/bc-authorize',
      cibaToken: '/token',
      ...LOOKUP_PATHS,
    },
    clientAuthentication: 'private_key_jwt',
    audience: 'endpoint',
    tokenRequest: NAMELESS,
    cibaGrantType: STANDARD_CIBA,
    scopes: 'camara',
    tokens: { use: 'once', lifetimeSeconds: 120 },
  },
  vodafone: {
    ...STANDARD,
    version: '1.0',
    paths: {
      backchannelAuthentication: '/openIDConnectCIBA/v1/bc-authorize',
      cibaToken: '/openIDConnectCIBA/v1/token',
      ...LOOKUP_PATHS,
      simSwap: '/sim-swap/v1',
    },
    cibaGrantType: STANDARD_CIBA,
    scopes: {
      'openid retrieve-sim-swap-date': ['retrieve-date'],
      'openid check-sim-swap': ['check'],
    },
    tokens: { use: 'until it expires', lifetimeSeconds: 3597 },
    consent: { intervalSeconds: 0, expiresInSeconds: 300 },
    partnerHeader: 'vf_ext_bp_id',
  },
  orange: {
    ...STANDARD,
    paths: {
      backchannelAuthentication: '/openIDConnectCIBA/v1/bc-authorize',
      cibaToken: '/openIDConnectCIBA/v1/token',
      ...LOOKUP_PATHS,
    },
    clientAuthentication: 'private_key_jwt',
    cibaGrantType: STANDARD_CIBA,
    scopes: {
      'openid dpv:FraudPreventionAndDetection sim-swap:retrieve-date': ['retrieve-date'],
      'openid dpv:FraudPreventionAndDetection sim-swap:check': ['check'],
    },
    tokens: { use: 'once', lifetimeSeconds: 3600, expiresInAsText: true },
    maxAgeHours: 7 * 24,
  },
  telefonica: {
    ...STANDARD,
    version: '1.0',
    paths: {
      backchannelAuthentication: '/apigateway/bc-authorize',
      cibaToken: '/apigateway/token',
      ...LOOKUP_PATHS,
      simSwap: '/sim-swap/v1',
    },
    authorizationErrors: 'code-and-message',
    cibaGrantType: STANDARD_CIBA,
    scopes: { 'dpv:FraudPreventionAndDetection sim-swap': BOTH },
    oneCallPerNumber: true,
  },
  kpn: {
    ...STANDARD,
    paths: {
      token: '/oauth/client_credential/accesstoken',
      simSwap: '/kpn/sim-swap',
      retrieveDate: '/retrieve-date',
    },
    tokenRequest: { ...NAMELESS, inQuery: true },
    scopes: { '': ['retrieve-date'] },
    tokens: { use: 'until it expires', lifetimeSeconds: 3600 },
    oneCallPerNumber: true,
  },
  claro: {
    ...STANDARD,
    version: '0.4',
    paths: {
      token: '/oauth/v1/token',
      ...LOOKUP_PATHS,
      simSwap: '/mobile/v1/gsma/gateway/simswap',
    },
    lookupErrors: 'envelope',
    tokenRequest: NAMELESS,
    ownWords: { 'line not served': { status: 451, code: 'UNAVAILABLE_FOR_LEGAL_REASONS' } },
  },
  aggregator: {
    ...STANDARD,
    paths: { token: '/realms/simulated/protocol/openid-connect/token', ...LOOKUP_PATHS },
    tokenRequest: NAMELESS,
    scopes: { 'sim-swap.read': BOTH },
    tokens: { use: 'until it expires', lifetimeSeconds: 300 },
    phoneNumber: { in: 'header', name: 'x-phone-number' },
    maxAgeUnit: 'seconds',
    swappedMember: 'simSwapped',
    correlatorHeader: 'x-correlation-id',
  },
  'jwt-bearer': {
    ...STANDARD,
    paths: { token: '/oauth/v1/token', ...LOOKUP_PATHS },
    clientAuthentication: 'private_key_jwt',
    audience: 'endpoint',
    tokenRequest: { grant: 'jwt-bearer' },
    scopes: {
      'dpv:FraudPreventionAndDetection sim-swap:retrieve-date': ['retrieve-date'],
      'dpv:FraudPreventionAndDetection sim-swap:check': ['check'],
    },
    tokens: { use: 'until it expires', lifetimeSeconds: 300 },
  },
} as const satisfies Readonly<Record<string, Dialect>>;

export type DialectName = keyof typeof BY_NAME;

/**
 * Versions of CAMARA SIM Swap, and operators as far as their API is public. profiles/ has the settings for each of
 * them, with the sources; where those are silent, the simulator behaves as the standard does.
 */
export const DIALECTS: Readonly<Record<DialectName, Dialect>> = BY_NAME;

/** In the order of messages and docs. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has no other members
export const DIALECT_NAMES = Object.keys(BY_NAME) as DialectName[];

/** The dialect of this name; `undefined` for any other text. */
export function dialectNamed(name: string): DialectName | undefined {
  return DIALECT_NAMES.find((one) => one === name);
}
