import type { ConsentStatus } from '../domain/fields.ts';
import type { LookupFailure, LookupFailureCode } from '../domain/errors.ts';
import {
  asOf,
  barsOthersUntilMs,
  barsUntilMs,
  countsAt,
  type AgeingRules,
  type Closed,
  type Consent,
  type ConsentEnd,
  type ConsentRecord,
  type Failed,
  type Granted,
  type Pending,
} from './consentRecord.ts';
import type { Snapshot } from './consentStore.ts';

/** A record as one caller may know it: the next step and the answers follow from it. */
export interface ConsentView {
  readonly record: ConsentRecord;
  readonly prompt: PromptView;
  readonly ends: readonly ConsentEnd[];
  /** Failures of other callers' lookups: the owner is not prompted for what they apply to. */
  readonly barred: readonly Failed[];
}

/** Times are the store's. */
export type PromptView =
  | { readonly state: 'free' }
  /** Another caller's consent or denial, which is not revealed; without an id where failures of this caller bar it. */
  | { readonly state: 'anothers'; readonly id?: string }
  | LivingView
  /** The owner declined, or the operator refused to continue. */
  | Closed;

/** The caller's own consent, or one that the store has lost: when a retry can help, and when it ends. */
type LivingView = { readonly againAtMs: number; readonly endsAtMs: number } & (
  | { readonly state: 'under-way'; readonly leaseUntilMs: number }
  /**
   * The request to prompt was never answered, its operator is gone, or the store has lost writes: a prompt may be live, or
   * an answer may have been given, without a record.
   */
  | { readonly state: 'in-doubt' }
  /** The operator can be polled now. */
  | { readonly state: 'due'; readonly pending: Pending }
  /** The owner has consented, and the token can be spent now. */
  | { readonly state: 'granted'; readonly granted: Granted }
  /** The owner has the prompt, and the operator is not polled before `againAtMs`. */
  | { readonly state: 'waiting' }
);

/** The identities of operators that can be polled. */
export type Operators = Pick<ReadonlySet<string>, 'has'>;

/** With this many ends the owner is not prompted until some have expired. */
const MAX_ENDS = 16;

/** The view follows only from the record, the caller, the moment and the operators that can be polled. Pure. */
export function consentViewOf(
  { record: stored, nowMs, doubtUntilMs = 0 }: Omit<Snapshot, 'version'>,
  callerKey: string,
  rules: AgeingRules,
  operators: Operators,
): ConsentView {
  const record = asOf(stored, nowMs, rules);
  const { consent } = record;
  const ends = record.ends.filter(({ untilMs }) => untilMs > nowMs);
  let prompt: PromptView = { state: 'free' };
  if (consent !== undefined) {
    prompt =
      consent.asker === callerKey
        ? ownView(consent, nowMs, doubtUntilMs, operators)
        : { state: 'anothers', id: consent.id };
  } else if (ends.filter(({ kind }) => kind !== 'answered').length >= MAX_ENDS) {
    const [{ id } = { id: '' }] = ends;
    const isOwn = ends.some(({ asker }) => asker === callerKey);
    prompt = isOwn ? { state: 'anothers' } : { state: 'anothers', id };
  } else if (doubtUntilMs > nowMs) {
    prompt = { state: 'in-doubt', againAtMs: doubtUntilMs, endsAtMs: doubtUntilMs };
  }
  const failed = ends.filter((end) => end.kind === 'failed');
  return {
    record,
    prompt,
    ends: ends.filter((end) => end.asker === callerKey),
    barred: failed.filter((end) => end.asker !== callerKey && barsOthersUntilMs(end) > nowMs),
  };
}

function ownView(
  consent: Consent,
  nowMs: number,
  doubtUntilMs: number,
  operators: Operators,
): PromptView {
  if (consent.state === 'closed') return consent;
  const { leaseUntilMs = 0 } = consent;
  const endsAtMs = barsUntilMs(consent);
  if (leaseUntilMs > nowMs) return { state: 'under-way', leaseUntilMs, againAtMs: nowMs, endsAtMs };
  const inDoubt = { state: 'in-doubt', againAtMs: endsAtMs, endsAtMs } as const;
  // Its operator is no longer configured, or no longer 3-legged: the prompt is still on the phone.
  if (!operators.has(consent.operator)) return inDoubt;
  switch (consent.state) {
    case 'requested':
    case 'redeemed':
      return inDoubt;
    case 'pending': {
      const { nextPollAtMs, redeemableUntilMs } = consent;
      if (Math.max(nextPollAtMs, nowMs) >= redeemableUntilMs) {
        return { state: 'waiting', againAtMs: endsAtMs, endsAtMs };
      }
      return nextPollAtMs > nowMs
        ? { state: 'waiting', againAtMs: nextPollAtMs, endsAtMs }
        : { state: 'due', pending: consent, againAtMs: nowMs, endsAtMs };
    }
    case 'granted':
      // A store that has lost writes may have lost that the token was spent.
      if (doubtUntilMs > nowMs) return inDoubt;
      return { state: 'granted', granted: consent, againAtMs: nowMs, endsAtMs };
  }
}

