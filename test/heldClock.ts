/**
 * The machine's wall clock, which stands still from so many milliseconds after its start until it is let go.
 * To a simulator it says when an owner answers: not before a test is ready for it, however slow the machine is.
 */
export class HeldClock {
  readonly #heldAtMs: number;
  #isHeld = true;

  constructor(runsForMs: number) {
    this.#heldAtMs = Date.now() + runsForMs;
  }

  readonly nowMs = (): number => (this.#isHeld ? Math.min(Date.now(), this.#heldAtMs) : Date.now());

  letGo(): void {
    this.#isHeld = false;
  }
}
