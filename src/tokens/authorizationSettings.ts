import type {
  AssertionProfile,
  AuthenticationMethod,
  Ciba,
  ClientCredentials,
  JwtBearer,
  NoToken,
  OperatorProfile,
  ProfileFlow,
  Scopes,
} from '../domain/profile.ts';
import type { ConnectionSettings } from '../wire/wireSettings.ts';
import type { TokenSubject } from './accessToken.ts';

/** How an access token is acquired, fixed with the operator at onboarding (docs/operator-api.md, "Who we are"). */
export type Flow = ProfileFlow;

export function promptsOwner(flow: Flow): boolean {
  return flow === '3-legged';
}

/** docs/operator-api.md, "Endpoints". */
export const AUTHORIZATION_ENDPOINTS = ['token', 'backchannelAuthentication', 'cibaToken'] as const;

export type AuthorizationEndpointName = (typeof AUTHORIZATION_ENDPOINTS)[number];

/** Absolute, without a slash at the end. */
export type AuthorizationAddresses = Readonly<Record<AuthorizationEndpointName, string>>;

export type AuthorizationSource =
  | { readonly from: 'settings'; readonly addresses: AuthorizationAddresses }
  /** Lookups carry the client's credentials themselves. */
  | { readonly from: 'nowhere' }
  | ({ readonly from: 'discovery' } & DiscoverySource);

/** OpenID Connect Discovery 1.0: read at the start, and again when keys or addresses change. */
export interface DiscoverySource {
  /** What the document must name as its `issuer`. */
  readonly issuer: string;
  /** The address of the document; by §4 the issuer with `/.well-known/openid-configuration`. */
  readonly documentUrl: string;
  /** The hosts of endpoints in addition to those of issuer and document: our credentials are sent there. */
  readonly hosts: readonly string[];
  /** Whether exchanges carry a client certificate. If so, the document's addresses for those are used (RFC 8705 §5). */
  readonly hasCertificate: boolean;
  readonly connection: ConnectionSettings;
}

export interface SigningKey {
  /** The key as PKCS #8 in PEM. */
  readonly privateKeyPem: string;
  readonly alg: AssertionProfile['algs'][number];
  readonly kid?: string | undefined;
}

/** Client assertions (RFC 7523), and other JWTs that the client's key signs. */
export interface AssertionSettings extends SigningKey {
  readonly lifetimeSeconds: number;
  /** `aud`: a text that the operator chose, otherwise the address that the JWT is sent to. */
  readonly audience?: string | undefined;
  /** All claims but `iat`, `exp` and `jti`. Throws a ProfileFault where the profile does not conform to its type. */
  readonly claims: (audience: string) => Readonly<Record<string, unknown>>;
}

export interface ClientAuthenticationSettings {
  readonly method: AuthenticationMethod;
  readonly secret: string;
  /** Also for a grant that is an assertion, and for signed requests; its key is empty where the client has none. */
  readonly assertion: AssertionSettings;
  /** The headers of the method `headers`, including the secret. */
  readonly headers: Readonly<Record<string, string>>;
}

export type FlowSettings =
  | { readonly flow: '2-legged'; readonly grant: ClientCredentials | JwtBearer | NoToken }
  | { readonly flow: '3-legged'; readonly grant: Ciba };

export function authorizationEndpointsOf({
  type,
}: FlowSettings['grant']): readonly AuthorizationEndpointName[] {
  switch (type) {
    case 'none':
      return [];
    case 'client_credentials':
    case 'jwt-bearer':
      return ['token'];
    case 'ciba':
      return ['backchannelAuthentication', 'cibaToken'];
  }
}

/** A token of the 3-legged flow never leaves its caller and purpose, whatever `tokens.use` says. */
export interface AuthorizationBase extends Pick<
  OperatorProfile,
  'authentication' | 'scopes' | 'tokens'
> {
  readonly authorization: AuthorizationSource;
  readonly clientId: string;
  readonly clientAuthentication: ClientAuthenticationSettings;
}

export type AuthorizationSettings = AuthorizationBase & FlowSettings;

/** The `scope` of a request; empty where the operator knows no scopes. Pure. */
export function scopeOf(
  { operations, openid, purpose: hasPurpose, joinedBy }: Scopes,
  { operation, purpose }: Pick<TokenSubject, 'operation' | 'purpose'>,
): string {
  const own = operations[operation];
  const purposed = [hasPurpose ? purpose : '', own].filter(Boolean).join(joinedBy);
  return [openid ? 'openid' : '', purposed].filter(Boolean).join(' ');
}

/** What one token covers: equal for two lookups exactly where one token serves both. */
export type TokenCoverage = string;

export function namesNumber(grant: FlowSettings['grant']): boolean {
  switch (grant.type) {
    case 'client_credentials':
      return grant.username !== undefined;
    case 'none':
      return false;
    case 'jwt-bearer':
    case 'ciba':
      return true;
  }
}

/**
 * The purpose and scopes of a token and, where it is for one number, that number. A token that was issued for a number
 * serves no other number, whatever the settings say: some operators answer about the number of the token, which could
 * be a stranger's. Pure.
 */
export function tokenCoverage(
  { scopes, tokens, grant }: Pick<AuthorizationSettings, 'scopes' | 'tokens' | 'grant'>,
  subject: TokenSubject,
): TokenCoverage {
  // `scope` is a set (RFC 6749 §3.3): its order has no meaning.
  const scope = [...new Set(scopeOf(scopes, subject).split(' '))].toSorted().join(' ');
  const isForAny = tokens.use === 'any-number' && !namesNumber(grant);
  return [subject.purpose, isForAny ? '' : subject.number, scope].join(' ');
}
