/** Work that ends early when a signal is aborted. */
export interface Abortable {
  abort(): void;
}

/**
 * Tells many that a signal is aborted, by one listener on it. A signal looks through all the listeners
 * that it has for each that is added: a thousand exchanges of one request would take a million looks.
 */
export class AbortListeners {
  readonly #bySignal = new WeakMap<AbortSignal, Set<Abortable>>();

  /** Each that is in it when the signal is aborted is aborted too. */
  of(signal: AbortSignal): Set<Abortable> {
    const known = this.#bySignal.get(signal);
    if (known !== undefined) return known;
    const listeners = new Set<Abortable>();
    this.#bySignal.set(signal, listeners);
    signal.addEventListener('abort', abortAll(listeners), { once: true });
    return listeners;
  }
}

function abortAll(listeners: ReadonlySet<Abortable>): () => void {
  return () => {
    for (const listener of listeners) listener.abort();
  };
}
