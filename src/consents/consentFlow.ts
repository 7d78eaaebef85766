import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { lookupFailed } from '../lookups/lookupRoute.ts';
import { SharedStateLost } from '../sharedState/sharedStateLost.ts';
import { LOOK_AGAIN_MS, nextStep, pendingFailure } from './consentView.ts';
import { ConsentExchanges, type Progress } from './consentExchanges.ts';
import { ConsentLedger, type ConsentSnapshot, type LedgerParts } from './consentLedger.ts';
import { ConsentNotifier, type NotifierParts } from './consentNotifier.ts';
import type { ConsentOperator } from './consentOperator.ts';
import { Waiters, type Waiter } from './consentWaiters.ts';

export interface ConsentFlowParts extends LedgerParts, NotifierParts {
  /** By their identities. */
  readonly operators: ReadonlyMap<string, ConsentOperator>;
}

/**
 * Pursues consent about one number for the requests of one caller, as long as one of them waits: at the operator that the
 * record names, and where it names none, at the one that the request is to ask.
 *
 * The record in the store is the truth; how the caller stands to it says the next step, which is taken
 * here. Every step tells a request, waits, writes, or makes an exchange: none comes to nothing, so the
 * flow cannot spin.
 */
export class ConsentFlow {
  readonly #parts: ConsentFlowParts;
  readonly #waiters = new Waiters();
  readonly #ledger: ConsentLedger;
  readonly #notifier: ConsentNotifier;
  readonly #number: PhoneNumber;
  readonly #looked = Promise.withResolvers<void>();
  #sleeping = new AbortController();
  #running: Promise<void> | undefined;

  /** @param callerKey as {@link hashedCallerKey} names it */
  constructor(number: PhoneNumber, callerKey: string, parts: ConsentFlowParts) {
    this.#number = number;
    this.#parts = parts;
    this.#ledger = new ConsentLedger(number, callerKey, parts);
    this.#notifier = new ConsentNotifier(this.#waiters, parts);
  }

  get isIdle(): boolean {
    return this.#running === undefined;
  }

  /** Resolves when the record was read once, and what it says was told: no patience ends before. */
  get looked(): Promise<void> {
    return this.#looked.promise;
  }

  /** Adds a waiter. Resolves when no request waits and nothing is under way; never rejects. */
  join(waiter: Waiter): Promise<void> {
    this.#waiters.add(waiter);
    // What is known may answer the new waiter.
    this.#sleeping.abort();
    this.#running ??= this.#run();
    return this.#running;
  }

  /** A waiter waits no more, and is told what its caller may know of the consent. */
  leave(waiter: Waiter): void {
    this.#waiters.remove(waiter);
    if (this.#waiters.isEmpty) this.#sleeping.abort();
    waiter.settle(lookupFailed(waiter.wanted, this.#ledger.failureNow()));
  }

  async #run(): Promise<void> {
    try {
      for (;;) {
        const { departures } = this.#waiters;
        const cause = this.#waiters.takeCause();
        if (cause === undefined) return;
        const progress = await this.#step(cause);
        if (progress === 'told' && this.#waiters.departures === departures) {
          throw new Error('A step of a consent came to nothing.');
        }
      }
    } catch (error) {
      if (error instanceof SharedStateLost) this.#waiters.fail(this.#ledger.failureWithoutStore());
      else this.#waiters.reject(error);
    } finally {
      this.#looked.resolve();
      this.#running = undefined;
    }
  }

  async #step(cause: Waiter): Promise<Progress> {
    const { operator } = cause;
    const page = await this.#ledger.page(operator);
    if (page.lost !== undefined) {
      if (await this.#notifier.tellKept(cause)) return 'told';
      const written = await this.#ledger.restore(page, page.lost, operator);
      return typeof written === 'string' ? this.#sleep(LOOK_AGAIN_MS) : 'wrote';
    }

    const { departures } = this.#waiters;
    if (this.#notifier.mayFindKept(cause, page) && (await this.#notifier.tellKept(cause)))
      return 'told';
    const expiredIds = await this.#notifier.tellRecorded(page);
    if (expiredIds.length > 0) await this.#ledger.markTold(page, expiredIds);
    if (this.#waiters.departures > departures) return 'told';
    // Another request may have come while the one with the pending step has left.
    const { first } = this.#waiters;
    // The page has the refusals of the earlier waiter's operator.
    if (first !== undefined && first.operator !== operator) return 'slept';
    if (first !== undefined) return this.#follow(first, page);
    return this.#notifier.isKnownTo(cause, page) ? 'told' : this.#follow(cause, page);
  }

  async #follow(cause: Waiter, page: ConsentSnapshot): Promise<Progress> {
    const { prompt } = page.view;
    const next = nextStep(prompt, page.nowMs);
    this.#looked.resolve();
    switch (next.step) {
      case 'request':
        return !this.#notifier.hasRecalled(cause, page) && (await this.#notifier.tellKept(cause))
          ? 'told'
          : this.#exchangesAt(cause.operator).request(cause, page);
      case 'poll': {
        const { pending } = next;
        const operator = this.#parts.operators.get(pending.operator);
        if (operator === undefined) throw new Error('A consent of an unknown operator is due.');
        return this.#exchangesAt(operator).poll(cause, page, pending);
      }
      case 'wait': {
        // The page of then may be the one of now: by it the moment has come.
        const { clock } = this.#parts;
        return this.#sleep(next.untilMs - page.time.atLeast(clock.monotonicMs()));
      }
      case 'answer-pending':
        this.#waiters.fail(pendingFailure(prompt, page.nowMs, this.#parts.clock.nowMs()));
        return 'told';
      case 'fail':
        this.#waiters.fail(next.failure);
        return 'told';
    }
  }

  #exchangesAt(operator: ConsentOperator): ConsentExchanges {
    return new ConsentExchanges(this.#number, operator, this.#parts, {
      ledger: this.#ledger,
      waiters: this.#waiters,
      notifier: this.#notifier,
    });
  }

  /** Until then, or until a request joins or the last one leaves. */
  async #sleep(ms: number): Promise<Progress> {
    if (this.#waiters.isEmpty) return 'told';
    this.#sleeping = new AbortController();
    const { signal } = this.#sleeping;
    const { clock } = this.#parts;
    const wakesAtMs = clock.monotonicMs() + Math.max(1, ms);
    // A timer may be early by less than a millisecond.
    do await clock.sleep(wakesAtMs - clock.monotonicMs(), signal).catch(() => undefined);
    while (!signal.aborted && clock.monotonicMs() < wakesAtMs);
    return 'slept';
  }
}
