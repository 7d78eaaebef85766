import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose';
import { oauthError, type Reply } from './reply.ts';
import type { Counts } from './stats.ts';

/** Tokens and lookups are answered by two servers, each with its own nonces. */
export type Server = 'tokens' | 'lookups';

/** Which proofs of possession must name a nonce, and how long a nonce is valid (RFC 9449 §8 and §9). */
export interface NonceRule {
  readonly at: Server | 'both';
  /** Once, or for its period and the next one, in milliseconds. */
  readonly counts: 'once' | { readonly periodMs: number };
}

/** The thumbprint of the key that a request is proven by, or the reply instead. */
export type Proven =
  | { readonly kind: 'proven'; readonly thumbprint: string }
  | { readonly kind: 'refused'; readonly reply: Reply };

/** The tolerance for the time in a proof. */
const LEEWAY_SECONDS = 300;

/** What it counts. */
export type ProofCounts = Pick<Counts, 'tokenChallenges' | 'lookupChallenges' | 'refusedProofs'>;

/** Checks the proof of possession of each request (RFC 9449 §4.3), and gives nonces. */
export class Proofs {
  readonly #rule: NonceRule;
  readonly #counts: ProofCounts;
  readonly #nowMs: () => number;
  readonly #secret = randomBytes(32);
  readonly #seenIds = new Set<string>();
  /** Nonces that are valid once, and not used yet. */
  readonly #unused = new Set<string>();
  #periodsAhead = 0;

  constructor(rule: NonceRule, counts: ProofCounts, nowMs: () => number) {
    this.#rule = rule;
    this.#counts = counts;
    this.#nowMs = nowMs;
  }

  /** Begins this many periods of nonces at once. */
  rotate(periods: number): void {
    this.#periodsAhead += periods;
  }

  /** The headers of each reply of this server. */
  headers(server: Server): Readonly<Record<string, string>> {
    return this.#givesNonces(server) ? { 'dpop-nonce': this.#next(server) } : {};
  }

  /** @param url of the request, without its query */
  async check(
    { headers }: Pick<IncomingMessage, 'headers'>,
    url: string,
    server: Server,
  ): Promise<Proven> {
    const token = /^DPoP (\S+)$/.exec(headers.authorization ?? '')?.[1];
    const refused = (): Proven => {
      this.#counts.refusedProofs += 1;
      return { kind: 'refused', reply: this.#refuse(server, 'invalid_dpop_proof') };
    };
    try {
      const { payload, protectedHeader } = await jwtVerify(
        String(headers['dpop'] ?? ''),
        EmbeddedJWK,
        { typ: 'dpop+jwt', algorithms: ['ES256'] },
      );
      const { htm, htu, ath, nonce, iat = 0, jti = '' } = payload;
      const ofToken = server === 'lookups' ? sha256(token ?? '') : undefined;
      const isOfRequest = htm === 'POST' && htu === url && ath === ofToken;
      const isOfNow = Math.abs(this.#nowMs() / 1000 - iat) <= LEEWAY_SECONDS;
      if (!isOfRequest || !isOfNow || jti === '' || this.#seenIds.has(jti)) return refused();
      this.#seenIds.add(jti);
      if (this.#givesNonces(server) && !this.#takes(server, nonce)) {
        this.#counts[server === 'tokens' ? 'tokenChallenges' : 'lookupChallenges'] += 1;
        return { kind: 'refused', reply: this.#refuse(server, 'use_dpop_nonce') };
      }
      const { jwk = {} } = protectedHeader;
      return { kind: 'proven', thumbprint: await calculateJwkThumbprint(jwk) };
    } catch {
      return refused();
    }
  }

  #refuse(server: Server, error: string): Reply {
    if (server === 'tokens') return oauthError(400, error);
    const headers = { 'www-authenticate': `DPoP error="${error}", algs="ES256"` };
    return { status: 401, headers, body: { status: 401, code: 'UNAUTHENTICATED', message: '' } };
  }

  #givesNonces(server: Server): boolean {
    return this.#rule.at === server || this.#rule.at === 'both';
  }

  #next(server: Server): string {
    if (this.#rule.counts !== 'once') return this.#ofPeriod(server, this.#period());
    const nonce = `${server}-${randomBytes(12).toString('base64url')}`;
    this.#unused.add(nonce);
    return nonce;
  }

  #takes(server: Server, nonce: unknown): boolean {
    if (typeof nonce !== 'string') return false;
    if (this.#rule.counts === 'once') {
      return nonce.startsWith(server) && this.#unused.delete(nonce);
    }
    const period = this.#period();
    return [period, period - 1].some((one) => nonce === this.#ofPeriod(server, one));
  }

  #period(): number {
    const { counts } = this.#rule;
    return counts === 'once' ? 0 : Math.floor(this.#nowMs() / counts.periodMs) + this.#periodsAhead;
  }

  #ofPeriod(server: Server, period: number): string {
    return createHmac('sha256', this.#secret).update(`${server} ${period}`).digest('base64url');
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
