import type { Clock } from '../clock.ts';
import { CallerGone, DeadlineExceeded } from '../http/abortReasons.ts';

/** As `REQUEST_TIMEOUT_MS`. A timer takes little more, and fires at once for what it does not take. */
const MAX_TIMEOUT_MS = 300_000;

/** The time that one request of another program has. */
export class EmbeddedLife {
  /** On the monotonic clock. */
  readonly cameInAtMs: number;
  readonly deadlineMs: number;
  readonly #aborter = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #given: AbortSignal | undefined;

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
    this.#timer = setTimeout(() => this.#abort(new DeadlineExceeded()), timeoutMs);
    // What is asked keeps the process alive, and not the time that it has left.
    this.#timer.unref();
    this.#given = given;
    if (given?.aborted === true) this.#hangUp();
    else given?.addEventListener('abort', this.#hangUp, { once: true });
  }

  /** Aborted when the time is over, and by the signal that was given. */
  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  /** Lets go of the timer and of the signal: nothing is asked any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#given?.removeEventListener('abort', this.#hangUp);
  }

  readonly #hangUp = (): void => this.#abort(new CallerGone());

  #abort(reason: Error): void {
    this.end();
    this.#aborter.abort(reason);
  }
}
