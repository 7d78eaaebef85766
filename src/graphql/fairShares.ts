/** The limits on what requests hold, in bytes of the heap, and on bodies, which are outside it. */
export interface RequestLoad {
  /** The bytes of a request, whatever it queries. */
  readonly placeBytes: number;
  readonly heldBytes: number;
  readonly bodyBytes: number;
  /** Of all replies that wait for their clients to read. */
  readonly unreadBytes: number;
  /** Connections without a request, which hold the beginning of the next one's headers. */
  readonly idleConnections: number;
  readonly maxBodyBytes: number;
  readonly maxBodyValues: number;
}

/** The caller of a request until it is known. */
export const UNKNOWN_CALLER = '';

/** The same while the issuer's keys are fetched for its token: a forger may name keys, and the issuer may be slow. */
export const UNKNOWN_KEY = ' key';

/**
 * Bytes that the requests of all callers hold together. The last quarter is for callers that hold less than an eighth
 * of all, so that one caller, or a router, takes at most three quarters; callers that are not known yet take an eighth,
 * and those whose keys are fetched another, not of the last quarter.
 */
export class FairShares {
  readonly #maxBytes: number;
  readonly #held = new Map<string, number>();
  #heldByAll = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Changes nothing and returns `false` where there is no room. */
  take(caller: string, bytes: number): boolean {
    const held = (this.#held.get(caller) ?? 0) + bytes;
    const isSmall = held <= this.#maxBytes / 8;
    if ((caller === UNKNOWN_CALLER || caller === UNKNOWN_KEY) && !isSmall) return false;
    const heldByAll = this.#heldByAll + bytes;
    const mayTakeLast = isSmall && caller !== UNKNOWN_KEY;
    if (heldByAll > (mayTakeLast ? this.#maxBytes : 0.75 * this.#maxBytes)) return false;
    this.#held.set(caller, held);
    this.#heldByAll = heldByAll;
    return true;
  }

  giveBack(caller: string, bytes: number): void {
    const held = (this.#held.get(caller) ?? 0) - bytes;
    if (held > 0) this.#held.set(caller, held);
    else this.#held.delete(caller);
    this.#heldByAll -= bytes;
  }
}

/** What one request holds; nothing at first. */
export class Share {
  readonly #shares: FairShares;
  #caller: string;
  #bytes = 0;

  constructor(shares: FairShares, caller: string) {
    this.#shares = shares;
    this.#caller = caller;
  }

  /** Returns `false` where there is no room; what it already holds stays. */
  add(bytes: number): boolean {
    const isTaken = this.#shares.take(this.#caller, bytes);
    if (isTaken) this.#bytes += bytes;
    return isTaken;
  }

  /** Moves the bytes to another caller. Returns `false` where that caller has no room; the share is empty then. */
  moveTo(caller: string): boolean {
    const bytes = this.#bytes;
    this.release();
    this.#caller = caller;
    return this.add(bytes);
  }

  release(): void {
    this.#shares.giveBack(this.#caller, this.#bytes);
    this.#bytes = 0;
  }
}
