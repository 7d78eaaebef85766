import type { Lookup } from '../../domain/question.ts';
import type { LookupFailure } from '../../errors.ts';
import type { Acknowledgement, PollJudgement } from '../tokenResponses.ts';

/**
 * What is known of the one consent that lives about a number (design §4, "Consent").
 *
 * All times are milliseconds of the store's own clock. The record is the truth: whoever moves the
 * consent on, in whichever process, first writes what it is about to do.
 */
export type ConsentRecord = ConsentIdentity & ConsentState;

interface ConsentIdentity {
  /** Names this consent in the audit trail and in logs; says nothing of the number. */
  readonly id: string;
  /** Whose requests may join it. */
  readonly caller: string;
  /** What it was asked for. Its operation is fixed by the scope; its window may still change. */
  readonly lookup: Lookup;
}

export type ConsentState = Requested | Pending | Redeemed | Ended;

/** The request to prompt is about to leave, or left and was never answered. */
export interface Requested {
  readonly state: 'requested';
  /** Until then somebody may still be at it. */
  readonly leaseUntilMs: number;
  /** Until then a prompt may live that nobody knows of. */
  readonly doubtUntilMs: number;
}

/** The operator has acknowledged: a person may be looking at the prompt. */
export interface Pending {
  readonly state: 'pending';
  readonly authReqId: string;
  readonly intervalMs: number;
  readonly nextPollAtMs: number;
  /** Polls stop here: `expires_in` counted from sending the request. */
  readonly redeemableUntilMs: number;
  /** Nobody is prompted anew before: `expires_in` counted from reading the reply. */
  readonly livesUntilMs: number;
  /** While somebody's poll is on the wire. */
  readonly leaseUntilMs?: number;
}

/** The token has come and goes out with the lookup. */
export interface Redeemed {
  readonly state: 'redeemed';
  readonly leaseUntilMs: number;
}

/** It came to no token. */
export interface Ended {
  readonly state: 'ended';
  readonly failure: LookupFailure;
  readonly untilMs: number;
}

/** How long each word counts, and how long an exchange may take. */
export interface ConsentRules {
  /** No second prompt for so long after one that was never acknowledged. */
  readonly doubtMs: number;
  readonly deniedMs: number;
  /** How long what nobody was there to hear is kept for its caller. */
  readonly resultMs: number;
  /** Longer than any exchange: once it is over, whoever was at it is gone. */
  readonly leaseMs: number;
  readonly firstPoll: 'at-once' | 'after-interval';
}

const SLOW_DOWN_MS = 5000;

/** How often somebody who waits for another process looks whether it is done. */
const LOOK_AGAIN_MS = 250;

/** Long enough for everybody who looks that often. */
const HEARD_MS = 8 * LOOK_AGAIN_MS;

const EXPIRED: LookupFailure = { code: 'CONSENT_EXPIRED', reach: 'number' };

/** What somebody who asks about the number is to do. */
export type NextStep =
  /** Nothing lives: ask the owner. */
  | { readonly step: 'request' }
  /** Ask the operator whether the owner has answered. */
  | { readonly step: 'poll'; readonly pending: ConsentIdentity & Pending }
  /** Nothing is to be done before then. */
  | { readonly step: 'wait'; readonly untilMs: number }
  /** Somebody must wait, but not here: the operator's answer is not ours to wait for. */
  | { readonly step: 'turn-away' }
  /** It is over; `forget` where this caller need be told no more, and the next ask prompts anew. */
  | { readonly step: 'fail'; readonly failure: LookupFailure; readonly forget: boolean };

