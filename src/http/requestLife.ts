import type { Clock } from '../system/clock.ts';
import { LightAbortSignal } from './lightAbortSignal.ts';

/** The request's time is over: `REQUEST_TIMEOUT_MS`. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/** The client has closed its connection. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';
}

/** The time that one request has. Its timer runs only between {@link begin} and {@link pause}. */
export class RequestLife {
  readonly timeoutMs: number;
  /** When the request came in, on the monotonic clock. */
  readonly cameInAtMs: number;
  /** When it is over, on the monotonic clock. */
  readonly deadlineMs: number;
  /** Aborted when the caller hangs up and when the time is over. */
  readonly signal = new LightAbortSignal();
  readonly #clock: Clock;
  readonly #given: AbortSignal | undefined;
  /** One for all that a request waits for: a listener for each would cost more than the rest of this. */
  readonly #over = Promise.withResolvers<undefined>();
  #timer: NodeJS.Timeout | undefined;
  #begun = 0;

  /** @param given ends it as well, while it runs */
  constructor(timeoutMs: number, clock: Clock, given?: AbortSignal) {
    this.timeoutMs = timeoutMs;
    this.cameInAtMs = clock.monotonicMs();
    this.deadlineMs = this.cameInAtMs + timeoutMs;
    this.#clock = clock;
    this.#given = given;
  }

  /** Something is under way: until as many {@link pause} the request can end. */
  begin(): void {
    this.#begun += 1;
    if (this.#begun > 1 || this.signal.aborted) return;
    const leftMs = this.deadlineMs - this.#clock.monotonicMs();
    if (this.#given?.aborted === true) this.hangUp();
    else if (leftMs <= 0) this.#timeOut();
    else {
      this.#timer = setTimeout(this.#timeOut, Math.ceil(leftMs));
      // What is under way keeps the process alive, and not the time that it has left.
      this.#timer.unref();
      this.#given?.addEventListener('abort', this.hangUp, { once: true });
    }
  }

  pause(): void {
    this.#begun -= 1;
    if (this.#begun > 0) return;
    clearTimeout(this.#timer);
    this.#given?.removeEventListener('abort', this.hangUp);
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

  readonly hangUp = (): void => this.#end(new CallerGone());
  readonly #timeOut = (): void => this.#end(new DeadlineExceeded());

  #end(reason: Error): void {
    this.signal.abort(reason);
    this.#over.resolve(undefined);
  }
}

function elapsed(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, undefined).unref();
  });
}
