/**
 * One direction of one connection: what it is given happens as long after as the way takes, and in order.
 * Node's timers are exact to a millisecond; what is due within half of one happens with what is due now.
 */
export class Lane {
  readonly #waiting: { readonly dueMs: number; readonly act: () => void }[] = [];
  #lastDueMs = 0;
  #isArmed = false;

  /** Lets this happen at this time by `performance.now()`, and not before what was given before it. */
  at(dueMs: number, act: () => void): void {
    this.#lastDueMs = Math.max(this.#lastDueMs, dueMs);
    this.#waiting.push({ dueMs: this.#lastDueMs, act });
    if (!this.#isArmed) this.#arm();
  }

  #arm(): void {
    const [next] = this.#waiting;
    this.#isArmed = next !== undefined;
    if (next !== undefined) {
      setTimeout(() => this.#release(), Math.max(0, next.dueMs - performance.now()));
    }
  }

  #release(): void {
    const nowMs = performance.now() + 0.5;
    const firstLater = this.#waiting.findIndex(({ dueMs }) => dueMs > nowMs);
    const due = this.#waiting.splice(0, firstLater < 0 ? this.#waiting.length : firstLater);
    for (const { act } of due) act();
    this.#arm();
  }
}
