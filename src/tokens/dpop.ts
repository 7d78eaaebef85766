import { createHash, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import type { Clock } from '../system/clock.ts';
import type { Exchange } from '../http/exchange.ts';
import { singleValue } from '../http/singleValue.ts';

/** What a proof is for. */
export interface DpopExchange {
  readonly method: 'GET' | 'POST';
  /** Without query and fragment. */
  readonly address: string;
  /** The token that goes with it; absent where one is requested. */
  readonly token?: string;
}

/** A nonce is short; a longer one is not kept. */
const MAX_NONCE_CHARACTERS = 512;

/**
 * Proofs of possession (RFC 9449) by a key of this process, which tokens are bound to: one that got out is worth nothing
 * without it. Each exchange has a proof of its own, and each server the latest nonce that it gave.
 */
export class DpopProofs {
  readonly #clock: Clock;
  readonly #key: Promise<{ readonly privateKey: CryptoKey; readonly jwk: JWK }>;
  /** By origin. */
  readonly #nonces = new Map<string, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#key = generateKeyPair('ES256').then(async ({ privateKey, publicKey }) => ({
      privateKey,
      jwk: await exportJWK(publicKey),
    }));
    // Whoever needs it hears of it then.
    this.#key.catch(() => undefined);
  }

  /** The header of one exchange: its name and value. */
  async headers({ method, address, token }: DpopExchange): Promise<readonly string[]> {
    const { privateKey, jwk } = await this.#key;
    const nonce = this.#nonces.get(new URL(address).origin);
    const proof = await new SignJWT({
      htm: method,
      htu: address,
      jti: randomUUID(),
      ...(token === undefined
        ? {}
        : { ath: createHash('sha256').update(token).digest('base64url') }),
      ...(nonce === undefined ? {} : { nonce }),
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .setIssuedAt(Math.floor(this.#clock.nowMs() / 1000))
      .sign(privateKey);
    return ['DPoP', proof];
  }

  /** Takes over the nonce that a reply gives (RFC 9449 §8.2). */
  learn(address: string, exchange: Exchange): void {
    if (exchange.kind !== 'reply') return;
    const nonce = singleValue(exchange.reply.headers['dpop-nonce']);
    if (nonce === undefined || nonce === '' || nonce.length > MAX_NONCE_CHARACTERS) return;
    this.#nonces.set(new URL(address).origin, nonce);
  }
}
