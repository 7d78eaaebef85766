/** Work that ends early when a signal is aborted. */
export interface Abortable {
  abort(): void;
}

/**
 * An AbortController and its signal in one, for a request and for each of its very many lookups: an EventTarget
 * would hold half a kilobyte more for each, and look through all its listeners for each that is added.
 */
export class LightAbortSignal {
  /** Most have no more than one at a time. */
  #listener: Abortable | undefined;
  #others: Set<Abortable> | undefined;
  /** Set by {@link abort} alone, as its reason is. */
  aborted = false;
  reason: unknown;

  /** Once: a signal that is aborted stays so, for its first reason. */
  abort(reason?: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.#listener?.abort();
    for (const listener of this.#others ?? []) listener.abort();
  }

  add(listener: Abortable): void {
    if (this.#listener === undefined) this.#listener = listener;
    else (this.#others ??= new Set()).add(listener);
  }

  delete(listener: Abortable): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#others?.delete(listener);
  }

  /** What work comes to, or `undefined` when this is aborted first. The work goes on. */
  async unlessAborted<T>(work: Promise<T>): Promise<T | undefined> {
    if (this.aborted) {
      work.catch(() => undefined);
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const waiting: Abortable = { abort: () => resolve(undefined) };
    this.add(waiting);
    try {
      return await Promise.race([work, promise]);
    } finally {
      this.delete(waiting);
    }
  }

  /** The signal for what takes an AbortSignal alone. */
  asAbortSignal(): AbortSignal {
    const aborter = new AbortController();
    const abort = (): void => aborter.abort(this.reason);
    if (this.aborted) abort();
    else this.add({ abort });
    return aborter.signal;
  }
}
