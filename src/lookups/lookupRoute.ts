import { randomUUID } from 'node:crypto';
import type { Clock } from '../system/clock.ts';
import type { CallerKey } from '../domain/identity.ts';
import type { FailedLookup, Fact, TimedFact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { LightAbortSignal, Urgency } from '../system/urgency.ts';
import type { Correlator } from '../system/correlator.ts';
import type { ConsentStatus } from '../domain/fields.ts';
import type { Plan } from './planner.ts';

export interface LookupRequest extends CallerKey, Urgency {
  readonly correlator: Correlator;
  /** On the monotonic clock, by which kept and shared facts are judged. */
  readonly cameInAtMs: number;
  /** Aborted when the caller hangs up and when the request's deadline passes. */
  readonly signal: LightAbortSignal;
  /** How long it waits for the owner of a number, where it states that (RFC 7240, `wait`). */
  readonly waitMs?: number;
  /** Called when a lookup has its permit and is audited: from then on it waits only for the operator. */
  readonly onBegun?: () => void;
  /** Called whenever a lookup has its token and is about to leave, with the monotonic time. */
  readonly onLeaving?: (leftAtMs: number) => void;
  /** Called when it begins to wait for the owner of a number, and when it stops. */
  onOwnerWait?: ((number: PhoneNumber, isWaiting: boolean) => void) | undefined;
  /** Called with 1 when a quota counts a lookup for it, and with -1 when that is given back. */
  readonly onLookupCounted?: (by: 1 | -1) => void;
}

export interface LookupSession extends Plan {
  readonly number: PhoneNumber;
  readonly request: LookupRequest;
}

export type NumberOfRequest = Pick<LookupSession, 'number' | 'request'>;

/** In the 3-legged flow there may be other facts than those of the lookup. */
export type LookupOutcome =
  | {
      readonly kind: 'facts';
      readonly facts: readonly TimedFact[];
      /** Other kept facts, which answer none of the questions. */
      readonly unrequested?: readonly TimedFact[];
      /** The lookup that they came from; absent where kept facts answer. */
      readonly made?: Lookup;
      /** The lookup that would bring nothing new after this one. */
      readonly closed?: FailedLookup | undefined;
    }
  | { readonly kind: 'failed'; readonly failed: FailedLookup };

/**
 * The facts of a reply that has just arrived.
 *
 * @param isHeard whether they need not be kept for a later request: no owner was prompted for them
 * @param toldBy the operator's identity
 * @param replyId names the reply among those of all replicas
 */
export function timed(
  facts: readonly Fact[],
  leftAtMs: number,
  isHeard: boolean,
  toldBy: string,
  clock: Clock,
  replyId: string = randomUUID(),
): readonly TimedFact[] {
  const repliedAtMs = clock.monotonicMs();
  const delivered = { toldBy, leftAtMs, repliedAtMs, replyId, isHeard };
  return facts.map((fact) => ({ ...fact, ...delivered }));
}

export function lookupFailed(lookup: Lookup, failure: LookupFailure): LookupOutcome {
  return { kind: 'failed', failed: { lookup, failure } };
}

/** For the audit log and diagnostics: never the answer. */
export function outcomeCodeOf(outcome: LookupOutcome): 'answered' | LookupFailure['code'] {
  return outcome.kind === 'facts' ? 'answered' : outcome.failed.failure.code;
}

/** `undefined` while the status is not known; a failure where it may not be read. */
export type ConsentReading =
  | { readonly kind: 'read'; readonly status: ConsentStatus | undefined }
  | { readonly kind: 'failed'; readonly failure: LookupFailure };

/** Nothing was sent: the operator is not to blame. */
export const BUSY: LookupFailure = { code: 'UNAVAILABLE', reach: 'number', retryAfterSeconds: 1 };
export const DEADLINE_EXCEEDED: LookupFailure = { code: 'OPERATOR_TIMEOUT', reach: 'number' };

export interface LookupRoute {
  /**
   * Returns new facts, or a failure that closes what the lookup was planned for.
   *
   * @param recalledAtMs when no kept fact answered the lookup, on the monotonic clock; absent where none was recalled
   */
  lookUp(lookup: Lookup, session: LookupSession, recalledAtMs?: number): Promise<LookupOutcome>;
  /**
   * The failure of a number that could not be done in time, before anything about it is read. Absent where a lookup is
   * refused soon enough.
   */
  refusal?(about: NumberOfRequest): LookupFailure | undefined;
  /** Notes that these facts have reached a caller. Absent where that makes no difference. */
  delivered?(facts: readonly TimedFact[], about: NumberOfRequest): void;
  consent(number: PhoneNumber, request: LookupRequest): Promise<ConsentReading>;
  /** Resolves when nothing is under way that must not be cut off. */
  close(): Promise<void>;
}

export interface DirectRoute {
  lookUp(lookup: Lookup, about: NumberOfRequest): Promise<LookupOutcome>;
}
