import type { Clock } from '../system/clock.ts';
import { CallerGone, DeadlineExceeded } from '../http/abortReasons.ts';
import type { FieldAnswer, SimSwapLoader } from '../simSwaps/simSwapLoader.ts';

/** As `REQUEST_TIMEOUT_MS`. A timer takes little more, and fires at once for what it does not take. */
const MAX_TIMEOUT_MS = 300_000;

/** What is asked of a request whose time is over. */
const OVER: FieldAnswer = {
  kind: 'failure',
  failure: { code: 'OPERATOR_TIMEOUT', reach: 'number' },
};

/**
 * The time that one request of another program has. Nobody says when such a request ends: the operations of a batch
 * share one. So its timer and its listener are there only while something is asked.
 */
export class EmbeddedLife {
  /** On the monotonic clock. */
  readonly cameInAtMs: number;
  readonly deadlineMs: number;
  readonly #clock: Clock;
  readonly #given: AbortSignal | undefined;
  readonly #aborter = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #answering = 0;

  /**
   * @param given ends it as well, as when a client hangs up
   * @throws {RangeError} when that is no time, or too long
   */
  constructor(timeoutMs: number, clock: Clock, given: AbortSignal | undefined) {
    if (!(timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS)) {
      throw new RangeError(`timeoutMs is a number from 1 to ${MAX_TIMEOUT_MS}.`);
    }
    this.cameInAtMs = clock.monotonicMs();
    this.deadlineMs = this.cameInAtMs + timeoutMs;
    this.#clock = clock;
    this.#given = given;
  }

  /** Aborted when the time is over, and by the signal that was given. */
  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  /** A loader that answers as long as the request lives: after it, not even what the request has learned. */
  bound(loader: SimSwapLoader): SimSwapLoader {
    return {
      answer: async (number, ask) => {
        this.#begin();
        try {
          if (this.signal.aborted) return OVER;
          const answer = await loader.answer(number, ask);
          // There is no reply to wait for: the answer is here.
          loader.told();
          return answer;
        } finally {
          this.#end();
        }
      },
      told: () => loader.told(),
    };
  }

  #begin(): void {
    this.#answering += 1;
    if (this.#answering > 1 || this.signal.aborted) return;
    const leftMs = this.deadlineMs - this.#clock.monotonicMs();
    if (this.#given?.aborted === true) this.#hangUp();
    else if (leftMs <= 0) this.#timeOut();
    else {
      this.#timer = setTimeout(this.#timeOut, leftMs);
      // What is asked keeps the process alive, and not the time that it has left.
      this.#timer.unref();
      this.#given?.addEventListener('abort', this.#hangUp, { once: true });
    }
  }

  #end(): void {
    this.#answering -= 1;
    if (this.#answering > 0) return;
    clearTimeout(this.#timer);
    this.#given?.removeEventListener('abort', this.#hangUp);
  }

  readonly #timeOut = (): void => this.#aborter.abort(new DeadlineExceeded());
  readonly #hangUp = (): void => this.#aborter.abort(new CallerGone());
}