/** Decides by the record alone; or by its absence, in a store that may have lost it. Pure. */
export function nextStep(
  record: ConsentRecord | undefined,
  caller: string,
  nowMs: number,
  doubtUntilMs = 0,
): NextStep {
  if (record === undefined) {
    return { step: doubtUntilMs > nowMs ? 'turn-away' : 'request' };
  }
  if (!isAlive(record, nowMs)) {
    return record.caller === caller && wasLeftWaiting(record)
      ? { step: 'fail', failure: EXPIRED, forget: true }
      : { step: 'request' };
  }
  if (record.state === 'ended' && record.failure.code === 'CONSENT_DENIED') {
    const retryAfterSeconds = secondsUntil(record.untilMs, nowMs);
    return { step: 'fail', failure: { ...record.failure, retryAfterSeconds }, forget: false };
  }
  const isExpired = record.state === 'ended' && record.failure.code === 'CONSENT_EXPIRED';
  if (record.caller !== caller) return { step: isExpired ? 'request' : 'turn-away' };
  switch (record.state) {
    case 'requested':
      return record.leaseUntilMs > nowMs
        ? { step: 'wait', untilMs: Math.min(record.leaseUntilMs, nowMs + LOOK_AGAIN_MS) }
        : { step: 'turn-away' };
    case 'pending':
      return nextStepWhilePending(record, nowMs);
    case 'redeemed':
      return { step: 'wait', untilMs: Math.min(record.leaseUntilMs, nowMs + LOOK_AGAIN_MS) };
    case 'ended':
      return { step: 'fail', failure: record.failure, forget: isExpired };
  }
}

function nextStepWhilePending(pending: ConsentIdentity & Pending, nowMs: number): NextStep {
  const { leaseUntilMs = 0, nextPollAtMs, redeemableUntilMs, livesUntilMs } = pending;
  if (leaseUntilMs > nowMs) {
    return { step: 'wait', untilMs: Math.min(leaseUntilMs, nowMs + LOOK_AGAIN_MS) };
  }
  if (Math.max(nextPollAtMs, nowMs) >= redeemableUntilMs) {
    return { step: 'wait', untilMs: livesUntilMs };
  }
  return nextPollAtMs > nowMs ? { step: 'wait', untilMs: nextPollAtMs } : { step: 'poll', pending };
}

/** Whether the record still stands in the way of a new prompt. */
export function isAlive(record: ConsentRecord, nowMs: number): boolean {
  return nowMs < endsAtMs(record);
}

/** Until when the record stands in the way of a new prompt. */
export function endsAtMs(record: ConsentRecord): number {
  switch (record.state) {
    case 'requested':
      return record.doubtUntilMs;
    case 'pending':
      return record.livesUntilMs;
    case 'redeemed':
      return record.leaseUntilMs;
    case 'ended':
      return record.untilMs;
  }
}

/** Whether its caller was never told how it ended. */
function wasLeftWaiting(record: ConsentRecord): boolean {
  return record.state !== 'ended';
}

/** What is written before the request to prompt leaves. */
export function requested(
  identity: ConsentIdentity,
  nowMs: number,
  rules: ConsentRules,
): ConsentRecord {
  return {
    ...identity,
    state: 'requested',
    leaseUntilMs: nowMs + rules.leaseMs,
    doubtUntilMs: nowMs + rules.doubtMs,
  };
}

/** The request to prompt was answered, in a way that leaves open whether a prompt is on its way. */
export function inDoubt(record: ConsentRecord, nowMs: number): ConsentRecord {
  return record.state === 'requested' ? { ...record, leaseUntilMs: nowMs } : record;
}

/** The operator acknowledged a request sent at `sentAtMs` and read at `nowMs`. */
export function acknowledged(
  { id, caller, lookup }: ConsentIdentity,
  { authReqId, expiresInSeconds, intervalSeconds }: Acknowledgement,
  sentAtMs: number,
  nowMs: number,
  rules: ConsentRules,
): ConsentRecord {
  const intervalMs = intervalSeconds * 1000;
  return {
    id,
    caller,
    lookup,
    state: 'pending',
    authReqId,
    intervalMs,
    nextPollAtMs: rules.firstPoll === 'at-once' ? nowMs : nowMs + intervalMs,
    redeemableUntilMs: sentAtMs + expiresInSeconds * 1000,
    livesUntilMs: nowMs + expiresInSeconds * 1000,
  };
}

/** What is written before a poll leaves: the next one waits its interval, counted from this sending. */
export function polling(
  pending: ConsentIdentity & Pending,
  nowMs: number,
  rules: ConsentRules,
): ConsentIdentity & Pending {
  return {
    ...pending,
    nextPollAtMs: nowMs + pending.intervalMs,
    leaseUntilMs: nowMs + rules.leaseMs,
  };
}

