/** What the operator saw, and what must never have happened. */
export class History {
  exchanges = 0;
  lookups = 0;
  tokensSeenTwice = 0;
  tokensPastTheirEnd = 0;
  numbersOfOthers = 0;
  tokensOnAnotherSubject = 0;
  promptsWhileOneLived = 0;
  readonly faults = new Map<string, number>();
  readonly #spent = new Set<string>();
  readonly #billed = new Map<string, number>();
  readonly #promptsUntilMs = new Map<string, number>();

  fault(name: string): void {
    this.faults.set(name, (this.faults.get(name) ?? 0) + 1);
  }

  /** A token was presented. */
  token(value: string): void {
    if (this.#spent.has(value)) this.tokensSeenTwice += 1;
    this.#spent.add(value);
  }

  /** A lookup was made, and will be billed. */
  lookup(correlator: string, question: string): void {
    this.lookups += 1;
    // A request of ours names all its exchanges alike, but for the count at the end.
    const key = `${correlator.replace(/-\d+$/, '')} ${question}`;
    this.#billed.set(key, (this.#billed.get(key) ?? 0) + 1);
  }

  /** An owner was prompted; the prompt lives until then. */
  prompt(number: string, nowMs: number, untilMs: number): void {
    if ((this.#promptsUntilMs.get(number) ?? 0) > nowMs) this.promptsWhileOneLived += 1;
    this.#promptsUntilMs.set(number, untilMs);
  }

  /** The prompt was answered: it lives no more. */
  answered(number: string): void {
    this.#promptsUntilMs.delete(number);
  }

  /** Lookups that one request of ours made twice, though the first may have been billed. */
  get billedTwice(): number {
    return [...this.#billed.values()].reduce((sum, times) => sum + times - 1, 0);
  }
}
