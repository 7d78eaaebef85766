/** Work that ends early when a signal is aborted. */
export interface Abortable {
  abort(): void;
}

/** Each that is in it when a signal is aborted is aborted too. */
export interface Listeners {
  add(listener: Abortable): this;
  delete(listener: Abortable): unknown;
}

/** A request's own signal, or that of a lookup which several requests share. */
export type AnyAbortSignal = AbortSignal | LightAbortSignal;

/**
 * An AbortController and its signal in one, for one of very many lookups: an EventTarget would hold half a
 * kilobyte more for each.
 */
export class LightAbortSignal implements Listeners {
  /** Most have no more than one at a time. */
  #listener: Abortable | undefined;
  #others: Set<Abortable> | undefined;
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
    this.#listener?.abort();
    if (this.#others !== undefined) abortAll(this.#others);
  }

  add(listener: Abortable): this {
    if (this.#listener === undefined) this.#listener = listener;
    else (this.#others ??= new Set()).add(listener);
    return this;
  }

  delete(listener: Abortable): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#others?.delete(listener);
  }
}

/** The signal for what takes an AbortSignal alone. */
export function asAbortSignal(signal: AnyAbortSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const aborter = new AbortController();
  const abort = (): void => aborter.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.add({ abort });
  return aborter.signal;
}

/**
 * Tells many that a signal is aborted, by one listener on it. A signal looks through all the listeners
 * that it has for each that is added: a thousand exchanges of one request would take a million looks.
 */
export class AbortListeners {
  readonly #bySignal = new WeakMap<AbortSignal, Set<Abortable>>();

  /** Each that is in it when the signal is aborted is aborted too. */
  of(signal: AnyAbortSignal): Listeners {
    return signal instanceof LightAbortSignal ? signal : this.#onceOf(signal);
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
