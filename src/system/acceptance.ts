import type { Clock } from './clock.ts';

/** The most time that connections may have ahead: enough to accept a few hundred that come at once. */
const MAX_AHEAD_MS = 20;

/**
 * When connections go before work that has not begun. Node accepts one a turn of the event loop, and the deadline of a
 * request begins only then: while turns were long, those of a crowd waited for ten seconds to be accepted.
 *
 * In a row they take half of the time at most, so that connections without a request hold up nobody for long.
 */
export class Acceptance {
  readonly #clock: Clock;
  /** How long connections may still go first; it grows while they do not. */
  #aheadMs = 0;
  #lookedAtMs = -Infinity;
  #hasAccepted = false;
  /** Whether they went first when that was last looked at. */
  isFirst = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be called for each connection: further ones may wait. */
  accepted(): void {
    this.#hasAccepted = true;
  }

  /** Whether the connections that may wait go first in this turn; to be called once a turn, while a request waits. */
  goesFirst(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const passedMs = nowMs - this.#lookedAtMs;
    this.#lookedAtMs = nowMs;
    this.#aheadMs = this.isFirst
      ? this.#aheadMs - passedMs
      : Math.min(MAX_AHEAD_MS, this.#aheadMs + passedMs);
    this.isFirst = this.#hasAccepted && this.#aheadMs > 0;
    this.#hasAccepted = false;
    return this.isFirst;
  }
}
