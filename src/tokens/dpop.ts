import { hash, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import type { Clock } from '../system/clock.ts';
import type { OutgoingRequest } from '../wire/exchange.ts';
import type { ProofSigner } from '../resilience/dpopExchanges.ts';

/**
 * Proofs of possession (RFC 9449) by a key of this process, to which tokens are bound: a leaked token is worthless
 * without the key. Each exchange has its own proof.
 */
export class DpopProofs implements ProofSigner {
  readonly #clock: Clock;
  readonly #key: Promise<{ readonly privateKey: CryptoKey; readonly jwk: JWK }>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#key = generateKeyPair('ES256').then(async ({ privateKey, publicKey }) => ({
      privateKey,
      jwk: await exportJWK(publicKey),
    }));
    // The error goes to the exchange that needs the key.
    this.#key.catch(() => undefined);
  }

  /**
   * The request with a proof, which names its body and its query as well (CAMARA Security and
   * Interoperability Profile, "Request Binding to DPoP Proofs"; operators that do not know these claims ignore them).
   */
  async bind(request: OutgoingRequest, url: string, nonce?: string): Promise<OutgoingRequest> {
    const { privateKey, jwk } = await this.#key;
    const { method = 'POST', body = '', headers, accessToken } = request;
    const [address = '', query = ''] = url.split('?', 2);
    const proof = await new SignJWT({
      htm: method,
      htu: address,
      jti: randomUUID(),
      ...(accessToken === undefined ? {} : { ath: sha256(accessToken) }),
      ...(nonce === undefined ? {} : { nonce }),
      ...(body === '' ? {} : { 'camara:bh': sha256(body) }),
      ...(query === '' ? {} : { 'camara:qh': sha256(query) }),
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .setIssuedAt(Math.floor(this.#clock.nowMs() / 1000))
      .sign(privateKey);
    return { ...request, headers: [...headers, 'DPoP', proof] };
  }
}

function sha256(text: string): string {
  return hash('sha256', text, 'base64url');
}
