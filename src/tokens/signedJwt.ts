import { createPrivateKey, randomUUID } from 'node:crypto';
import { SignJWT, type JWTPayload } from 'jose';
import type { Clock } from '../system/clock.ts';
import type { AssertionSettings, AuthorizationEndpointName } from './authorizationSettings.ts';

/** Signs the claims of one exchange with an endpoint, which stand beside those that each JWT of ours has. */
export type JwtSigner = (
  endpoint: AuthorizationEndpointName,
  claims: JWTPayload,
) => Promise<string>;

/**
 * Makes the JWTs by which we show the authorization server that a request is ours: issued by the client, for
 * the audience configured for the endpoint, short-lived, each with a `jti` of its own, since one counts once.
 */
export function createJwtSigner(
  clientId: string,
  { privateKeyPem, alg, kid, audience, lifetimeSeconds }: AssertionSettings,
  clock: Clock,
): JwtSigner {
  const privateKey = createPrivateKey(privateKeyPem);
  return (endpoint, claims) => {
    const issuedAtSeconds = Math.floor(clock.nowMs() / 1000);
    return new SignJWT(claims)
      .setProtectedHeader({ alg, typ: 'JWT', ...(kid === undefined ? {} : { kid }) })
      .setIssuer(clientId)
      .setAudience(audience[endpoint])
      .setJti(randomUUID())
      .setIssuedAt(issuedAtSeconds)
      .setExpirationTime(issuedAtSeconds + lifetimeSeconds)
      .sign(privateKey);
  };
}