/** Another caller's consent bars a prompt; does not reveal when that ends. */
export const ANOTHERS_PENDING: LookupFailure = {
  code: 'CONSENT_PENDING',
  reach: 'number',
  retryAfterSeconds: 60,
};

/** @param wallNowMs the same moment as `nowMs`, in milliseconds since 1970 */
export function pendingFailure(
  prompt: Exclude<PromptView, { state: 'free' }>,
  nowMs: number,
  wallNowMs: number,
): LookupFailure {
  switch (prompt.state) {
    case 'anothers':
      return ANOTHERS_PENDING;
    case 'closed':
      return failureToReturn(prompt, nowMs);
    default: {
      const { againAtMs, endsAtMs } = prompt;
      return {
        code: 'CONSENT_PENDING',
        reach: 'number',
        retryAfterSeconds: secondsUntil(againAtMs, nowMs),
        expiresAtMs: wallNowMs + (endsAtMs - nowMs),
      };
    }
  }
}

/** The failure with the time for which it is remembered, where waiting helps. */
export function failureToReturn(
  { failure, untilMs }: Pick<Failed, 'failure' | 'untilMs'>,
  nowMs: number,
): LookupFailure {
  return RETRYABLE.has(failure.code) || failure.retryAfterSeconds !== undefined
    ? { ...failure, retryAfterSeconds: secondsUntil(untilMs, nowMs) }
    : failure;
}

/** Failures that a later retry can turn into an answer. */
const RETRYABLE: ReadonlySet<LookupFailureCode> = new Set([
  'CONSENT_DENIED',
  'CONSENT_EXPIRED',
  'OPERATOR_RATE_LIMITED',
  'OPERATOR_UNAVAILABLE',
  'OPERATOR_TIMEOUT',
]);

/** At least one: a retry at once is never advised. */
function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1000));
}

/** The consents of other callers that bar a prompt for this one. */
export function othersIn({ prompt, barred }: ConsentView): readonly string[] {
  if (prompt.state !== 'anothers') return barred.map(({ id }) => id);
  return prompt.id === undefined ? [] : [prompt.id];
}

/**
 * Another caller's consent or denial shows as pending, without its times, once a question of this caller has met it;
 * before that as nothing, since it would reveal that another caller queries the number. Pure.
 *
 * @param operator the current one
 * @param met the ids of {@link othersIn} when this caller's question failed
 */
export function consentStatus(
  { prompt, ends, barred }: ConsentView,
  operator: string,
  nowMs: number,
  wallNowMs: number,
  met: readonly string[],
): ConsentStatus {
  if (prompt.state === 'closed') {
    const retryAfterSeconds = secondsUntil(prompt.untilMs, nowMs);
    return { state: closedState(prompt.failure), retryAfterSeconds };
  }
  if (prompt.state === 'anothers' && prompt.id !== undefined && !met.includes(prompt.id)) {
    return { state: 'NOT_ASKED' };
  }
  if (prompt.state !== 'free') return pendingStatus(pendingFailure(prompt, nowMs, wallNowMs));

  // The owner may be prompted, except for what a failed lookup applies to.
  if (ends.some((end) => end.kind === 'expired' && !end.isTold)) return { state: 'EXPIRED' };
  const closesNumber = (end: ConsentEnd): boolean =>
    end.kind === 'failed' && end.failure.reach === 'number' && countsAt(end, operator);
  const failed = ends.find(closesNumber);
  if (failed !== undefined) {
    return { state: 'NOT_ASKED', retryAfterSeconds: secondsUntil(failed.untilMs, nowMs) };
  }
  const isMet = barred.some((end) => closesNumber(end) && met.includes(end.id));
  return isMet ? pendingStatus(ANOTHERS_PENDING) : { state: 'NOT_ASKED' };
}

/** A denial, or the operator's refusal to continue a consent or to start one. */
function closedState({ code }: LookupFailure): ConsentStatus['state'] {
  switch (code) {
    case 'CONSENT_DENIED':
      return 'DENIED';
    case 'OPERATOR_RATE_LIMITED':
      return 'NOT_ASKED';
    default:
      return 'EXPIRED';
  }
}

function pendingStatus({ retryAfterSeconds = 1, expiresAtMs }: LookupFailure): ConsentStatus {
  const status = { state: 'PENDING', retryAfterSeconds } as const;
  return expiresAtMs === undefined ? status : { ...status, expiresAtMs };
}
