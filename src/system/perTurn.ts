/** Does a few things of one kind in a turn of the event loop, and the others in the next turns, in order. */
export class PerTurn {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #done = 0;

  /** @param most in one turn */
  constructor(most: number) {
    this.#most = most;
  }

  /** Calls `act` now, or in the first turn that has room for it. */
  call(act: () => void): void {
    if (this.#done === this.#most) {
      this.#waiting.push(act);
      return;
    }
    if (this.#done === 0) setImmediate(this.#turn);
    this.#done += 1;
    act();
  }

  readonly #turn = (): void => {
    this.#done = 0;
    for (let left = Math.min(this.#most, this.#waiting.length); left > 0; left -= 1) {
      const act = this.#waiting.shift();
      if (act !== undefined) this.call(act);
    }
  };
}
