import { errors } from 'jose';

/** Why an access token was refused: for the log. The caller is told one word for every flaw. */
export type TokenRefusal =
  | 'algorithm'
  | 'audience'
  | 'bound to a key'
  | 'expired'
  | 'issuer'
  | 'key'
  | 'malformed'
  | 'no expiry'
  | 'no subject'
  | 'not issued yet'
  | 'not valid yet'
  | 'signature'
  | 'too long'
  | 'type';

const BY_CLAIM: ReadonlyMap<string, TokenRefusal> = new Map([
  ['aud', 'audience'],
  ['exp', 'no expiry'],
  ['iss', 'issuer'],
  ['nbf', 'not valid yet'],
  ['sub', 'no subject'],
]);

/** What an error of jose's says about a token. Pure. */
export function tokenRefusal(error: unknown): TokenRefusal {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    return BY_CLAIM.get(error.claim) ?? 'malformed';
  }
  if (error instanceof errors.JWKSNoMatchingKey) return 'key';
  if (error instanceof errors.JWKSMultipleMatchingKeys) return 'key';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm';
  return 'malformed';
}
