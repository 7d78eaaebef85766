import type { Clock } from '../../src/system/clock.ts';

/** Time that passes when it is slept through; handed to the operator as well, it passes for both. */
export class PassingTime implements Clock {
  #nowMs = Date.now();

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  /** Nothing takes too long. */
  after(): () => void {
    return () => undefined;
  }

  sleep(ms: number): Promise<void> {
    this.#nowMs += ms;
    return Promise.resolve();
  }
}
