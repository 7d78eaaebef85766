interface Waiter {
  readonly signal: { readonly aborted: boolean };
  readonly begin: () => void;
}

/**
 * One request a turn of the event loop, and of those that wait one of each caller after the other: however many requests
 * a caller has, another one's waits for as many as there are callers.
 */
export class Turns {
  /** The callers in the order of their turns. */
  readonly #waiting = new Map<string, Waiter[]>();
  #isTaken = false;

  /** `undefined` where the turn is free: a promise takes the request out of it. */
  take(caller: string, signal: Waiter['signal']): Promise<void> | undefined {
    if (!this.#isTaken) {
      this.#isTaken = true;
      setImmediate(this.#next);
      return undefined;
    }
    const { promise, resolve: begin } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(caller);
    if (waiting === undefined) this.#waiting.set(caller, [{ signal, begin }]);
    else waiting.push({ signal, begin });
    return promise;
  }

  readonly #next = (): void => {
    for (const [caller, waiting] of this.#waiting) {
      const first = waiting.shift();
      this.#waiting.delete(caller);
      if (waiting.length > 0) this.#waiting.set(caller, waiting);
      if (first === undefined) continue;
      first.begin();
      if (first.signal.aborted) continue;
      setImmediate(this.#next);
      return;
    }
    this.#isTaken = false;
  };
}
