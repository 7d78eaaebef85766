/** Does a few things of one kind in a turn of the event loop, and the others in the next turns, in order. */
export class PerTurn {
  readonly #most: number;
  readonly #isHeld: () => boolean;
  readonly #waiting: (() => void)[] = [];
  #done = 0;
  #isScheduled = false;

  /**
   * @param most in one turn
   * @param isHeld whether none is done in this turn
   */
  constructor(most: number, isHeld: () => boolean = () => false) {
    this.#most = most;
    this.#isHeld = isHeld;
  }

  /** Calls `act` now, or in the first turn that has room for it. */
  call(act: () => void): void {
    this.#schedule();
    if (this.#waiting.length > 0 || this.#done === this.#most || this.#isHeld()) {
      this.#waiting.push(act);
      return;
    }
    this.#done += 1;
    act();
  }

  #schedule(): void {
    if (!this.#isScheduled) setImmediate(this.#turn);
    this.#isScheduled = true;
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    this.#done = 0;
    if (this.#waiting.length === 0) return;
    this.#schedule();
    if (this.#isHeld()) return;
    while (this.#done < this.#most && this.#waiting.length > 0) {
      this.#done += 1;
      this.#waiting.shift()?.();
    }
  };
}
