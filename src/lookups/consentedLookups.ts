import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../errors.ts';
import { consentStatus, type ConsentStatus } from '../tokens/consents/consentStatus.ts';
import { ConsentStoreLost } from '../tokens/consents/consentStore.ts';
import {
  ConsentPursuit,
  factsUnknownTo,
  type PursuitParts,
  type Waiter,
} from './consentPursuit.ts';
import type { Inquiry, LookupOutcome, LookupRoute, TimedFact } from './lookupRoute.ts';

/**
 * 3-legged: every lookup needs the consent of the number's owner, who is asked once for all requests
 * of one caller (design §4, "Consent").
 */
export class ConsentedLookups implements LookupRoute {
  readonly #parts: PursuitParts;
  readonly #waitMs: number;
  readonly #pursuits = new Map<string, ConsentPursuit>();
  readonly #running = new Set<Promise<void>>();
  /** A request's patience counts once for a number, over all the consents that it takes. */
  readonly #patienceEndsAtMs = new WeakMap<Inquiry, number>();

  constructor(parts: PursuitParts, waitMs: number) {
    this.#parts = parts;
    this.#waitMs = waitMs;
  }

  async lookUp(lookup: Lookup, inquiry: Inquiry): Promise<LookupOutcome> {
    const kept = await this.#recall(inquiry).catch(unlessLost);
    if (kept === undefined) return { failed: { lookup, failure: STORE_LOST } };
    if (kept.length > 0) return { facts: kept };

    const outcome = await this.#wait(lookup, inquiry);
    if ('failed' in outcome && outcome.failed.failure.code === 'CONSENT_PENDING') {
      await this.#keep(inquiry).catch(unlessLost);
    }
    return outcome;
  }

  async consent(number: PhoneNumber, caller: string): Promise<ConsentStatus | undefined> {
    const { store, clock } = this.#parts;
    const snapshot = await store.read(number).catch(unlessLost);
    return snapshot === undefined ? undefined : consentStatus(snapshot, caller, clock.nowMs());
  }

  /** What is on the wire for a consent runs to its end: its outcome must be stored. */
  async close(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #wait(lookup: Lookup, inquiry: Inquiry): Promise<LookupOutcome> {
    const { signal } = inquiry.request;
    if (signal.aborted) return { failed: { lookup, failure: OUT_OF_TIME } };

    const { promise, resolve, reject } = Promise.withResolvers<LookupOutcome>();
    const waiter: Waiter = { inquiry, wanted: lookup, settle: resolve, reject };
    const pursuit = this.#join(waiter);

    const settled = new AbortController();
    const patience = this.#parts.clock
      .sleep(this.#patienceLeftMs(inquiry), AbortSignal.any([signal, settled.signal]))
      .catch(() => undefined);
    const outOfPatience = patience.then(() => ({
      failed: { lookup, failure: pursuit.leave(waiter) },
    }));
    try {
      return await Promise.race([promise, outOfPatience]);
    } finally {
      settled.abort();
    }
  }

  #join(waiter: Waiter): ConsentPursuit {
    const { number, request } = waiter.inquiry;
    const key = JSON.stringify([number, request.caller, request.purpose]);
    const pursuit = this.#pursuits.get(key) ?? new ConsentPursuit(waiter, this.#parts);
    this.#pursuits.set(key, pursuit);
    const running = pursuit.join(waiter);
    if (!this.#running.has(running)) {
      this.#running.add(running);
      void this.#forgetAfter(running, key, pursuit);
    }
    return pursuit;
  }

  async #forgetAfter(running: Promise<void>, key: string, pursuit: ConsentPursuit): Promise<void> {
    await running;
    this.#running.delete(running);
    if (pursuit.isIdle) this.#pursuits.delete(key);
  }

  #patienceLeftMs(inquiry: Inquiry): number {
    const nowMs = this.#parts.clock.monotonicMs();
    const endsAtMs = this.#patienceEndsAtMs.get(inquiry) ?? nowMs + this.#waitMs;
    this.#patienceEndsAtMs.set(inquiry, endsAtMs);
    return Math.max(0, endsAtMs - nowMs);
  }

  async #recall(inquiry: Inquiry): Promise<readonly TimedFact[]> {
    const { number, request } = inquiry;
    const kept = await this.#parts.keptFacts.recall(request, number, request.cameInAtMs);
    return factsUnknownTo(inquiry, kept);
  }

  /** What earlier consents told is wanted again by the request that comes back for the next one. */
  async #keep({ number, request, facts }: Inquiry): Promise<void> {
    const { keptFacts } = this.#parts;
    await Promise.all(facts.map((fact) => keptFacts.keep(request, number, fact, false)));
  }
}

/** A shared store that cannot be asked is no reason to break; what needed it is done without. */
function unlessLost(error: unknown): undefined {
  if (!(error instanceof ConsentStoreLost)) throw error;
  return undefined;
}

const STORE_LOST: LookupFailure = {
  code: 'OPERATOR_UNAVAILABLE',
  reach: 'number',
  retryAfterSeconds: 1,
};
const OUT_OF_TIME: LookupFailure = { code: 'OPERATOR_TIMEOUT', reach: 'number' };
