import { hash } from 'node:crypto';
import { jwtVerify } from 'jose';
import type { Clock } from '../clock.ts';
import type { Caller } from './caller.ts';
import { callerFrom } from './claims.ts';
import { KeysUnavailable, type SigningKeys } from './signingKeys.ts';
import { tokenRefusal, type TokenRefusal } from './tokenRefusal.ts';
import type { TokenSettings } from './tokenSettings.ts';

/** For clocks that differ. */
const TOLERANCE_SECONDS = 5;

/** Longer than any access token of ours; what is longer is not even parsed. */
const LARGEST_TOKEN_CHARACTERS = 8192;

const DEFAULT_CAPACITY = 10_000;

/** What a JWT may call itself: an access token (RFC 9068 §2.1), or what most issuers write. */
const TYPES: ReadonlySet<string> = new Set(['at+jwt', 'application/at+jwt', 'jwt']);

/** A token that was verified, and how long that counts. */
interface Verified {
  readonly caller: Caller;
  readonly untilMs: number;
  readonly generation: number;
}

/** What a token came to: whose it is, that it is nobody's, or that nobody can say for the moment. */
export type TokenJudgement = Caller | 'invalid' | 'unavailable';

/** Tells whose an access token is (RFC 9068 §4). A token that it has seen is not verified again. */
export class TokenVerifier {
  readonly #settings: Omit<TokenSettings, 'jwksUrl'>;
  readonly #keys: SigningKeys;
  readonly #clock: Clock;
  readonly #capacity: number;
  readonly #onRefused: (reason: TokenRefusal) => void;
  /** By the token's hash, the oldest first: a dump of memory holds no token. */
  readonly #seen = new Map<string, Verified>();

  constructor(
    settings: Omit<TokenSettings, 'jwksUrl'>,
    keys: SigningKeys,
    clock: Clock,
    capacity = DEFAULT_CAPACITY,
    onRefused: (reason: TokenRefusal) => void = () => undefined,
  ) {
    this.#onRefused = onRefused;
    this.#settings = settings;
    this.#keys = keys;
    this.#clock = clock;
    this.#capacity = capacity;
  }

  /** Never rejects for what a token holds. */
  async verify(token: string): Promise<TokenJudgement> {
    if (token.length > LARGEST_TOKEN_CHARACTERS) return this.#refuse('too long');
    const name = hash('sha256', token, 'base64');
    const seen = this.#recall(name);
    if (seen !== undefined) return seen.caller;
    try {
      const verified = await this.#verify(token);
      if (typeof verified === 'string') return this.#refuse(verified);
      this.#remember(name, verified);
      return verified.caller;
    } catch (error) {
      return error instanceof KeysUnavailable ? 'unavailable' : this.#refuse(tokenRefusal(error));
    }
  }

  #refuse(reason: TokenRefusal): 'invalid' {
    this.#onRefused(reason);
    return 'invalid';
  }

  async #verify(token: string): Promise<Verified | TokenRefusal> {
    const { issuer, audience, algorithms } = this.#settings;
    const { payload, protectedHeader } = await jwtVerify(token, this.#keys.select, {
      issuer,
      audience,
      algorithms: [...algorithms],
      requiredClaims: ['exp', 'sub'],
      clockTolerance: TOLERANCE_SECONDS,
      currentDate: new Date(this.#clock.nowMs()),
    });
    const { typ } = protectedHeader;
    if (typ !== undefined && !TYPES.has(typ.toLowerCase())) return 'type';
    const caller = callerFrom(payload);
    if (caller === undefined) return payload['cnf'] === undefined ? 'no subject' : 'bound to a key';
    return {
      caller,
      untilMs: ((payload.exp ?? 0) + TOLERANCE_SECONDS) * 1000,
      generation: this.#keys.generation,
    };
  }

  /** What was verified counts for the token's life, unless the issuer has changed its keys since. */
  #recall(name: string): Verified | undefined {
    const seen = this.#seen.get(name);
    if (seen === undefined) return undefined;
    const isGood =
      this.#clock.nowMs() < seen.untilMs &&
      this.#keys.areCurrent() &&
      this.#keys.generation === seen.generation;
    if (isGood) return seen;
    this.#seen.delete(name);
    return undefined;
  }

  #remember(name: string, verified: Verified): void {
    if (this.#seen.size >= this.#capacity) {
      const [oldest] = this.#seen.keys();
      if (oldest !== undefined) this.#seen.delete(oldest);
    }
    this.#seen.set(name, verified);
  }
}