/** A poll sent at `sentAtMs` left everything open: `slow_down` adds five seconds for good (CIBA §11). */
export function polled(
  pending: ConsentIdentity & Pending,
  { goOn, retryAfterSeconds = 0 }: Extract<PollJudgement, { goOn: unknown }>,
  sentAtMs: number,
  nowMs: number,
): ConsentRecord {
  const intervalMs = pending.intervalMs + (goOn === 'slow_down' ? SLOW_DOWN_MS : 0);
  const nextPollAtMs = Math.max(sentAtMs + intervalMs, nowMs + retryAfterSeconds * 1000);
  return { ...pending, intervalMs, nextPollAtMs, leaseUntilMs: nowMs };
}

/** The token has come. */
export function redeemed(
  { id, caller, lookup }: ConsentIdentity,
  nowMs: number,
  rules: ConsentRules,
): ConsentRecord {
  return { id, caller, lookup, state: 'redeemed', leaseUntilMs: nowMs + rules.leaseMs };
}

/**
 * It came to nothing. A denial counts for whoever asks; an expiry is told once; anything else stands
 * until the prompt, if there is one, is no more.
 */
export function ended(
  record: ConsentRecord,
  failure: LookupFailure,
  nowMs: number,
  rules: ConsentRules,
): ConsentRecord {
  const { id, caller, lookup } = record;
  const untilMs =
    failure.code === 'CONSENT_DENIED'
      ? nowMs + rules.deniedMs
      : failure.code === 'CONSENT_EXPIRED'
        ? nowMs + rules.resultMs
        : Math.max(endsAtMs(record), nowMs);
  return { id, caller, lookup, state: 'ended', failure, untilMs };
}

/** The lookup came to nothing: for a moment, so that whoever waits in another process hears of it. */
export function endedByLookup(
  { id, caller, lookup }: ConsentIdentity,
  failure: LookupFailure,
  nowMs: number,
): ConsentRecord {
  return { id, caller, lookup, state: 'ended', failure, untilMs: nowMs + HEARD_MS };
}

/**
 * What is written anew where a store has lost all it knew: somebody else's poll, which the lost record
 * told of and ours does not, may be on the wire.
 */
export function restored(
  pending: ConsentIdentity & Pending,
  nowMs: number,
  rules: ConsentRules,
): ConsentRecord {
  return { ...pending, leaseUntilMs: nowMs + rules.leaseMs };
}

const PROGRESS: Readonly<Record<ConsentState['state'], number>> = {
  requested: 0,
  pending: 1,
  redeemed: 2,
  ended: 3,
};

/**
 * Whether what somebody learned of a consent is to be written although the record is no longer the one
 * that they left: the store may have lost it, or somebody took over from one who was held up. Pure.
 */
export function overrules(learned: ConsentRecord, found: ConsentRecord | undefined): boolean {
  return (
    found === undefined ||
    (found.id === learned.id && PROGRESS[found.state] < PROGRESS[learned.state])
  );
}

/**
 * What a request hears that has no more patience, or must not join.
 *
 * @param wallNowMs the same moment as `nowMs`, in milliseconds since 1970
 */
export function pendingFailure(
  record: ConsentRecord | undefined,
  nowMs: number,
  wallNowMs: number,
  doubtUntilMs = 0,
): LookupFailure {
  const failure = { code: 'CONSENT_PENDING', reach: 'number' } as const;
  if (record === undefined) {
    return { ...failure, retryAfterSeconds: secondsUntil(doubtUntilMs, nowMs) };
  }
  return {
    ...failure,
    retryAfterSeconds: secondsUntil(againAtMs(record, nowMs), nowMs),
    expiresAtMs: wallNowMs + (endsAtMs(record) - nowMs),
  };
}

/** When the record may say something else. */
export function againAtMs(record: ConsentRecord, nowMs: number): number {
  if (record.state === 'pending') return record.nextPollAtMs;
  const isUnderWay = record.state === 'requested' && record.leaseUntilMs > nowMs;
  return isUnderWay ? record.leaseUntilMs : endsAtMs(record);
}

/** In whole seconds, and at least one: nobody is to ask again at once. */
export function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1000));
}
