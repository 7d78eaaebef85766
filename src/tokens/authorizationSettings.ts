import type { NumberTemplate } from '../domain/phoneNumber.ts';
import type {
  AssertionProfile,
  Ciba,
  ClientCredentials,
  JwtBearer,
  NoToken,
  ProfileFlow,
  Scopes,
  Tokens,
} from '../domain/profile.ts';
import type { Operation } from '../domain/question.ts';
import type { ConnectionSettings } from '../http/wireSettings.ts';
import type { TokenSubject } from './accessToken.ts';

/** How an access token comes about, fixed with the operator at onboarding (docs/operator-api.md, "Who we are"). */
export type Flow = ProfileFlow;

export function asksOwner(flow: Flow): boolean {
  return flow === '3-legged';
}

/** The endpoints of an authorization server (docs/operator-api.md, "Endpoints"). */
export const AUTHORIZATION_ENDPOINTS = ['token', 'backchannelAuthentication', 'cibaToken'] as const;

export type AuthorizationEndpointName = (typeof AUTHORIZATION_ENDPOINTS)[number];

/** The address of each endpoint, absolute and without a slash at its end. */
export type AuthorizationAddresses = Readonly<Record<AuthorizationEndpointName, string>>;

/** Where an operator's authorization server says, or our settings say, that it takes requests. */
export type AuthorizationSource =
  | { readonly from: 'settings'; readonly addresses: AuthorizationAddresses }
  /** Lookups themselves show who asks. */
  | { readonly from: 'nowhere' }
  | ({ readonly from: 'discovery' } & DiscoverySource);

/** OpenID Connect Discovery 1.0: read at the start, and again when keys or addresses change. */
export interface DiscoverySource {
  /** What the document must name as its `issuer`. */
  readonly issuer: string;
  /** Of the document; by §4 the issuer with `/.well-known/openid-configuration`. */
  readonly documentUrl: string;
  /** Where endpoints may lie beside the hosts of these two: our credentials are sent there. */
  readonly hosts: readonly string[];
  /** How the document is reached, which is no endpoint of the operator's. */
  readonly connection: ConnectionSettings;
}

/** The client's private key. */
export interface SigningKey {
  /** PKCS #8 in PEM. */
  readonly privateKeyPem: string;
  readonly alg: AssertionProfile['algs'][number];
  readonly kid?: string;
}

/** Signs client assertions with the client's private key (RFC 7523). */
export interface AssertionSettings extends SigningKey {
  /** How long a JWT counts, in seconds; CAMARA allows 300 at most. */
  readonly lifetimeSeconds: number;
  /** `aud`: a text of the operator's, or the address that the JWT is sent to where absent. */
  readonly audience?: string;
  /**
   * All claims but `iat`, `exp` and `jti`.
   *
   * @throws {ProfileFault} where the profile's function does not keep to its type
   */
  readonly claims: (audience: string) => Readonly<Record<string, unknown>>;
}

/**
 * How the client proves who it is at the authorization server. `both` sends Basic beside an assertion, as
 * the service allows.
 */
export type ClientAuthenticationSettings =
  | { readonly method: 'basic'; readonly secret: string }
  /** `client_id` and `client_secret` in the form (RFC 6749 §2.3.1). */
  | { readonly method: 'post'; readonly secret: string }
  | { readonly method: 'private_key_jwt'; readonly assertion: AssertionSettings }
  | { readonly method: 'both'; readonly secret: string; readonly assertion: AssertionSettings }
  /** `Authorization: Bearer` with a JWT signed as an assertion is. */
  | { readonly method: 'bearer_jwt'; readonly assertion: AssertionSettings }
  /** Headers of the operator's own, such as `X-Client-Id` and `X-Client-Secret`, secrets included. */
  | { readonly method: 'headers'; readonly headers: Readonly<Record<string, string>> };

/** Puts the parameters of bc-authorize into a signed JWT (OpenID CIBA Core §7.1.1). */
export interface SignedRequestSettings {
  /** The key, and whom the JWT is for: the same as of assertions. */
  readonly assertion: AssertionSettings;
  /** Whether nothing stands outside the JWT, `scope` included. */
  readonly isStrict: boolean;
}

/** RFC 6749 §4.4, with what binds the token to its number (docs/operator-api.md, "A token without consent"). */
export type ClientCredentialsGrant = Omit<ClientCredentials, 'path' | 'username'> & {
  readonly username?: NumberTemplate;
};

/** RFC 7523 §2.1, as CAMARA profiles it: the assertion names the number (`sub`) and the scope. */
type JwtBearerGrant = Omit<JwtBearer, 'path' | 'subject'> & {
  readonly assertion: AssertionSettings;
  readonly subject: NumberTemplate;
};

/** OpenID CIBA Core, in poll mode. */
export type CibaGrant = Omit<Ciba, 'paths' | 'loginHint'> & { readonly loginHint: NumberTemplate };

/** The flow, and the grant by which tokens come about in it. */
export type FlowSettings =
  | {
      readonly flow: '2-legged';
      readonly grant: ClientCredentialsGrant | JwtBearerGrant | NoToken;
    }
  | { readonly flow: '3-legged'; readonly grant: CibaGrant };

/** The endpoints that a grant takes. Pure. */
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

interface AuthorizationBase {
  readonly authorization: AuthorizationSource;
  readonly clientId: string;
  readonly clientAuthentication: ClientAuthenticationSettings;
  readonly signedRequest?: SignedRequestSettings;
  /** Whether tokens are bound to a key of ours (RFC 9449). */
  readonly dpop: boolean;
  readonly scopes: Scopes;
  /** With `types` and the header in lower case. A token of the 3-legged flow never leaves its caller and purpose. */
  readonly tokens: Tokens;
}

export type AuthorizationSettings = AuthorizationBase & FlowSettings;

/**
 * Whether the grant itself shows which client asks: CAMARA takes the signed assertion of the JWT bearer grant
 * for the client's authentication, and a second one beside it would be two methods (RFC 6749 §2.3). Pure.
 */
export function grantProvesClient({
  grant,
  clientAuthentication,
}: Pick<AuthorizationSettings, 'grant' | 'clientAuthentication'>): boolean {
  return grant.type === 'jwt-bearer' && clientAuthentication.method === 'private_key_jwt';
}

/**
 * The `scope` of a request: `openid` first, then the purpose and the operation's own, joined as the operator
 * wants it. Empty where it knows no scopes. Pure.
 */
export function scopeOf(
  { operations, openid, purpose, joinedBy }: Scopes,
  operation: Operation,
): string {
  const purposed = [purpose ?? '', operations[operation]].filter((one) => one !== '');
  return [openid ? 'openid' : '', purposed.join(joinedBy)].filter((one) => one !== '').join(' ');
}

/** What one token may be used for: equal for two lookups exactly where one token serves both. */
export type TokenCoverage = string;

/** Whether a token of this grant is issued for one number. Pure. */
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
 * The scopes of a token and, where it is for one number, that number. A token that was issued for a number
 * serves no other, whatever the settings say: some operators answer by the token, and the answer would be
 * about a stranger. Pure.
 */
export function tokenCoverage(
  { scopes, tokens, grant }: Pick<AuthorizationSettings, 'scopes' | 'tokens' | 'grant'>,
  { number, operation }: TokenSubject,
): TokenCoverage {
  // `scope` is a set (RFC 6749 §3.3): its order says nothing.
  const scope = [...new Set(scopeOf(scopes, operation).split(' '))].toSorted().join(' ');
  const isForAny = tokens.use === 'any-number' && !namesNumber(grant);
  return isForAny ? scope : `${number} ${scope}`;
}
