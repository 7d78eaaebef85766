import { consentChannel, traced, type ConsentResult } from '../log/diagnostics.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { ConsentStatus } from '../domain/consentStatus.ts';
import { LightAbortSignal } from '../http/lightAbortSignal.ts';
import { consentStatus } from './consentStatus.ts';
import { unlessLost } from '../sharedState/sharedStateLost.ts';
import type { ConsentOperator } from './consentOperator.ts';
import type { Snapshot } from './consentStore.ts';
import { consentViewOf } from './consentView.ts';
import { hashedCallerKey } from '../lookups/factCache.ts';
import { ConsentFlow, type ConsentFlowParts } from './consentFlow.ts';
import { Waiter } from './consentWaiters.ts';
import {
  lookupFailed,
  OUT_OF_TIME,
  type ConsentReading,
  type LookupSession,
  type LookupOutcome,
  type LookupRequest,
  type LookupRoute,
} from '../lookups/lookupRoute.ts';

/** What consented lookups take, whichever operator they are asked of. */
export type ConsentedParts = Omit<ConsentFlowParts, 'operators' | 'closing'>;

/**
 * 3-legged: every lookup needs the consent of the number's owner, who is asked once for all requests
 * of one caller, whichever operators these are routed to (docs/design.md, "Consent").
 */
export class ConsentedLookups {
  readonly #parts: ConsentFlowParts;
  readonly #operators = new Map<string, ConsentOperator>();
  readonly #waitMs: number;
  readonly #closing = new AbortController();
  readonly #flows = new Map<string, ConsentFlow>();
  readonly #running = new Set<Promise<void>>();
  /** A request's patience counts once for a number, over all the consents and operators that it takes. */
  readonly #patienceEndsAtMs = new WeakMap<LookupRequest, Map<PhoneNumber, number>>();

  /** @param waitMs how long a request waits that does not say */
  constructor(parts: ConsentedParts, waitMs: number) {
    this.#parts = { ...parts, operators: this.#operators, closing: this.#closing.signal };
    this.#waitMs = waitMs;
  }

  /** The way to ask an operator; its consents can be pursued from now on. */
  routeTo(operator: ConsentOperator): LookupRoute {
    this.#operators.set(operator.identity, operator);
    return {
      lookUp: (lookup, session, recalledAtMs) => {
        const correlator = session.request.correlator.name;
        const message = { operator: operator.name, correlator, operation: lookup.operation };
        return traced(
          consentChannel,
          message,
          () => this.#wait(lookup, session, operator, recalledAtMs),
          resultOf,
        );
      },
      consent: (number, request) => this.#consent(number, request, operator),
      close: () => this.#close(),
    };
  }

  /** Counts as a number that is asked about, and is audited. */
  async #consent(
    number: PhoneNumber,
    request: LookupRequest,
    { identity, admission }: ConsentOperator,
  ): Promise<ConsentReading> {
    const admitted = await admission.admit({ event: 'consent-status', number, request });
    switch (admitted.kind) {
      case 'denied':
        return { kind: 'failed', failure: admitted.failure };
      case 'admitted':
        return { kind: 'read', status: await this.#statusOf(number, request, identity) };
    }
  }

  async #statusOf(
    number: PhoneNumber,
    request: LookupRequest,
    operator: string,
  ): Promise<ConsentStatus | undefined> {
    const { clock, rules } = this.#parts;
    const snapshot = await this.#read(number, request);
    if (snapshot === undefined) return undefined;
    const recorded = { ...snapshot, refusedUntilMs: {} };
    const canPoll = (identity: string): boolean => this.#operators.has(identity);
    const view = consentViewOf(recorded, hashedCallerKey(request, number), rules, canPoll);
    return consentStatus(view, operator, snapshot.nowMs, clock.nowMs());
  }

  /** `undefined` when the store is lost, or the request ends first. */
  #read(number: PhoneNumber, { signal }: LookupRequest): Promise<Snapshot | undefined> {
    const reading = this.#parts.store.read(number).catch(unlessLost);
    return signal.unlessAborted(reading);
  }

  /** What is on the wire for a consent runs to its end: its outcome must be stored. */
  async #close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  async #wait(
    lookup: Lookup,
    session: LookupSession,
    operator: ConsentOperator,
    recalledAtMs: number | undefined,
  ): Promise<LookupOutcome> {
    const { clock } = this.#parts;
    const { number, request } = session;
    const { signal } = request;
    if (signal.aborted) return lookupFailed(lookup, OUT_OF_TIME);

    const waiter = new Waiter(operator, session, lookup, clock.monotonicMs(), recalledAtMs);
    const flow = this.#join(waiter);
    request.onOwnerWait?.(number, true);

    const over = new LightAbortSignal();
    let isSettled = false;
    const leave = (): void => {
      if (!isSettled) flow.leave(waiter);
    };
    signal.add(over);
    Promise.all([clock.sleep(this.#patienceLeftMs(session), over.asAbortSignal()), flow.looked])
      .then(leave, leave)
      .catch((defect: unknown) => waiter.reject(defect));
    try {
      return await waiter.outcome;
    } finally {
      isSettled = true;
      signal.delete(over);
      over.abort();
      request.onOwnerWait?.(number, false);
    }
  }

  #join(waiter: Waiter): ConsentFlow {
    const { number, request } = waiter.session;
    const key = hashedCallerKey(request, number);
    const flow = this.#flows.get(key) ?? new ConsentFlow(number, key, this.#parts);
    this.#flows.set(key, flow);
    const running = flow.join(waiter);
    if (!this.#running.has(running)) {
      this.#running.add(running);
      void this.#forgetAfter(running, key, flow);
    }
    return flow;
  }

  async #forgetAfter(running: Promise<void>, key: string, flow: ConsentFlow): Promise<void> {
    await running;
    this.#running.delete(running);
    if (flow.isIdle) this.#flows.delete(key);
  }

  #patienceLeftMs(session: LookupSession): number {
    const { number, request } = session;
    const { waitMs = this.#waitMs } = request;
    const nowMs = this.#parts.clock.monotonicMs();
    const ends = this.#patienceEndsAtMs.get(request) ?? new Map<PhoneNumber, number>();
    this.#patienceEndsAtMs.set(request, ends);
    const endsAtMs = ends.get(number) ?? nowMs + waitMs;
    ends.set(number, endsAtMs);
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
