import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import { CallerGone, DeadlineExceeded } from '../http/abortReasons.ts';

/** The time that one request has, from its headers to its answer. */
export class RequestLife {
  /** When the request came in, on the monotonic clock. */
  readonly cameInAtMs: number;
  /** When it is over, on the monotonic clock. */
  readonly deadlineMs: number;
  readonly #aborter = new AbortController();

  constructor(response: ServerResponse, timeoutMs: number, clock: Clock) {
    this.cameInAtMs = clock.monotonicMs();
    this.deadlineMs = this.cameInAtMs + timeoutMs;
    const timer = setTimeout(() => {
      this.#aborter.abort(new DeadlineExceeded());
    }, timeoutMs);
    response.once('close', () => {
      clearTimeout(timer);
      if (!response.writableFinished) this.#aborter.abort(new CallerGone());
    });
  }

  /** Aborted when the caller hangs up and when the time is over. */
  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  /**
   * What `work` comes to; `undefined` when the life ends first, and `graceMs` later it has still come to
   * nothing. Whatever hangs goes on hanging, but no request waits for it.
   */
  async within<T>(work: Promise<T>, graceMs = 0): Promise<T | undefined> {
    const over = Promise.withResolvers<undefined>();
    let grace: NodeJS.Timeout | undefined;
    const end = (): void => {
      grace = setTimeout(over.resolve, graceMs, undefined);
    };
    if (this.signal.aborted) end();
    else this.signal.addEventListener('abort', end, { once: true });
    try {
      return await Promise.race([work, over.promise]);
    } finally {
      this.signal.removeEventListener('abort', end);
      clearTimeout(grace);
    }
  }
}
