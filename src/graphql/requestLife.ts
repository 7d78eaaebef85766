import type { ServerResponse } from 'node:http';
import type { Clock } from '../system/clock.ts';
import { CallerGone, DeadlineExceeded } from '../http/abortReasons.ts';

/** The time that one request has, from its headers to its answer. */
export class RequestLife {
  /** When the request came in, on the monotonic clock. */
  readonly cameInAtMs: number;
  /** When it is over, on the monotonic clock. */
  readonly deadlineMs: number;
  readonly #aborter = new AbortController();
  /** One for all that a request waits for: a listener for each would cost more than the rest of this. */
  readonly #over = Promise.withResolvers<undefined>();

  constructor(response: ServerResponse, timeoutMs: number, clock: Clock) {
    this.cameInAtMs = clock.monotonicMs();
    this.deadlineMs = this.cameInAtMs + timeoutMs;
    const timer = setTimeout(() => this.#end(new DeadlineExceeded()), timeoutMs);
    response.once('close', () => {
      clearTimeout(timer);
      if (!response.writableFinished) this.#end(new CallerGone());
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
  within<T>(work: Promise<T>, graceMs = 0): Promise<T | undefined> {
    const over =
      graceMs === 0 ? this.#over.promise : this.#over.promise.then(() => elapsed(graceMs));
    return Promise.race([work, over]);
  }

  #end(reason: Error): void {
    this.#aborter.abort(reason);
    this.#over.resolve(undefined);
  }
}

function elapsed(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, undefined).unref();
  });
}
