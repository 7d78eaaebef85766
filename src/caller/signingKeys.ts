import type { Clock } from '../system/clock.ts';
import type { Log } from '../log/log.ts';
import {
  createLocalJWKSet,
  errors,
  type CryptoKey,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import { errorName } from '../domain/errors.ts';
import { connectFailureOf } from '../http/connectFailure.ts';
import { UnexpectedStatus } from '../http/connections/publishedJson.ts';

/** No token's header can make the service fetch the keys more often. */
const COOLDOWN_MS = 30_000;
/** Shorter while there are no keys: no caller can be served. */
const EMPTY_COOLDOWN_MS = 1000;
/** Older keys are fetched again, so that a withdrawn key stops verifying tokens. */
const OLD_AFTER_MS = 600_000;
/** The issuer may be unavailable for this long before its keys are no longer used. */
const STALE_AFTER_MS = 3_600_000;

/** The issuer's keys cannot be fetched: whether a token is valid is not known. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
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

/** An issuer's public keys: fetched when first needed, when old, and at most once in 30 s when one is unknown. */
export class SigningKeys {
  published: KeySet | undefined;
  readonly #parts: SigningKeysParts;
  #fetchedAtMs = Number.NEGATIVE_INFINITY;
  #attemptedAtMs = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;

  constructor(parts: SigningKeysParts) {
    this.#parts = parts;
  }

  /** Whether verifications with these keys still hold. Starts to fetch old keys again. */
  areCurrent(): boolean {
    const ageMs = this.#parts.clock.monotonicMs() - this.#fetchedAtMs;
    if (ageMs > OLD_AFTER_MS) void this.#refresh();
    return ageMs <= STALE_AFTER_MS;
  }

  /** Fetches the keys where there are none that may be used. Never rejects. */
  async load(): Promise<void> {
    if (!this.areCurrent()) await this.#refresh();
  }

  /** @throws {KeysUnavailable} when there are none that may be used, and none can be fetched */
  async probe(): Promise<KeySet> {
    await this.load();
    if (this.published === undefined || !this.areCurrent()) throw new KeysUnavailable();
    return this.published;
  }

  /** @throws {KeysUnavailable} when they cannot be fetched, and {errors.JOSEError} when the token names none of them */
  readonly select = async (
    header: JWSHeaderParameters,
    token: FlattenedJWSInput,
  ): Promise<CryptoKey> => {
    const keys = await this.probe();
    try {
      return await keys.select(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#refresh();
      const fresh = await this.probe();
      if (fresh.generation === keys.generation) throw error;
      return fresh.select(header, token);
    }
  };

  /** Fetches unless it is too soon; calls made meanwhile wait for the same fetch. Never rejects. */
  #refresh(): Promise<void> {
    const nowMs = this.#parts.clock.monotonicMs();
    const cooldownMs = this.published === undefined ? EMPTY_COOLDOWN_MS : COOLDOWN_MS;
    if (this.#fetching === undefined && nowMs - this.#attemptedAtMs >= cooldownMs) {
      this.#attemptedAtMs = nowMs;
      this.#fetching = this.#fetch().finally(() => {
        this.#fetching = undefined;
      });
    }
    return this.#fetching ?? Promise.resolve();
  }

  async #fetch(): Promise<void> {
    const { fetch, clock, log } = this.#parts;
    try {
      const published = await fetch();
      const text = JSON.stringify(published);
      // It checks the shape itself.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const select = createLocalJWKSet(published as JSONWebKeySet);
      const generation = (this.published?.generation ?? 0) + 1;
      if (text !== this.published?.text) this.published = { generation, text, select };
      this.#fetchedAtMs = clock.monotonicMs();
    } catch (error) {
      log.error('the keys of JWT_JWKS_URL cannot be fetched', { reason: keysFailure(error) });
    }
  }
}

/** Codes of Node, undici and OpenSSL, such as ECONNREFUSED, UND_ERR_CONNECT_TIMEOUT and CERT_HAS_EXPIRED. */
const CODE = /^[A-Z][A-Z0-9_]{2,60}$/;

/** Why an issuer's keys cannot be fetched, without anything that it sent. Pure. */
export function keysFailure(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  if (error instanceof errors.JWKSInvalid) return 'not a key set';
  if (error instanceof SyntaxError) return 'not JSON';
  if (error.name === 'TimeoutError') return 'timed out';
  const failure = connectFailureOf(error);
  if (failure !== undefined) return failure.message;
  if (error instanceof UnexpectedStatus) return `status ${error.statusCode}`;
  // A host with several addresses fails with all of their errors at once.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = errorName(first);
  return CODE.test(code) ? code : error.name;
}
