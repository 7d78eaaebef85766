import { withinTime, type Clock } from '../system/clock.ts';
import type { Identity } from '../domain/identity.ts';
import { errorName, type LookupFailure } from '../domain/errors.ts';
import { CallerGone } from '../http/urgency.ts';
import type { Log } from '../log/log.ts';
import type {
  LookupAuthorizer,
  LookupAuthorizers,
  Admitted,
  AuthorizerRequest,
  LookupToAuthorize,
  Denied,
  Ending,
  CachedAnswer,
} from '../lookups/lookupAuthorizer.ts';
import { OUT_OF_TIME } from '../lookups/lookupRoute.ts';
import { AUDIT_TIMEOUT_MS, type AuditLog } from './audit/auditLog.ts';
import {
  auditedCaller,
  auditedRequest,
  entryAfter,
  entryBefore,
  entryHeard,
  type AuditedCaller,
  type AuditedRequest,
  type AuditEntry,
  type LineParts,
} from './audit/entry.ts';
import type { OverQuota, Quotas, WithinQuota } from './quotas/quotas.ts';

export interface AdmissionParts {
  readonly quotas: Quotas;
  /** Absent where nothing is recorded: on loopback alone. */
  readonly audit: AuditParts | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

interface AuditParts {
  readonly auditLog: AuditLog;
  readonly key: string;
}

/** Stands before all operators: quotas and the audit log are one for all. */
export class CallerAuthorizers implements LookupAuthorizers {
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  of(operator: string): CallerAuthorizer {
    return new CallerAuthorizer(operator, this.#parts);
  }

  /** Closes the audit log, once nothing is asked any more. */
  async close(): Promise<void> {
    await this.#parts.audit?.auditLog.close();
  }
}

/** Admits what is inside its quotas and is recorded; what never left is given back to the quotas. */
export class CallerAuthorizer implements LookupAuthorizer {
  readonly #operator: string;
  readonly #parts: AdmissionParts;
  /** Put into words once, not once a lookup: each has a request of its own, which may be shared. */
  readonly #callers = new WeakMap<Identity, AuditedCaller>();
  #now = { ms: Number.NaN, text: '' };

  /** @param operator its name, for the audit log */
  constructor(operator: string, parts: AdmissionParts) {
    this.#operator = operator;
    this.#parts = parts;
  }

  admit(asked: AuthorizerRequest): Promise<Admitted | Denied> | Admitted {
    const { audit } = this.#parts;
    const quotas = quotasOf(asked);
    return audit === undefined && quotas.length === 0 ? OPEN : this.#admit(asked, quotas, audit);
  }

  heard(heard: CachedAnswer): Promise<LookupFailure | undefined> | undefined {
    const { audit } = this.#parts;
    if (audit === undefined) return undefined;
    const { key, auditLog } = audit;
    const { operator = this.#operator } = heard;
    const line = { ...this.#lineParts(key), operator };
    const entry = entryHeard(heard, this.#requestOf(heard, key), line);
    return this.#inTime(this.#timeLeftMs(heard), this.#record(auditLog, entry), OUT_OF_TIME);
  }

  async #admit(
    asked: AuthorizerRequest,
    quotas: readonly Counting[],
    audit: AuditParts | undefined,
  ): Promise<Admitted | Denied> {
    // In all quotas or in none.
    const counted: WithinQuota[] = [];
    const quotaMs = this.#timeLimitMs(asked) / 2;
    for (const quota of quotas) {
      const one = await this.#countIn(quota, asked, quotaMs);
      switch (one.kind) {
        case 'within':
          counted.push(one);
          break;
        case 'over':
          await giveBack(counted);
          return { kind: 'denied', failure: failureOf(one) };
      }
    }
    if (audit === undefined) {
      return {
        kind: 'admitted',
        ended: (ending) => (isToBeGivenBack(asked, ending) ? giveBack(counted) : undefined),
      };
    }
    const { key, auditLog } = audit;
    const request = this.#requestOf(asked, key);
    const before = entryBefore(asked, request, this.#lineParts(key));
    const failure = await this.#inTime(
      this.#timeLimitMs(asked),
      this.#record(auditLog, before),
      OUT_OF_TIME,
    );
    if (failure !== undefined) {
      await giveBack(counted);
      return { kind: 'denied', failure };
    }
    // The operator is not called for a status: it has no line after it.
    if (asked.event === 'consent-status') return OPEN;
    return {
      kind: 'admitted',
      ended: async (ending) => {
        const after = entryAfter(before, ending, this.#time());
        const recorded = this.#record(auditLog, after);
        const told: Promise<unknown> = isToBeGivenBack(asked, ending)
          ? Promise.all([recorded, giveBack(counted)])
          : recorded;
        await this.#inTime(this.#timeLimitMs(asked), told, undefined);
      },
    };
  }

  #countIn(
    counting: Counting,
    { number, request: { caller } }: AuthorizerRequest,
    timeLimitMs: number,
  ): Promise<WithinQuota | OverQuota> {
    const { quotas } = this.#parts;
    switch (counting) {
      case 'lookup':
        return quotas.countLookup(caller, number, this.#operator, timeLimitMs);
      case 'number':
        return quotas.countNumber(caller, number, timeLimitMs);
      case 'prompt':
        return quotas.countPrompt(caller, number, timeLimitMs);
    }
  }

  /** What belongs to a consent is not ended by the request that asks for it. */
  #timeLimitMs(asked: AuthorizerRequest): number {
    const isOfConsent =
      asked.event === 'consent-request' || (asked.event === 'lookup' && isBoughtByConsent(asked));
    return isOfConsent ? Number.POSITIVE_INFINITY : this.#timeLeftMs(asked);
  }

  #timeLeftMs({ request }: Pick<AuthorizerRequest, 'request'>): number {
    return request.deadlineMs - this.#parts.clock.monotonicMs();
  }

  #lineParts(key: string): LineParts {
    return { key, time: this.#time(), operator: this.#operator };
  }

  /** Written out once a millisecond, in which a hundred lookups may begin. */
  #time(): string {
    const nowMs = this.#parts.clock.nowMs();
    if (nowMs !== this.#now.ms) this.#now = { ms: nowMs, text: new Date(nowMs).toISOString() };
    return this.#now.text;
  }

  #requestOf({ request }: Pick<AuthorizerRequest, 'request'>, key: string): AuditedRequest {
    const { caller } = request;
    let known = this.#callers.get(caller);
    if (known === undefined) {
      known = auditedCaller(caller, key);
      this.#callers.set(caller, known);
    }
    return auditedRequest(request, known);
  }

