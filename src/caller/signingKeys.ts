import { createPublicKey } from 'node:crypto';
import type { Clock } from '../system/clock.ts';
import type { Log } from '../log/log.ts';
import {
  createLocalJWKSet,
  errors,
  type CryptoKey,
  type FlattenedJWSInput,
  type JWK,
  type JWSHeaderParameters,
} from 'jose';
import { errorName, namedError } from '../domain/errors.ts';
import { connectFailureOf } from '../wire/connectFailure.ts';

/**
 * The least time between two fetches, and the age up to which a fetched set is fresh: a key that a fresh set lacks is
 * not the issuer's. It is the same for every token, since nothing in one can be trusted before it is verified. So forgers
 * who name unknown keys delay a new one by no more, while fetches succeed.
 */
const MIN_INTERVAL_MS = 1000;
/** How often that is doubled, at most, while fetches fail and the keys can still be used: up to 16 s. */
const MAX_DOUBLED = 4;
/** Older keys are fetched again, so that a withdrawn key stops verifying tokens. */
const OLD_AFTER_MS = 600_000;
/** How long the issuer may be unavailable before its keys are no longer used. */
const STALE_AFTER_MS = 3_600_000;

/** RFC 7518 §3.3, and the smallest exponent of FIPS 186-5 §5.1. */
const MIN_MODULUS_BITS = 2048;
const MIN_EXPONENT = 65_537n;

/** It is not known whether a token is valid. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
  readonly reason = 'no-keys';
}

interface KeySet {
  /** Changes whenever the issuer publishes other keys. */
  readonly generation: number;
  readonly text: string;
  readonly select: ReturnType<typeof createLocalJWKSet>;
}

export interface SigningKeysParts {
  /** Rejects when the keys cannot be fetched. */
  readonly fetch: () => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Log;
}

/** An issuer's public keys: fetched when first needed, when old, when one is unknown, and when none fits a signature. */
export class SigningKeys {
  published: KeySet | undefined;
  readonly #parts: SigningKeysParts;
  #fetchedAtMs = Number.NEGATIVE_INFINITY;
  #attemptedAtMs = Number.NEGATIVE_INFINITY;
  /** In a row. */
  #failures = 0;
  #fetching: Promise<void> | undefined;

  constructor(parts: SigningKeysParts) {
    this.#parts = parts;
  }

  /** Whether verifications with these keys are still valid. Starts to fetch old keys again. */
  areCurrent(): boolean {
    const ageMs = this.#ageMs();
    if (ageMs > OLD_AFTER_MS) void this.#refresh();
    return ageMs <= STALE_AFTER_MS;
  }

  /** Fetches the keys where no usable ones are available. Never rejects. */
  async load(): Promise<void> {
    if (!this.areCurrent()) await this.#refresh();
  }

  /** @throws {KeysUnavailable} when no usable keys are available, and none can be fetched */
  async probe(): Promise<KeySet> {
    await this.load();
    if (this.published === undefined || !this.areCurrent()) throw new KeysUnavailable();
    return this.published;
  }

  /**
   * @param mayWait called before a wait for keys that may have the token's; where it returns `false` there is no room
   * @throws {KeysUnavailable} when a key could be the issuer's, and {errors.JOSEError} when the token names none
   */
  readonly select = async (
    header: JWSHeaderParameters,
    token: FlattenedJWSInput,
    mayWait: () => boolean = () => true,
  ): Promise<CryptoKey> => {
    const keys = await this.probe();
    try {
      return await keys.select(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const latest = await this.since(keys.generation, mayWait);
      if (latest === undefined) throw error;
      return latest.select(header, token);
    }
  };

  /**
   * The keys that have replaced those of a generation; `undefined` where none have, and a token's key is not the issuer's.
   *
   * @param mayWait as for {@link select}
   * @throws {KeysUnavailable} when that is not known
   */
  async since(generation: number | undefined, mayWait: () => boolean): Promise<KeySet | undefined> {
    if (!mayWait()) throw new KeysUnavailable();
    await this.#refresh();
    const latest = await this.probe();
    if (latest.generation !== generation) return latest;
    // Without a failure the set is fresh.
    if (this.#failures > 0) throw new KeysUnavailable();
    return undefined;
  }

  #ageMs(): number {
    return this.#parts.clock.monotonicMs() - this.#fetchedAtMs;
  }

  /** Fetches unless it is too soon. Calls made meanwhile wait for the same fetch. Never rejects. */
  #refresh(): Promise<void> {
    const areUsable = this.#ageMs() <= STALE_AFTER_MS;
    const doubled = areUsable ? Math.min(Math.max(0, this.#failures - 1), MAX_DOUBLED) : 0;
    const sinceMs = this.#parts.clock.monotonicMs() - this.#attemptedAtMs;
    const isTooSoon = sinceMs < MIN_INTERVAL_MS * 2 ** doubled;
    if (this.#fetching === undefined && !isTooSoon) {
      this.#fetching = this.#fetch().finally(() => {
        this.#attemptedAtMs = this.#parts.clock.monotonicMs();
        this.#fetching = undefined;
      });
    }
    return this.#fetching ?? Promise.resolve();
  }

  async #fetch(): Promise<void> {
    const { fetch, clock, log } = this.#parts;
    try {
      const { keys, ignored } = usableKeys(await fetch());
      const text = JSON.stringify(keys);
      if (text !== this.published?.text) {
        const generation = (this.published?.generation ?? 0) + 1;
        this.published = { generation, text, select: createLocalJWKSet({ keys }) };
        if (ignored > 0)
          log.warn('Weak or malformed keys of JWT_JWKS_URL are ignored.', { ignored });
      }
      this.#fetchedAtMs = clock.monotonicMs();
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      log.error('The keys of JWT_JWKS_URL cannot be fetched.', { reason: keysFailure(error) });
    }
  }
}

/**
 * Leaves out keys that are weak or malformed, which do not invalidate the others (RFC 7517 §5). Pure.
 *
 * @throws {Error} named by the reason: for anything but a key set, and where no key is left
 */
function usableKeys(published: unknown): { readonly keys: JWK[]; readonly ignored: number } {
  const { keys: all }: { readonly keys?: unknown } = Object(published);
  if (!Array.isArray(all)) throw namedError('not a key set');
  const keys = all.filter(isUsable);
  // An accident, since an issuer that withdraws all of its keys can sign nothing.
  if (keys.length === 0) throw namedError('no usable keys');
  return { keys, ignored: all.length - keys.length };
}

function isUsable(jwk: unknown): jwk is JWK {
  try {
    const { asymmetricKeyDetails = {} } = createPublicKey({ key: Object(jwk), format: 'jwk' });
    const { modulusLength = MIN_MODULUS_BITS, publicExponent = MIN_EXPONENT } =
      asymmetricKeyDetails;
    return modulusLength >= MIN_MODULUS_BITS && publicExponent >= MIN_EXPONENT;
  } catch {
    return false;
  }
}

/** Codes of Node, undici and OpenSSL, such as ECONNREFUSED, UND_ERR_CONNECT_TIMEOUT and CERT_HAS_EXPIRED. */
const CODE = /^[A-Z][A-Z0-9_]{2,60}$/;

/** Why an issuer's keys cannot be fetched, without anything that it sent. Pure. */
export function keysFailure(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  if (error instanceof SyntaxError) return 'not JSON';
  if (error.name === 'TimeoutError') return 'timed out';
  const failure = connectFailureOf(error);
  if (failure !== undefined) return failure.message;
  // A host with several addresses fails with all of their errors at once.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = errorName(first);
  return CODE.test(code) ? code : error.name;
}
