/** Work that ends early when a signal is aborted. */
export interface Abortable {
  abort(): void;
}

/** A request's own signal, or that of a lookup which several requests share. */
export type AnyAbortSignal = AbortSignal | LightAbortSignal;

/**
 * An AbortController and its signal in one, for one of very many lookups: an EventTarget would hold half a
 * kilobyte more for each.
 */
export class LightAbortSignal {
  /** Each that is in it when the signal is aborted is aborted too. */
  readonly listeners = new Set<Abortable>();
  #isAborted = false;
  #reason: unknown;

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** Once: a signal that is aborted stays so, for its first reason. */
  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    abortAll(this.listeners);
  }
}

/** The signal for what takes an AbortSignal alone. */
export function asAbortSignal(signal: AnyAbortSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const aborter = new AbortController();
  const abort = (): void => aborter.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.listeners.add({ abort });
  return aborter.signal;
}

/**
 * Tells many that a signal is aborted, by one listener on it. A signal looks through all the listeners
 * that it has for each that is added: a thousand exchanges of one request would take a million looks.
 */
export class AbortListeners {
  readonly #bySignal = new WeakMap<AbortSignal, Set<Abortable>>();

  /** Each that is in it when the signal is aborted is aborted too. */
  of(signal: AnyAbortSignal): Set<Abortable> {
    return signal instanceof LightAbortSignal ? signal.listeners : this.#onceOf(signal);
  }

  /** What work comes to, or `undefined` when the signal is aborted first. The work goes on. */
  async unlessAborted<T>(work: Promise<T>, signal: AnyAbortSignal): Promise<T | undefined> {
    if (signal.aborted) {
      work.catch(() => undefined);
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const waiting: Abortable = { abort: () => resolve(undefined) };
    const listeners = this.of(signal).add(waiting);
    try {
      return await Promise.race([work, promise]);
    } finally {
      listeners.delete(waiting);
    }
  }

  #onceOf(signal: AbortSignal): Set<Abortable> {
    const known = this.#bySignal.get(signal);
    if (known !== undefined) return known;
    const listeners = new Set<Abortable>();
    this.#bySignal.set(signal, listeners);
    signal.addEventListener('abort', () => abortAll(listeners), { once: true });
    return listeners;
  }
}

function abortAll(listeners: ReadonlySet<Abortable>): void {
  for (const listener of listeners) listener.abort();
}
