import { createPrivateKey, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Clock } from '../system/clock.ts';
import type { AssertionSettings } from './authorizationSettings.ts';

/** Signs a JWT for the exchange with an address; the claims stand beside those that each JWT of ours has. */
export type JwtSigner = (
  address: string,
  claims?: Readonly<Record<string, unknown>>,
) => Promise<string>;

/**
 * Makes the JWTs by which we show the operator that a request is ours: with the claims of its profile, short-lived, each
 * with a `jti` of its own, since one counts once.
 */
export function createJwtSigner(
  { privateKeyPem, alg, kid, audience, claims: ownClaims, lifetimeSeconds }: AssertionSettings,
  clock: Clock,
): JwtSigner {
  const privateKey = createPrivateKey(privateKeyPem);
  return async (address, claims) => {
    const issuedAtSeconds = Math.floor(clock.nowMs() / 1000);
    return new SignJWT({ ...ownClaims(audience ?? address), ...claims })
      .setProtectedHeader({ alg, typ: 'JWT', ...(kid === undefined ? {} : { kid }) })
      .setJti(randomUUID())
      .setIssuedAt(issuedAtSeconds)
      .setExpirationTime(issuedAtSeconds + lifetimeSeconds)
      .sign(privateKey);
  };
}
