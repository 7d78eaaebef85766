import { hash } from 'node:crypto';

/** Each takes about 150 bytes. */
const MAX_REMEMBERED = 20_000;

/** Which token values have come, by their hashes; of too many, the oldest are forgotten. */
export class SeenTokens {
  readonly #hashes = new Set<string>();

  /** Remembers it, and returns whether it came before. */
  see(value: string): boolean {
    const hashed = hash('sha256', value, 'base64url');
    if (this.#hashes.has(hashed)) return true;
    this.#hashes.add(hashed);
    if (this.#hashes.size > MAX_REMEMBERED) {
      for (const oldest of this.#hashes) {
        this.#hashes.delete(oldest);
        break;
      }
    }
    return false;
  }
}
