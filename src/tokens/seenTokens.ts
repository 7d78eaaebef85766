import { hash } from 'node:crypto';

/** So many of the latest are known, and up to twice as many remembered; each takes about 150 bytes. */
const MIN_REMEMBERED = 10_000;

/**
 * Which token values have come, by their hashes; the oldest are forgotten. In two halves, of which the older
 * is dropped as a whole: a set that loses its first member with each new one passes over thousands of holes
 * each time, which took 10 µs a token.
 */
export class SeenTokens {
  #latest = new Set<string>();
  #earlier: ReadonlySet<string> = new Set<string>();

  /** Remembers it, and returns whether it came before. */
  see(value: string): boolean {
    const hashed = hash('sha256', value, 'base64url');
    if (this.#latest.has(hashed) || this.#earlier.has(hashed)) return true;
    if (this.#latest.size === MIN_REMEMBERED) {
      this.#earlier = this.#latest;
      this.#latest = new Set();
    }
    this.#latest.add(hashed);
    return false;
  }
}
