import type { ServerResponse } from 'node:http';

/**
 * A response while it is under way. It is cleared at the end: when a Set of V8 grows, its old table lives until the
 * next full collection, with its contents (docs/decisions/0025-objects-that-live-as-long-as-a-request.md).
 */
export interface Held {
  response: ServerResponse | undefined;
}

export interface Unread extends Held {
  bytes: number;
}

/** Cuts off clients whose replies do not end: each after a time, the slowest of several when all hold too much. */
export class UnreadReplies {
  readonly #timeoutMs: number;
  readonly #maxBytes: number;
  /** In the order in which they were completed. */
  readonly #replies = new Set<Unread>();
  cutOff = 0;
  #bytes = 0;

  /**
   * @param timeoutMs for one reply, from its completion on
   * @param maxBytes of all
   */
  constructor(timeoutMs: number, maxBytes: number) {
    this.#timeoutMs = timeoutMs;
    this.#maxBytes = maxBytes;
  }

  add(response: ServerResponse, bytes: number): Unread {
    const unread: Unread = { response, bytes: 0 };
    const timer = setTimeout(() => this.#cut(unread), this.#timeoutMs);
    // Before what else happens at its close, which counts those that are left.
    response.prependOnceListener('close', () => {
      clearTimeout(timer);
      this.#forget(unread);
    });
    this.#replies.add(unread);
    this.hold(unread, bytes);
    return unread;
  }

  get size(): number {
    return this.#replies.size;
  }

  /** Cuts off the clients whose replies are complete but for their end. */
  cutSent(): void {
    for (const unread of this.#replies) if (isSent(unread.response)) this.#cut(unread);
  }

  /** Counts more bytes for a reply, which is the latest from now on; none for one that has ended. */
  hold(unread: Unread, bytes: number): void {
    if (!this.#replies.delete(unread)) return;
    this.#replies.add(unread);
    unread.bytes += bytes;
    this.#bytes += bytes;
    for (const oldest of this.#replies) {
      if (this.#bytes <= this.#maxBytes || oldest === unread) return;
      this.#cut(oldest);
      this.#forget(oldest);
    }
  }

  #forget(unread: Unread): void {
    if (!this.#replies.delete(unread)) return;
    this.#bytes -= unread.bytes;
    unread.response = undefined;
  }

  #cut({ response }: Unread): void {
    this.cutOff += 1;
    response?.req.socket.destroy();
  }
}

/** Whether the system has taken all of the reply. */
export function isSent(response: ServerResponse | undefined): boolean {
  return response?.headersSent === true && response.writableLength === 0;
}
