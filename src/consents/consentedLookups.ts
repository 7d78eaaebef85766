import { LRUCache } from 'lru-cache';
import { consentChannel, traced } from '../log/diagnostics.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import { PerTurn } from '../system/perTurn.ts';
import { unlessLost } from '../sharedState/redis.ts';
import type { ConsentOperator } from './consentLedger.ts';
import { ANOTHERS_PENDING, consentStatus, consentViewOf, othersIn } from './consentView.ts';
import { hashedCallerKey } from '../lookups/factCache.ts';
import { ConsentFlow, type ConsentFlowParts } from './consentFlow.ts';
import type { Waiter } from './consentWaiters.ts';
import {
  lookupFailed,
  BUSY,
  outcomeCodeOf,
  type ConsentReading,
  type LookupSession,
  type LookupOutcome,
  type LookupRequest,
  type LookupRoute,
} from '../lookups/lookupRoute.ts';

/** How many questions that met another caller's consent are remembered; a forgotten one reads NOT_ASKED again. */
const MAX_MET = 10_000;

/** How many callers and numbers with a consent are remembered; a forgotten one may be refused. */
const MAX_KNOWN = 20_000;

/** How many prompts begin in one turn of the event loop, and how many polls: what they take holds up nothing else. */
const EXCHANGES_A_TURN = 16;

/** The owner is prompted once for all requests of one caller, whatever their operators (docs/design.md, "Consent"). */
export class ConsentedLookups {
  readonly #parts: ConsentFlowParts;
  readonly #operators = new Map<string, ConsentOperator>();
  readonly #waitMs: number;
  readonly #closing = new AbortController();
  readonly #flows = new Map<string, ConsentFlow>();
  /** By caller and number, consents of others that the last question here met; another process says NOT_ASKED. */
  readonly #met = new LRUCache<string, readonly string[]>({
    maxSize: MAX_MET,
    sizeCalculation: () => 1,
  });
  /** By caller and number, those for which this process returned a consent, pending or answered. */
  readonly #known = new LRUCache<string, true>({ maxSize: MAX_KNOWN, sizeCalculation: () => 1 });
  /** Patience counts once for a request's number, over all consents and operators that it takes. */
  readonly #patienceEnds = new WeakMap<LookupSession, number>();

  /**
   * @param waitMs how long a request waits that states no time
   * @param isHeld whether no exchange begins in this turn of the event loop
   */
  constructor(
    parts: Omit<ConsentFlowParts, 'operators' | 'flows' | 'closing' | 'exchanges'>,
    waitMs: number,
    isHeld?: () => boolean,
  ) {
    const closing = this.#closing.signal;
    const exchanges = {
      requests: new PerTurn(EXCHANGES_A_TURN, isHeld),
      polls: new PerTurn(EXCHANGES_A_TURN, isHeld),
    };
    const own = { operators: this.#operators, flows: this.#flows, closing, exchanges };
    this.#parts = { ...parts, ...own };
    this.#waitMs = waitMs;
  }

  routeTo(operator: ConsentOperator): LookupRoute {
    const { identities = [operator.identity] } = operator;
    for (const identity of identities) this.#operators.set(identity, operator);
    return {
      lookUp: (lookup, session, recalledAtMs) => {
        const correlator = session.request.correlator.name;
        const { operation } = lookup;
        const message = () => ({ operator: operator.name, correlator, operation });
        const wait = () => this.#wait(lookup, session, operator, recalledAtMs);
        return traced(consentChannel, message, wait, (ended) => ({
          outcome: outcomeCodeOf(ended),
        }));
      },
      // Where no more prompts can be made in time; one that a caller knows of, or waits for, takes no prompt.
      refusal: ({ number, request }) => {
        const failure = operator.bulkheads.requests.refusal(request);
        if (failure === undefined) return undefined;
        const key = hashedCallerKey(request, number);
        return this.#flows.has(key) || this.#known.has(key) ? undefined : failure;
      },
      consent: (number, request) => this.#consent(number, request, operator),
      close: async () => {
        this.#closing.abort();
        // Exchanges on the wire run to their end: their outcome must be stored.
        for (const flow of this.#flows.values()) await flow.running;
      },
    };
  }

  /** Reads the status of a consent, which counts against the quota of numbers and is audited. */
  async #consent(
    number: PhoneNumber,
    request: LookupRequest,
    { identity, admission }: ConsentOperator,
  ): Promise<ConsentReading> {
    const admitted = await admission.admit({ event: 'consent-status', number, request });
    if (admitted.kind === 'denied') return { kind: 'failed', failure: admitted.failure };
    const key = hashedCallerKey(request, number);
    const view = await this.#look(number, key, request);
    if (view === undefined) return { kind: 'read', status: undefined };
    const met = this.#met.get(key) ?? [];
    const status = consentStatus(view, identity, view.nowMs, this.#parts.clock.nowMs(), met);
    return { kind: 'read', status };
  }

  /** Notes the consents of others before the answer leaves, so that a status that is read after it agrees. */
  async #meet(number: PhoneNumber, key: string, request: LookupRequest): Promise<void> {
    const view = await this.#look(number, key, request);
    if (view === undefined) return;
    const others = othersIn(view);
    if (others.length > 0) this.#met.set(key, others);
    else this.#met.delete(key);
  }

  /** `undefined` when the store is lost, or the request ends first. */
  async #look(number: PhoneNumber, key: string, { signal }: LookupRequest) {
    const { store, rules } = this.#parts;
    const snapshot = await signal.unlessAborted(store.read(number).catch(unlessLost));
    if (snapshot === undefined) return undefined;
    return { ...consentViewOf(snapshot, key, rules, this.#operators), nowMs: snapshot.nowMs };
  }

  async #wait(
    lookup: Lookup,
    session: LookupSession,
    operator: ConsentOperator,
    recalledAtMs = -Infinity,
  ): Promise<LookupOutcome> {
    const { clock } = this.#parts;
    const { number, request } = session;
    const { signal } = request;
    if (signal.aborted) return lookupFailed(lookup, BUSY);

    const { promise: outcome, resolve, reject } = Promise.withResolvers<LookupOutcome>();
    const joinedAtMs = clock.monotonicMs();
    const patienceMs = request.waitMs ?? this.#waitMs;
    const endsAtMs = this.#patienceEnds.get(session) ?? joinedAtMs + patienceMs;
    this.#patienceEnds.set(session, endsAtMs);
    const parts = { operator, session, wanted: lookup, joinedAtMs, recalledAtMs };
    const waiter: Waiter = { ...parts, settle: resolve, reject };
    const key = hashedCallerKey(request, number);
    const flow = this.#flows.get(key) ?? new ConsentFlow(number, key, this.#parts);
    this.#flows.set(key, flow);
    flow.join(waiter);

    let isSettled = false;
    const leave = (): void => {
      try {
        if (!isSettled) flow.leave(waiter);
      } catch (defect) {
        reject(defect);
      }
    };
    const hungUp = { abort: leave };
    signal.add(hungUp);
    const cancel = clock.after(endsAtMs - joinedAtMs, () => void flow.firstRead.then(leave));
    try {
      const ended = await outcome;
      const code = outcomeCodeOf(ended);
      if (code === 'answered' || code === 'CONSENT_PENDING') this.#known.set(key, true);
      if (ended.kind === 'failed' && ended.failed.failure === ANOTHERS_PENDING) {
        await this.#meet(number, key, request);
      }
      return ended;
    } finally {
      isSettled = true;
      signal.delete(hungUp);
      cancel();
      request.onOwnerWait?.(number, false);
    }
  }
}
