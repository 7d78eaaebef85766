import { withinTime, type Clock } from '../system/clock.ts';
import type { Identity } from '../domain/identity.ts';
import { errorName, type LookupFailure } from '../domain/errors.ts';
import { CallerGone } from '../system/urgency.ts';
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
import { BUSY } from '../lookups/lookupRoute.ts';
import { AUDIT_TIMEOUT_MS, type AuditLog } from './audit/auditLog.ts';
import {
  auditedCaller,
  entryBefore,
  entryDelivered,
  lineAfter,
  lineOf,
  type AuditedCaller,
  type LineParts,
} from './audit/entry.ts';
import type { Counting, Quotas, WithinQuota } from './quotas/quotas.ts';

export interface AdmissionParts {
  readonly quotas: Quotas;
  /** Absent where nothing is recorded: on loopback only. */
  readonly audit: { readonly auditLog: AuditLog; readonly key: string } | undefined;
  /** The operators that get the purpose of a lookup. */
  readonly purposeGoesTo: ReadonlySet<string>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The authorizers of all operators share quotas and audit log. */
export function callerAuthorizers(parts: AdmissionParts): LookupAuthorizers {
  return { of: (operator) => new CallerAuthorizer(operator, parts) };
}

/** Admits requests within their quotas, and records them. Claims of a request that does not leave are given back. */
class CallerAuthorizer implements LookupAuthorizer {
  /** Its name, for the audit log. */
  readonly #operator: string;
  readonly #parts: AdmissionParts;
  /** Callers as the audit log names them, made once rather than for each lookup. */
  readonly #callers = new WeakMap<Identity, AuditedCaller>();
  #now = { ms: Number.NaN, text: '' };

  constructor(operator: string, parts: AdmissionParts) {
    this.#operator = operator;
    this.#parts = parts;
  }

  admit(action: AuthorizerRequest): Promise<Admitted | Denied> | Admitted {
    const countings = countingsOf(action);
    return this.#parts.audit === undefined && countings.length === 0
      ? OPEN
      : this.#admit(action, countings);
  }

