import type { ServerResponse } from 'node:http';

/**
 * A response for as long as it is under way. Emptied then: when a Set of V8's makes room, its old table lives on until
 * the next full collection, with what was in it (docs/decisions/0025-objects-that-live-as-long-as-a-request.md).
 */
export interface Held {
  response: ServerResponse | undefined;
}

interface Unread extends Held {
  readonly bytes: number;
}

export interface UnreadLimits {
  /** For one reply, from when it is complete. */
  readonly timeoutMs: number;
  /** For all of them. */
  readonly maxBytes: number;
}

/**
 * Cuts off clients that do not read what they asked for: each after a time, and the slowest of them as
 * soon as all of it together is too much to hold.
 */
export class UnreadReplies {
  readonly #limits: UnreadLimits;
  /** In the order in which they were complete. */
  readonly #replies = new Set<Unread>();
  #bytes = 0;
  #cutOff = 0;

  constructor(limits: UnreadLimits) {
    this.#limits = limits;
  }

  get cutOff(): number {
    return this.#cutOff;
  }

  /** A reply that is complete, and that the system may not have taken yet. */
  add(response: ServerResponse, bytes: number): void {
    const unread: Unread = { response, bytes };
    const timer = setTimeout(() => this.#cut(unread), this.#limits.timeoutMs);
    this.#replies.add(unread);
    this.#bytes += bytes;
    response.once('close', () => {
      clearTimeout(timer);
      this.#forget(unread);
    });
    for (const oldest of this.#replies) {
      if (this.#bytes <= this.#limits.maxBytes) return;
      this.#cut(oldest);
      this.#forget(oldest);
    }
  }

  #forget(unread: Unread): void {
    if (!this.#replies.delete(unread)) return;
    this.#bytes -= unread.bytes;
    unread.response = undefined;
  }

  /**
   * Closes the connection itself: a pipelined reply behind one that is not there yet has no socket of its
   * own, and destroying it gives back nothing.
   */
  #cut({ response }: Unread): void {
    this.#cutOff += 1;
    response?.req.socket.destroy();
  }
}
