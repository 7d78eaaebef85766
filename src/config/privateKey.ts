import { createPrivateKey } from 'node:crypto';
import type { SigningKey } from '../tokens/authorizationSettings.ts';

/** The curve or the kind of key that each algorithm signs with (RFC 7518 §3.1). */
const KEY_TYPES: Readonly<Record<SigningKey['alg'], string>> = {
  ES256: 'ec',
  PS256: 'rsa',
  RS256: 'rsa',
};

/** RFC 7518 §3.3. */
const MIN_RSA_KEY_BITS = 2048;

/** Whether a text is a private key in PEM that the algorithm signs with. */
export function isPrivateKeyFor(alg: SigningKey['alg'], pem: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    if (asymmetricKeyType !== KEY_TYPES[alg]) return false;
    return alg === 'ES256'
      ? asymmetricKeyDetails?.namedCurve === 'prime256v1'
      : (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_KEY_BITS;
  } catch {
    return false;
  }
}