  delivered(answer: CachedAnswer): Promise<LookupFailure | undefined> | undefined {
    const { audit } = this.#parts;
    if (audit === undefined) return undefined;
    const line = lineOf(
      entryDelivered(answer, this.#lineParts(answer, audit.key, answer.operator)),
    );
    const recorded = this.#record(audit.auditLog, line, answer);
    return this.#inTime(this.#timeLeftMs(answer), recorded, BUSY);
  }

  async #admit(
    action: AuthorizerRequest,
    countings: readonly Counting[],
  ): Promise<Admitted | Denied> {
    const { audit, quotas } = this.#parts;
    const { number, request } = action;
    const whose = { caller: request.caller, number, operator: this.#operator };
    const counted =
      countings.length === 0
        ? NOTHING_COUNTED
        : await quotas.count(countings, whose, this.#timeLimitMs(action) / 2);
    if (counted.kind === 'over') {
      const { over: quota, retryAfterSeconds } = counted;
      const failure = { code: 'RATE_LIMITED', reach: 'number', quota, retryAfterSeconds } as const;
      return { kind: 'denied', failure };
    }
    const isLookup = countings.includes('lookup');
    if (isLookup) request.onLookupCounted?.(1);
    const giveBackAll = (): Promise<void> => {
      if (isLookup) request.onLookupCounted?.(-1);
      return counted.giveBack();
    };
    const giveBack = (ending: Ending): Promise<void> | undefined =>
      isToBeGivenBack(action, ending) ? giveBackAll() : undefined;
    if (audit === undefined) return { kind: 'admitted', ended: giveBack };
    const before = lineOf(entryBefore(action, this.#lineParts(action, audit.key)));
    const recorded = this.#record(audit.auditLog, before, action);
    const failure = await this.#inTime(this.#timeLimitMs(action), recorded, BUSY);
    // The operator is not called, so no line `after` follows.
    const hasLineAfter = action.event === 'lookup' || action.event === 'consent-request';
    if (failure !== undefined) {
      // The line is written all the same, but too late.
      if (failure === BUSY && hasLineAfter)
        void this.#record(audit.auditLog, lineAfter(before, NOT_BEGUN, this.#time()), action);
      await giveBackAll();
      return { kind: 'denied', failure };
    }
    if (!hasLineAfter) return { kind: 'admitted', ended: giveBack };
    return {
      kind: 'admitted',
      ended: async (ending) => {
        const line = lineAfter(before, ending, this.#time());
        const after = this.#record(audit.auditLog, line, action);
        const back = giveBack(ending);
        const ended: Promise<unknown> = back === undefined ? after : Promise.all([after, back]);
        await this.#inTime(this.#timeLimitMs(action), ended, undefined);
      },
    };
  }

  /** The time left to the request; no limit for the prompt and the lookup of a consent, which outlive the request. */
  #timeLimitMs(action: AuthorizerRequest): number {
    const isOfConsent =
      action.event === 'consent-request' ||
      (action.event === 'lookup' && isBoughtByConsent(action));
    return isOfConsent ? Number.POSITIVE_INFINITY : this.#timeLeftMs(action);
  }

  #timeLeftMs({ request }: Pick<AuthorizerRequest, 'request'>): number {
    return request.deadlineMs - this.#parts.clock.monotonicMs();
  }

  #lineParts(
    { request: { caller } }: Pick<AuthorizerRequest, 'request'>,
    key: string,
    operator = this.#operator,
  ): LineParts {
    let known = this.#callers.get(caller);
    if (known === undefined) {
      known = auditedCaller(caller, key);
      this.#callers.set(caller, known);
    }
    const sendsPurpose = this.#parts.purposeGoesTo.has(operator);
    return { key, time: this.#time(), operator, caller: known, sendsPurpose };
  }

  /** Formatted once a millisecond, in which a hundred lookups may begin. */
  #time(): string {
    const nowMs = this.#parts.clock.nowMs();
    if (nowMs !== this.#now.ms) this.#now = { ms: nowMs, text: new Date(nowMs).toISOString() };
    return this.#now.text;
  }

  /** Waits at most this long, and at most {@link AUDIT_TIMEOUT_MS}; the work continues. */
  #inTime<T, L>(timeLimitMs: number, running: Promise<T>, late: L): Promise<T | L> {
    return timeLimitMs >= AUDIT_TIMEOUT_MS
      ? running
      : withinTime(this.#parts.clock, timeLimitMs, running, late);
  }

  /** Writes a line. A failure of the line `after` is only logged: hardly any time may be left for it. */
  async #record(
    auditLog: AuditLog,
    line: string,
    { request }: Pick<AuthorizerRequest, 'request'>,
  ): Promise<LookupFailure | undefined> {
    try {
      await auditLog.write(line);
      return undefined;
    } catch (error) {
      this.#parts.log.error(
        'The audit log cannot be written. Check the disk or the reader of AUDIT_LOG.',
        {
          error: errorName(error),
          correlator: request.correlator.name,
        },
      );
      return { code: 'AUDIT_UNAVAILABLE', reach: 'number' };
    }
  }
}

/** Anonymous callers have no quota. The owner of a number is protected against every caller. */
function countingsOf(action: AuthorizerRequest): readonly Counting[] {
  const isAnonymous = action.request.caller.kind === 'anonymous';
  switch (action.event) {
    case 'lookup':
      return isAnonymous || isBoughtByConsent(action) ? [] : ['lookup'];
    case 'consent-request':
      return isAnonymous ? ['prompt'] : ['lookup', 'prompt'];
    case 'consent-status':
    case 'routing':
      return isAnonymous ? [] : ['number'];
  }
}

/** Whether a consent has paid for the lookup: the quota counted it when the consent was requested. */
function isBoughtByConsent({ consentId, isFurther }: LookupToAuthorize): boolean {
  return consentId !== undefined && isFurther !== true;
}

/**
 * Whether the claims of a lookup that did not leave are given back. They are kept where the token endpoint answered
 * about the number, or where the caller hung up: otherwise a caller could repeat either without end.
 */
function isToBeGivenBack(
  { request: { signal } }: AuthorizerRequest,
  { attempts, outcome }: Ending,
): boolean {
  const isSpent = outcome === 'NUMBER_NOT_SERVED' || signal.reason instanceof CallerGone;
  return attempts === 0 && !isSpent;
}

const NOT_BEGUN: Ending = { outcome: BUSY.code, attempts: 0 };

const OPEN: Admitted = { kind: 'admitted', ended: () => undefined };

const NOTHING_COUNTED: WithinQuota = { kind: 'within', giveBack: () => Promise.resolve() };