  /** Waits so long, or {@link AUDIT_TIMEOUT_MS} if that is less; what is under way goes on by itself. */
  #inTime<T, L>(timeLimitMs: number, running: Promise<T>, late: L): Promise<T | L> {
    return timeLimitMs >= AUDIT_TIMEOUT_MS
      ? running
      : withinTime(this.#parts.clock, timeLimitMs, running, late);
  }

  /**
   * Why it is not written. Only the audit log says that it is the log that fails: an operator that is slow, or a full
   * bulkhead, may leave a line next to no time.
   */
  async #record(auditLog: AuditLog, entry: AuditEntry): Promise<LookupFailure | undefined> {
    try {
      await auditLog.write(entry);
      return undefined;
    } catch (error) {
      this.#parts.log.error('the audit log cannot be written', {
        error: errorName(error),
        correlator: entry.correlator,
      });
      return NOT_RECORDED;
    }
  }
}

type Counting = 'lookup' | 'number' | 'prompt';

/**
 * Anonymous callers have no quota of their own, and a lookup bought by a consent was counted when the
 * consent was requested. The owner of a number is guarded against every caller.
 */
function quotasOf(asked: AuthorizerRequest): readonly Counting[] {
  const isAnonymous = asked.request.caller.kind === 'anonymous';
  switch (asked.event) {
    case 'lookup':
      return isAnonymous || isBoughtByConsent(asked) ? [] : ['lookup'];
    case 'consent-request':
      return isAnonymous ? ['prompt'] : ['lookup', 'prompt'];
    case 'consent-status':
      return isAnonymous ? [] : ['number'];
  }
}

/** Whether it was counted when the consent was requested. */
function isBoughtByConsent({ consentId, isFurther }: LookupToAuthorize): boolean {
  return consentId !== undefined && isFurther !== true;
}

async function giveBack(counted: readonly WithinQuota[]): Promise<void> {
  await Promise.all(counted.map(async (one) => one.giveBack()));
}

/**
 * Whether a lookup never left. It is spent all the same where the token endpoint said something of the number, or was
 * asked for a caller that hung up: otherwise either would be asked for nothing, without end.
 */
function isToBeGivenBack(
  { request: { signal } }: AuthorizerRequest,
  { attempts, outcome }: Ending,
): boolean {
  const isSpent = outcome === 'NUMBER_NOT_SERVED' || signal.reason instanceof CallerGone;
  return attempts === 0 && !isSpent;
}

const OPEN: Admitted = { kind: 'admitted', ended: () => undefined };

function failureOf({ over, retryAfterSeconds }: OverQuota): LookupFailure {
  return { code: 'RATE_LIMITED', reach: 'number', quota: over, retryAfterSeconds };
}

const NOT_RECORDED: LookupFailure = { code: 'AUDIT_UNAVAILABLE', reach: 'number' };
