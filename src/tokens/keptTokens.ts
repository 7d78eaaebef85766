import type { Clock } from '../system/clock.ts';
import type { ReusableToken } from './reusableToken.ts';

/** What tokens of one operator may take up, values and keys together. */
const MAX_BYTES = 16 * 1024 * 1024;

/** What an entry takes beside its value and its key. */
const ENTRY_BYTES = 512;

interface Kept {
  readonly token: ReusableToken;
  readonly bytes: number;
}

/**
 * Reusable tokens in this process's memory, each until shortly before its end. When there are too many,
 * the one that is kept longest goes first.
 */
export class KeptTokens {
  readonly #clock: Clock;
  readonly #marginMs: number;
  readonly #maxBytes: number;
  /** In the order in which they came. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** @param marginMs how long before its end a token is used no more */
  constructor(clock: Clock, marginMs: number, maxBytes = MAX_BYTES) {
    this.#clock = clock;
    this.#marginMs = marginMs;
    this.#maxBytes = maxBytes;
  }

  find(key: string): ReusableToken | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    if (!this.#isOver(kept)) return kept.token;
    this.#delete(key, kept);
    return undefined;
  }

  /** In the place of the one that was kept under this key. */
  keep(key: string, token: ReusableToken): void {
    const kept = { token, bytes: ENTRY_BYTES + 2 * key.length + token.bytes };
    if (this.#isOver(kept)) return;
    this.#drop(key);
    this.#kept.set(key, kept);
    this.#bytes += kept.bytes;
    for (const [oldestKey, oldest] of this.#kept) {
      if (this.#bytes <= this.#maxBytes && !this.#isOver(oldest)) return;
      this.#delete(oldestKey, oldest);
    }
  }

  /** Drops this very token; another that has come in its place stays. */
  drop(key: string, token: ReusableToken): void {
    if (this.#kept.get(key)?.token === token) this.#drop(key);
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key);
    if (kept !== undefined) this.#delete(key, kept);
  }

  #delete(key: string, { bytes }: Kept): void {
    this.#kept.delete(key);
    this.#bytes -= bytes;
  }

  #isOver({ token }: Kept): boolean {
    return this.#clock.monotonicMs() >= token.expiresAtMs - this.#marginMs;
  }
}
