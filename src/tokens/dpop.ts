import { createHash, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import type { Clock } from '../system/clock.ts';
import type { Exchange, OutgoingRequest } from '../http/exchange.ts';
import { singleValue } from '../http/headers.ts';

export interface DpopPlace {
  /** The address of the exchange, its query aside or not. */
  readonly address: string;
  /** The token that goes with it; absent where one is requested. */
  readonly token?: string;
}

/** A nonce is short; a longer one is not kept. */
const MAX_NONCE_CHARACTERS = 512;

/**
 * Proofs of possession (RFC 9449) by a key of this process, which tokens are bound to: a leaked one is worth nothing
 * without it. Each exchange has a proof of its own, and each server the latest nonce that it gave.
 */
export class DpopProofs {
  readonly #clock: Clock;
  readonly #key: Promise<{ readonly privateKey: CryptoKey; readonly jwk: JWK }>;
  readonly #nonces = new Map<string, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#key = generateKeyPair('ES256').then(async ({ privateKey, publicKey }) => ({
      privateKey,
      jwk: await exportJWK(publicKey),
    }));
    // The exchange that needs the key gets the error.
    this.#key.catch(() => undefined);
  }

  /**
   * The request with a proof beside it, which names its body and its query as well (CAMARA Security and
   * Interoperability Profile, "Request Binding to DPoP Proofs"; operators that do not know these claims ignore them).
   */
  async bind(request: OutgoingRequest, place: DpopPlace): Promise<OutgoingRequest> {
    const { privateKey, jwk } = await this.#key;
    const { method = 'POST', query = '', body = '', headers } = request;
    const { origin, pathname, search } = new URL(place.address);
    const rawQuery = [search.slice(1), query].filter((part) => part !== '').join('&');
    const nonce = this.#nonces.get(serverOf(place));
    const proof = await new SignJWT({
      htm: method,
      htu: origin + pathname,
      jti: randomUUID(),
      ...(place.token === undefined ? {} : { ath: sha256(place.token) }),
      ...(nonce === undefined ? {} : { nonce }),
      ...(body === '' ? {} : { 'camara:bh': sha256(body) }),
      ...(rawQuery === '' ? {} : { 'camara:qh': sha256(rawQuery) }),
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .setIssuedAt(Math.floor(this.#clock.nowMs() / 1000))
      .sign(privateKey);
    return { ...request, headers: [...headers, 'DPoP', proof] };
  }

  /** Takes over the nonce that a reply gives (RFC 9449 §8.2). */
  learn(place: DpopPlace, exchange: Exchange): void {
    if (exchange.kind !== 'reply') return;
    const nonce = singleValue(exchange.reply.headers['dpop-nonce']);
    if (nonce === undefined || nonce === '' || nonce.length > MAX_NONCE_CHARACTERS) return;
    this.#nonces.set(serverOf(place), nonce);
  }
}

/** Tokens and lookups may be answered by two servers behind one gateway. */
function serverOf({ address, token }: DpopPlace): string {
  return `${token === undefined ? 'tokens' : 'lookups'} ${new URL(address).origin}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
