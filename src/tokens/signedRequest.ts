import { createPrivateKey, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Clock } from '../clock.ts';
import type { AuthorizationSettings } from './authorizationSettings.ts';

/** The parameters of an authentication request, as the form of bc-authorize carries them. */
export interface AuthenticationRequest {
  readonly login_hint: string;
  readonly scope: string;
}

/** Makes the form of one exchange; a signed one has a `jti` of its own. */
export type RequestForm = (request: AuthenticationRequest) => Promise<Record<string, string>>;

const LIFE_SECONDS = 60;

/**
 * Carries the parameters as they are, or in a signed `request` (OpenID CIBA Core §7.1.1). There nothing
 * stands beside it, which `strict` holds to; the service's document wants `scope` present, so `on`
 * repeats it.
 */
export function createRequestForm(
  { clientId, signedRequest }: Pick<AuthorizationSettings, 'clientId' | 'signedRequest'>,
  clock: Clock,
): RequestForm {
  if (signedRequest === undefined) return (request) => Promise.resolve({ ...request });
  const { privateKeyPem, alg, kid, audience } = signedRequest.assertion;
  const privateKey = createPrivateKey(privateKeyPem);
  return async (request) => {
    const issuedAtSeconds = Math.floor(clock.nowMs() / 1000);
    const signed = await new SignJWT({ ...request })
      .setProtectedHeader({ alg, typ: 'JWT', ...(kid === undefined ? {} : { kid }) })
      .setIssuer(clientId)
      .setAudience(audience)
      .setIssuedAt(issuedAtSeconds)
      .setNotBefore(issuedAtSeconds)
      .setExpirationTime(issuedAtSeconds + LIFE_SECONDS)
      .setJti(randomUUID())
      .sign(privateKey);
    return signedRequest.isStrict ? { request: signed } : { request: signed, scope: request.scope };
  };
}
