import type { Operation } from '../domain/question.ts';

/** How an access token comes about, fixed with the operator at onboarding (service, "Authentication"). */
export type Flow = '2-legged' | '3-legged';

/** Whether the owner of the number is asked for consent. Pure. */
export function asksOwner(flow: Flow): boolean {
  switch (flow) {
    case '2-legged':
      return false;
    case '3-legged':
      return true;
  }
}

/** Signs client assertions with the client's private key (RFC 7523). */
export interface AssertionSettings {
  /** The private key, PKCS #8 in PEM. */
  readonly privateKeyPem: string;
  readonly alg: 'ES256' | 'PS256' | 'RS256';
  readonly kid?: string;
  readonly audience: string;
}

/** How the client proves who it is. `both` sends Basic beside an assertion, as the service allows. */
export type ClientAuthenticationSettings =
  | { readonly method: 'basic'; readonly secret: string }
  | { readonly method: 'private_key_jwt'; readonly assertion: AssertionSettings }
  | { readonly method: 'both'; readonly secret: string; readonly assertion: AssertionSettings };

/** Puts the parameters of bc-authorize into a signed JWT (OpenID CIBA Core §7.1.1). */
export interface SignedRequestSettings {
  /** The key, and whom the JWT is for: the same as of assertions. */
  readonly assertion: AssertionSettings;
  /** Whether nothing stands outside the JWT, `scope` included. */
  readonly isStrict: boolean;
}

/** What the operator's authorization server wants to hear. */
export interface AuthorizationSettings {
  /** `{auth_url}`, without a slash at its end. */
  readonly authUrl: string;
  readonly flow: Flow;
  readonly clientId: string;
  readonly clientAuthentication: ClientAuthenticationSettings;
  readonly signedRequest?: SignedRequestSettings;
  /** The scope that each operation needs. */
  readonly scopes: Readonly<Record<Operation, string>>;
  /** `grant_type` of the 3-legged token request. */
  readonly cibaGrantType: string;
  readonly cibaFirstPoll: 'at-once' | 'after-interval';
}
