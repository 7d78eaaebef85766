import type { Clock } from '../system/clock.ts';
import type { AuthorizationSettings } from './authorizationSettings.ts';
import { createJwtSigner } from './signedJwt.ts';

/** The parameters of an authentication request, as the form of bc-authorize carries them. */
export interface AuthenticationRequest {
  readonly login_hint: string;
  /** Absent where the operator knows no scopes. */
  readonly scope?: string;
}

/** Makes the form of one exchange; a signed one has a `jti` of its own. */
export type RequestForm = (
  request: AuthenticationRequest,
  address: string,
) => Promise<Record<string, string>>;

/**
 * Carries the parameters as they are, or in a signed `request` (OpenID CIBA Core §7.1.1). There nothing
 * stands beside it, which `strict` holds to; operators that want `scope` present all the same are why `on`
 * repeats it (docs/operator-api.md, "Requesting consent").
 */
export function createRequestForm(
  { signedRequest }: Pick<AuthorizationSettings, 'signedRequest'>,
  clock: Clock,
): RequestForm {
  if (signedRequest === undefined) return (request) => Promise.resolve({ ...request });
  const sign = createJwtSigner(signedRequest.assertion, clock);
  return async (request, address) => {
    // Required only in a signed request.
    const signed = await sign(address, {
      ...request,
      // An assertion names the client there (RFC 9101 §10.8).
      sub: undefined,
      nbf: Math.floor(clock.nowMs() / 1000),
    });
    const { scope } = request;
    return signedRequest.isStrict || scope === undefined
      ? { request: signed }
      : { request: signed, scope };
  };
}
