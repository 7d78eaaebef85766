import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** What a sign-in that is under way must remember until the provider sends the browser back. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636. */
  readonly codeVerifier: string;
  readonly startedAtMs: number;
}

/** A person types a password in it. */
export const PENDING_SECONDS = 600;

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Keeps pending sign-ins in the browser's own cookie, encrypted: a client that
 * begins a thousand of them costs no memory. Each signs a person in once at most.
 */
export class PendingSignIns {
  readonly #key = randomBytes(32);
  readonly #monotonicMs: () => number;
  /** The states of sign-ins that are complete, with their times, the oldest first. */
  readonly #used = new Map<string, number>();

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  seal(pending: Omit<PendingSignIn, 'startedAtMs'>): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    const text = JSON.stringify({ ...pending, startedAtMs: this.#monotonicMs() });
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** What was sealed, unless it is not ours, too old, or was used before. */
  open(sealed: string | undefined): PendingSignIn | undefined {
    const bytes = Buffer.from(sealed ?? '', 'base64url');
    if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
    try {
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      const pending = JSON.parse(
        Buffer.concat([text, decipher.final()]).toString('utf8'),
      ) as PendingSignIn;
      const ageMs = this.#monotonicMs() - pending.startedAtMs;
      return ageMs < PENDING_SECONDS * 1000 && !this.#used.has(pending.state) ? pending : undefined;
    } catch {
      return undefined;
    }
  }

  /** It signs in no more. Only sign-ins with a password make this grow. */
  use({ state }: PendingSignIn): void {
    const nowMs = this.#monotonicMs();
    for (const [oldest, usedAtMs] of this.#used) {
      if (nowMs - usedAtMs < PENDING_SECONDS * 1000) break;
      this.#used.delete(oldest);
    }
    this.#used.set(state, nowMs);
  }
}
