import { consentChannel, traced, type ConsentResult } from '../log/diagnostics.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import { AbortListeners, asAbortSignal } from '../http/abortListeners.ts';
import type { ConsentStatus } from '../domain/consentStatus.ts';
import { consentStatus } from './consentStatus.ts';
import { unlessLost } from '../sharedState/sharedStateLost.ts';
import type { Snapshot } from './consentStore.ts';
import { consentViewOf } from './consentView.ts';
import { askerKey } from '../lookups/askerKey.ts';
import { ConsentFlow, type PursuitParts } from './consentFlow.ts';
import { Waiter } from './consentWaiters.ts';
import {
  lookupFailed,
  OUT_OF_TIME,
  type ConsentReading,
  type Inquiry,
  type LookupOutcome,
  type LookupRequest,
  type LookupRoute,
} from '../lookups/lookupRoute.ts';

/**
 * 3-legged: every lookup needs the consent of the number's owner, who is asked once for all requests
 * of one asker (docs/design.md, "Consent").
 */
export class ConsentedLookups implements LookupRoute {
  readonly #parts: PursuitParts;
  readonly #waitMs: number;
  readonly #abortListeners = new AbortListeners();
  readonly #pursuits = new Map<string, ConsentFlow>();
  readonly #running = new Set<Promise<void>>();
  readonly #operatorName: string;
  /** A request's patience counts once for a number, over all the consents that it takes. */
  readonly #patienceEndsAtMs = new WeakMap<Inquiry, number>();

  /**
   * @param waitMs how long a request waits that does not say
   * @param operatorName as in the settings
   */
  constructor(parts: PursuitParts, waitMs: number, operatorName: string) {
    this.#parts = parts;
    this.#operatorName = operatorName;
    this.#waitMs = waitMs;
  }

  lookUp(lookup: Lookup, inquiry: Inquiry): Promise<LookupOutcome> {
    if (!consentChannel.hasSubscribers) return this.#wait(lookup, inquiry);
    const { correlator } = inquiry.request;
    return traced(
      consentChannel,
      { operator: this.#operatorName, correlator: correlator.name, operation: lookup.operation },
      () => this.#wait(lookup, inquiry),
      resultOf,
    );
  }

  /** Counts as a number that is asked about, and is audited. */
  async consent(number: PhoneNumber, request: LookupRequest): Promise<ConsentReading> {
    const { admission } = this.#parts;
    const admitted = await admission.admit({ event: 'consent-status', number, request });
    switch (admitted.kind) {
      case 'denied':
        return { kind: 'failed', failure: admitted.failure };
      case 'admitted':
        return { kind: 'read', status: await this.#statusOf(number, request) };
    }
  }

  async #statusOf(number: PhoneNumber, request: LookupRequest): Promise<ConsentStatus | undefined> {
    const { clock, rules } = this.#parts;
    const snapshot = await this.#read(number, request);
    if (snapshot === undefined) return undefined;
    const standing = consentViewOf(snapshot, askerKey(request, number), rules);
    return consentStatus(standing, snapshot.nowMs, clock.nowMs());
  }

  /** `undefined` when the store is lost, or the request ends first. */
  #read(number: PhoneNumber, { signal }: LookupRequest): Promise<Snapshot | undefined> {
    const reading = this.#parts.store.read(number).catch(unlessLost);
    return this.#abortListeners.unlessAborted(reading, signal);
  }

  /** What is on the wire for a consent runs to its end: its outcome must be stored. */
  async close(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #wait(lookup: Lookup, inquiry: Inquiry): Promise<LookupOutcome> {
    const { clock } = this.#parts;
    const { number, request } = inquiry;
    const { signal } = request;
    if (signal.aborted) return lookupFailed(lookup, OUT_OF_TIME);

    const waiter = new Waiter(inquiry, lookup, clock.monotonicMs());
    const pursuit = this.#join(waiter);
    request.onOwnerWait?.(number, true);

    const settled = new AbortController();
    const patience = Promise.all([
      clock.sleep(
        this.#patienceLeftMs(inquiry),
        AbortSignal.any([asAbortSignal(signal), settled.signal]),
      ),
      pursuit.looked,
    ]).catch(() => undefined);
    const outOfPatience = patience.then(() => lookupFailed(lookup, pursuit.leave(waiter)));
    try {
      return await Promise.race([waiter.outcome, outOfPatience]);
    } finally {
      settled.abort();
      request.onOwnerWait?.(number, false);
    }
  }

  #join(waiter: Waiter): ConsentFlow {
    const { number, request } = waiter.inquiry;
    const key = askerKey(request, number);
    const pursuit = this.#pursuits.get(key) ?? new ConsentFlow(number, key, this.#parts);
    this.#pursuits.set(key, pursuit);
    const running = pursuit.join(waiter);
    if (!this.#running.has(running)) {
      this.#running.add(running);
      void this.#forgetAfter(running, key, pursuit);
    }
    return pursuit;
  }

  async #forgetAfter(running: Promise<void>, key: string, pursuit: ConsentFlow): Promise<void> {
    await running;
    this.#running.delete(running);
    if (pursuit.isIdle) this.#pursuits.delete(key);
  }

  #patienceLeftMs(inquiry: Inquiry): number {
    const { waitMs = this.#waitMs } = inquiry.request;
    const nowMs = this.#parts.clock.monotonicMs();
    const endsAtMs = this.#patienceEndsAtMs.get(inquiry) ?? nowMs + waitMs;
    this.#patienceEndsAtMs.set(inquiry, endsAtMs);
    return Math.max(0, endsAtMs - nowMs);
  }
}

/** What is published of a wait: never the answer. */
function resultOf(outcome: LookupOutcome): ConsentResult {
  switch (outcome.kind) {
    case 'facts':
      return { outcome: 'answered' };
    case 'failed':
      return { outcome: outcome.failed.failure.code };
  }
}
