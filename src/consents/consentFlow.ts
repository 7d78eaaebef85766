import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { lookupFailed } from '../lookups/lookupRoute.ts';
import { SharedStateLost } from '../sharedState/sharedStateLost.ts';
import { LOOK_AGAIN_MS, nextStep, pendingFailure } from './consentView.ts';
import { ConsentExchanges, type ExchangeParts, type Progress } from './consentExchanges.ts';
import { ConsentLedger, type ConsentSnapshot } from './consentLedger.ts';
import type { ConsentOperator } from './consentOperator.ts';
import { knownFrom, Waiters, type Waiter } from './consentWaiters.ts';

export interface ConsentFlowParts extends ExchangeParts {
  /** By their identities: those that can be polled. */
  readonly operators: ReadonlyMap<string, ConsentOperator>;
  /** By caller key, those for which something is under way: each takes itself out. */
  readonly flows: Map<string, ConsentFlow>;
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
  /** Resolves when the record was read once, and what it says was told: no patience ends before. */
  readonly looked: Promise<void>;
  readonly #resolveLooked: () => void;
  readonly #callerKey: string;
  readonly #parts: ConsentFlowParts;
  readonly #waiters: Waiters;
  readonly #ledger: ConsentLedger;
  readonly #exchanges: ConsentExchanges;
  #sleeping = new AbortController();
  #running: Promise<void> | undefined;

  /** @param callerKey as {@link hashedCallerKey} names it */
  constructor(number: PhoneNumber, callerKey: string, parts: ConsentFlowParts) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.looked = promise;
    this.#resolveLooked = resolve;
    this.#callerKey = callerKey;
    this.#parts = parts;
    this.#waiters = new Waiters(parts.factCache);
    this.#ledger = new ConsentLedger(number, callerKey, parts);
    this.#exchanges = new ConsentExchanges(number, parts, this.#ledger, this.#waiters);
  }

  /** Resolves when no request waits and nothing is under way; never rejects. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  join(waiter: Waiter): void {
    this.#waiters.add(waiter);
    // What is known may answer the new waiter.
    this.#sleeping.abort();
    this.#running ??= this.#run();
  }

  /** A waiter waits no more, and is told what its caller may know of the consent. */
  leave(waiter: Waiter): void {
    this.#waiters.remove(waiter);
    if (this.#waiters.first === undefined) this.#sleeping.abort();
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
      this.#resolveLooked();
      this.#running = undefined;
      this.#parts.flows.delete(this.#callerKey);
    }
  }

  async #step(cause: Waiter): Promise<Progress> {
    const { operator } = cause;
    const page = await this.#ledger.page(operator);
    if (page.lost !== undefined) {
      if (await this.#waiters.tellKept(cause)) return 'told';
      const written = await this.#ledger.restore(page, page.lost, operator);
      return typeof written === 'string' ? this.#sleep(LOOK_AGAIN_MS) : 'wrote';
    }

    const { departures } = this.#waiters;
    if (this.#waiters.mayFindKept(cause, page) && (await this.#waiters.tellKept(cause)))
      return 'told';
    const expiredIds = await this.#waiters.tellRecorded(page);
    if (expiredIds.length > 0) await this.#ledger.markTold(page, expiredIds);
    if (this.#waiters.departures > departures) return 'told';
    // Another request may have come while the one with the pending step has left.
    const { first } = this.#waiters;
    // The page has the refusals of the earlier waiter's operator.
    if (first !== undefined && first.operator !== operator) return 'slept';
    if (first !== undefined) return this.#follow(first, page);
    return knownFrom(page, cause) === undefined ? this.#follow(cause, page) : 'told';
  }

  async #follow(cause: Waiter, page: ConsentSnapshot): Promise<Progress> {
    const { clock, operators } = this.#parts;
    const { prompt } = page.view;
    const next = nextStep(prompt, page.nowMs);
    this.#resolveLooked();
    switch (next.step) {
      case 'request':
        return !this.#waiters.hasRecalled(cause, page) && (await this.#waiters.tellKept(cause))
          ? 'told'
          : this.#exchanges.request(cause, page);
      case 'poll': {
        const operator = operators.get(next.pending.operator);
        if (operator === undefined) throw new Error('A consent of an unknown operator is due.');
        return this.#exchanges.poll(cause, page, next.pending, operator);
      }
      case 'wait':
        // The page of then may be the one of now: by it the moment has come.
        return this.#sleep(next.untilMs - page.time.atLeast(clock.monotonicMs()));
      case 'answer-pending':
        return this.#waiters.fail(pendingFailure(prompt, page.nowMs, clock.nowMs()));
      case 'fail':
        return this.#waiters.fail(next.failure);
    }
  }

  /** Until then, or until a request joins or the last one leaves. */
  async #sleep(ms: number): Promise<Progress> {
    if (this.#waiters.first === undefined) return 'told';
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
