import type { ServerResponse } from 'node:http';

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
  readonly #replies = new Map<ServerResponse, number>();
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
    const timer = setTimeout(() => this.#cut(response), this.#limits.timeoutMs);
    this.#replies.set(response, bytes);
    this.#bytes += bytes;
    response.once('close', () => {
      clearTimeout(timer);
      this.#forget(response);
    });
    for (const oldest of this.#replies.keys()) {
      if (this.#bytes <= this.#limits.maxBytes) return;
      this.#forget(oldest);
      this.#cut(oldest);
    }
  }

  #forget(response: ServerResponse): void {
    this.#bytes -= this.#replies.get(response) ?? 0;
    this.#replies.delete(response);
  }

  /**
   * Closes the connection itself: a pipelined reply behind one that is not there yet has no socket of its
   * own, and destroying it gives back nothing.
   */
  #cut({ req }: ServerResponse): void {
    this.#cutOff += 1;
    req.socket.destroy();
  }
}
