import { createPrivateKey, randomUUID } from 'node:crypto';
import { SignJWT, type JWTPayload } from 'jose';
import type { Clock } from '../clock.ts';
import type { AssertionSettings } from './authorizationSettings.ts';

const LIFE_SECONDS = 60;

/** Signs the claims of one exchange, which stand beside those that each JWT of ours has. */
export type JwtSigner = (claims: JWTPayload) => Promise<string>;

/**
 * Makes the JWTs by which we show the authorization server that a request is ours: issued by the client, for
 * the configured audience, valid for 60 s, each with a `jti` of its own, since one counts once.
 */
export function createJwtSigner(
  clientId: string,
  { privateKeyPem, alg, kid, audience }: AssertionSettings,
  clock: Clock,
): JwtSigner {
  const privateKey = createPrivateKey(privateKeyPem);
  return (claims) => {
    const issuedAtSeconds = Math.floor(clock.nowMs() / 1000);
    return new SignJWT(claims)
      .setProtectedHeader({ alg, typ: 'JWT', ...(kid === undefined ? {} : { kid }) })
      .setIssuer(clientId)
      .setAudience(audience)
      .setJti(randomUUID())
      .setIssuedAt(issuedAtSeconds)
      .setExpirationTime(issuedAtSeconds + LIFE_SECONDS)
      .sign(privateKey);
  };
}
