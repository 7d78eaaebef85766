import type { Clock } from './clock.ts';
import type { Correlator } from './correlator.ts';
import type { PerTurn } from './perTurn.ts';

export interface Urgency {
  /** On the monotonic clock; becomes later when more requests join shared work. */
  readonly deadlineMs: number;
  readonly signal?: LightAbortSignal | undefined;
  /** Set where more requests may join: then only the signal ends an exchange under way. */
  readonly isShared?: boolean | undefined;
}

export interface Abortable {
  abort(): void;
}

/**
 * An AbortController and its signal in one, for a request and for each of its many lookups: an EventTarget takes half a
 * kilobyte more, and searches all its listeners for each one added.
 */
export class LightAbortSignal {
  /** Most signals have at most one listener at a time. */
  #listener: Abortable | undefined;
  #others: Set<Abortable> | undefined;
  aborted = false;
  reason: unknown;

  /** Works once: an aborted signal stays so, for its first reason. */
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

  /** `undefined` when this is aborted first; the work continues. */
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

  asAbortSignal(): AbortSignal {
    const aborter = new AbortController();
    const abort = (): void => aborter.abort(this.reason);
    if (this.aborted) abort();
    else this.add({ abort });
    return aborter.signal;
  }
}

/** The request's deadline has passed: `REQUEST_TIMEOUT_MS`. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

export class CallerGone extends Error {
  override readonly name = 'CallerGone';
}

/** The time that one request has. Its timer runs only between {@link begin} and {@link pause}. */
export class RequestLife {
  readonly timeoutMs: number;
  /** Both are on the monotonic clock. */
  readonly cameInAtMs: number;
  readonly deadlineMs: number;
  /** Aborted when the caller hangs up and when the deadline passes. */
  readonly signal = new LightAbortSignal();
  readonly #clock: Clock;
  readonly #given: AbortSignal | undefined;
  readonly #deadlines: PerTurn | undefined;
  /** Ends the wait for the work under way. */
  #stopWaiting: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #begun = 0;

  /**
   * @param given another signal that ends it, while it runs
   * @param deadlines of all requests: those that came at once do not end in one turn of the event loop
   */
  constructor(timeoutMs: number, clock: Clock, given?: AbortSignal, deadlines?: PerTurn) {
    this.timeoutMs = timeoutMs;
    this.cameInAtMs = clock.monotonicMs();
    this.deadlineMs = this.cameInAtMs + timeoutMs;
    this.#clock = clock;
    this.#given = given;
    this.#deadlines = deadlines;
  }

