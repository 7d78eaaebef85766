import { hash } from 'node:crypto';
import { inspect } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Operation } from '../domain/question.ts';

/** What a token is for: one number and, by its scope, one operation for one purpose. */
export interface TokenSubject {
  readonly number: PhoneNumber;
  readonly operation: Operation;
  /** The purpose as it is sent to the operator. */
  readonly purpose: string;
}

/** Holds a secret, and shows it in no log, JSON, template or debugger. */
export abstract class Redacted {
  toString(): string {
    return `${this.constructor.name}(redacted)`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/** A token was about to be used twice, or for another subject than its own: a defect of ours. */
export class TokenMisused extends Error {
  override readonly name = 'TokenMisused';
}

export interface TokenOrigin {
  /** Whether it may have been issued for another number: then the operator refuses it with 401 or 403. */
  readonly isUnproven?: boolean;
  /** When the reusable token that lent it was issued, on the monotonic clock. */
  readonly sharedSinceMs?: number | undefined;
  readonly onRefused?: () => void;
  readonly onSettled?: ((isRefused: boolean) => void) | undefined;
}

/**
 * The right to one lookup (docs/design.md, "A token works once"): an access token that hands out its value once,
 * for its own number and operation, and shows it nowhere else. A reusable token lends each lookup one of these.
 */
export class AccessToken extends Redacted {
  readonly subject: TokenSubject;
  readonly origin: TokenOrigin;
  #value: string | undefined;
  readonly #expiresAtMonotonicMs: number | undefined;
  #isRefused = false;

  constructor(
    subject: TokenSubject,
    value: string,
    expiresAtMonotonicMs: number | undefined,
    origin: TokenOrigin = {},
  ) {
    super();
    this.subject = subject;
    this.#value = value;
    this.#expiresAtMonotonicMs = expiresAtMonotonicMs;
    this.origin = origin;
  }

  isExpired(monotonicMs: number): boolean {
    return this.#expiresAtMonotonicMs !== undefined && monotonicMs >= this.#expiresAtMonotonicMs;
  }

  /**
   * What one exchange carries; empty where no token is needed. The token counts as spent from here on, whatever
   * becomes of the exchange.
   *
   * @throws {TokenMisused} on a second use, or for another number or operation
   */
  spend(subject: Pick<TokenSubject, 'number' | 'operation'>): string {
    if (subject.number !== this.subject.number || subject.operation !== this.subject.operation) {
      throw new TokenMisused('An access token may not be used for another number or operation.');
    }
    const value = this.#value;
    if (value === undefined) throw new TokenMisused('An access token may not be used twice.');
    this.#value = undefined;
    return value;
  }

  /** The operator has refused it: the reusable token that lent it is dropped. */
  refused(): void {
    this.#isRefused = true;
    this.origin.onRefused?.();
  }

  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Its lookup is over, or was not made. */
  settled(): void {
    this.origin.onSettled?.(this.#isRefused);
  }
}

/** Each takes about 150 bytes. A size rather than `max`, with which `LRUCache` takes 20 bytes for each at once. */
const MAX_REMEMBERED = 10_000;

/** Which token values were received lately, by their hashes. */
export class SeenTokens {
  readonly #seen = new LRUCache<string, true>({
    maxSize: MAX_REMEMBERED,
    sizeCalculation: () => 1,
  });

  see(value: string): boolean {
    const hashed = hash('sha256', value, 'base64url');
    const isKnown = this.#seen.has(hashed);
    this.#seen.set(hashed, true);
    return isKnown;
  }
}
