import { createRemoteJWKSet, errors, jwtVerify } from 'jose';

/** Who has this access token; undefined where it is missing, over or another service's. Rejects where that is not known. */
export type UserOf = (accessToken: string | undefined) => Promise<string | undefined>;

/** Codes of jose's errors that are about the keys rather than about the token. */
const KEYS_FAILED: ReadonlySet<string> = new Set([
  errors.JOSEError.code,
  errors.JWKSTimeout.code,
  errors.JWKSInvalid.code,
]);

/** By the settings with which the BFF verifies the same tokens. */
export function userByToken(settings: {
  readonly JWT_JWKS_URL: string;
  readonly JWT_ISSUER: string;
  readonly JWT_AUDIENCE: string;
}): UserOf {
  const keys = createRemoteJWKSet(new URL(settings.JWT_JWKS_URL));
  return async (accessToken) => {
    if (accessToken === undefined) return undefined;
    try {
      const { payload } = await jwtVerify(accessToken, keys, {
        issuer: settings.JWT_ISSUER,
        audience: settings.JWT_AUDIENCE,
        requiredClaims: ['sub', 'exp'],
      });
      return payload.sub;
    } catch (error) {
      // Where the keys cannot be fetched, nobody is signed out.
      if (!(error instanceof errors.JOSEError) || KEYS_FAILED.has(error.code)) throw error;
      return undefined;
    }
  };
}