  /** Work is under way: the request can end until {@link pause} was called as often. */
  begin(): void {
    this.#begun += 1;
    if (this.#begun > 1 || this.signal.aborted) return;
    const leftMs = this.deadlineMs - this.#clock.monotonicMs();
    if (this.#given?.aborted === true) this.hangUp();
    else if (leftMs <= 0) RequestLife.#timeOut(this);
    else {
      this.#timer = setTimeout(RequestLife.#timeOut, Math.ceil(leftMs), this);
      // The work under way keeps the process alive, not this timer.
      this.#timer.unref();
      this.#given?.addEventListener('abort', this, { once: true });
    }
  }

  get isUnderWay(): boolean {
    return this.#begun > 0;
  }

  pause(): void {
    this.#begun -= 1;
    if (this.isUnderWay) return;
    clearTimeout(this.#timer);
    this.#given?.removeEventListener('abort', this);
  }

  /**
   * The result of `work`; `undefined` where it is still missing `graceMs` after the life has ended. The work continues
   * without a waiter. One call at a time.
   */
  within<T>(work: Promise<T>, graceMs = 0): Promise<T | undefined> {
    // By hand: a race would take twice as many promises.
    const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
    work.then(resolve, reject);
    this.#stopWaiting = () => {
      if (graceMs === 0) resolve(undefined);
      else setTimeout(resolve, graceMs, undefined).unref();
    };
    if (this.signal.aborted) this.#stopWaiting();
    return promise;
  }

  hangUp(): void {
    this.#end(new CallerGone());
  }

  handleEvent(): void {
    this.hangUp();
  }

  static #timeOut(this: void, life: RequestLife): void {
    const end = (): void => {
      if (life.#begun > 0) life.#end(new DeadlineExceeded());
    };
    if (life.#deadlines === undefined) end();
    else life.#deadlines.call(end);
  }

  #end(reason: Error): void {
    this.signal.abort(reason);
    this.#stopWaiting?.();
  }
}

/** The part of a request that shared work takes over. */
export interface Sharing extends Urgency {
  readonly correlator: Correlator;
}

/** A class: closures would take more memory than the rest of a waiter. */
class Waiter<T> implements Abortable {
  readonly signal: LightAbortSignal | undefined;
  readonly resolve: (outcome: T | Promise<T>) => void;
  readonly #work: SharedWork<T>;

  constructor(
    work: SharedWork<T>,
    signal: LightAbortSignal | undefined,
    resolve: (outcome: T | Promise<T>) => void,
  ) {
    this.#work = work;
    this.signal = signal;
    this.resolve = resolve;
  }

  abort(): void {
    this.#work.leave(this);
    this.resolve(this.#work.late);
  }
}

/**
 * Work with several waiters. It has as much time as the waiter with the latest deadline, and is aborted when the last
 * one has gone.
 */
export class SharedWork<T> implements Sharing {
  readonly signal = new LightAbortSignal();
  readonly isShared = true;
  /** The first waiter's: the work is traced to it, but does not end with it. */
  readonly correlator: Correlator;
  /** The latest deadline of all that have joined. */
  deadlineMs: number;
  late: T;
  /** Replaced, not pushed to: most work has one waiter, and a growing list reserves room for seventeen. */
  #waiters: readonly Waiter<T>[] = [];
  #outcome: T | Promise<T> | undefined;

  /** @param late the outcome for a waiter whose own signal is aborted first */
  constructor({ correlator, deadlineMs }: Sharing, late: T) {
    this.late = late;
    this.correlator = correlator;
    this.deadlineMs = deadlineMs;
  }

  outcomeFor({ deadlineMs, signal }: Urgency): Promise<T> {
    if (this.#outcome !== undefined) return Promise.resolve(this.#outcome);
    this.deadlineMs = Math.max(this.deadlineMs, deadlineMs);
    // By hand: a race would hold twice as much for each of a thousand numbers.
    const { promise, resolve } = Promise.withResolvers<T>();
    const waiter = new Waiter(this, signal, resolve);
    this.#waiters = [...this.#waiters, waiter];
    if (signal?.aborted === true) waiter.abort();
    else signal?.add(waiter);
    return promise;
  }

  settle(outcome: T | Promise<T>): void {
    this.#outcome = outcome;
    for (const waiter of this.#waiters) {
      waiter.signal?.delete(waiter);
      waiter.resolve(outcome);
    }
  }

  leave(waiter: Waiter<T>): void {
    this.#waiters = this.#waiters.filter((other) => other !== waiter);
    if (this.#waiters.length === 0) this.signal.abort(waiter.signal?.reason);
  }
}

/** Shared work by key: work under way is joined, and begun again once its last waiter has gone. */
export class WorkByKey<K, T> {
  readonly #underWay = new Map<K, SharedWork<T>>();

  /** `late` when the request ends first. */
  join(key: K, request: Sharing, late: T, begin: (work: Sharing) => Promise<T>): Promise<T> {
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined && !underWay.signal.aborted) {
      return underWay.outcomeFor(request);
    }
    const work = new SharedWork<T>(request, late);
    this.#underWay.set(key, work);
    const outcome = begin(work);
    const end = (): void => {
      work.settle(outcome);
      if (this.#underWay.get(key) === work) this.#underWay.delete(key);
    };
    outcome.then(end, end);
    return work.outcomeFor(request);
  }
}
