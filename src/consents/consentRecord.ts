import type { FailedLookup } from '../domain/fact.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure, LookupFailureCode } from '../domain/errors.ts';
import type { Polled } from '../tokens/tokenManager.ts';
import type { Acknowledgement, AcknowledgementJudgement } from '../tokens/tokenResponses.ts';

/**
 * The consent of one number's owner (docs/design.md, "Consent"). All times are milliseconds of the store's own clock. A
 * process writes each step before it takes it.
 */
export interface ConsentRecord {
  readonly consent?: Consent;
  /** Ends of earlier consents, where they are still to be reported or bar a prompt. */
  readonly ends: readonly ConsentEnd[];
}

export interface ConsentIdentity {
  /** Used in the audit log and in logs; does not reveal the number. */
  readonly id: string;
  /** The hashed caller key of the requests that share it; the member's name is in stores of earlier releases. */
  readonly asker: string;
  /** The identity of the only operator that can be polled for it. */
  readonly operator: string;
  /** Its operation is fixed by the scope; its window may still change. */
  readonly lookup: Lookup;
  /** The number of prompts in a row before it, by {@link unansweredIn}; absent where there are none. */
  readonly unanswered?: number;
}

/** While it lives the owner is not prompted again. */
export type Consent = Requested | Pending | Granted | Redeemed | Closed;

/** The request to prompt is about to leave, or left and was never answered. */
export interface Requested extends ConsentIdentity {
  readonly state: 'requested';
  /** Until then the exchange may be under way. */
  readonly leaseUntilMs: number;
  /** Until then a prompt that was not acknowledged may be live. */
  readonly doubtUntilMs: number;
}

/** The operator has acknowledged: a person may be looking at the prompt. */
export interface Pending extends ConsentIdentity {
  readonly state: 'pending';
  readonly authReqId: string;
  readonly intervalMs: number;
  readonly nextPollAtMs: number;
  /** Polls stop at this time: `expires_in` counted from sending the request. */
  readonly redeemableUntilMs: number;
  /** The owner is not prompted again before this time: `expires_in` counted from reading the reply. */
  readonly livesUntilMs: number;
  /** Set while a poll is on the wire. */
  readonly leaseUntilMs?: number;
}

/** The owner has consented: the token has arrived, and its lookup has not left. */
export interface Granted extends ConsentIdentity {
  readonly state: 'granted';
  /** A secret, which a shared store seals. */
  readonly token: string;
  /** The process whose key it is bound to, where only that process can use it. */
  readonly holder?: string;
  /**
   * Not spent after this time: its `expires_in` less the time of an exchange, ten minutes at most, and in a shared store no
   * longer than a doubt.
   */
  readonly untilMs: number;
  /** Set while a process is about to spend it. */
  readonly leaseUntilMs?: number;
}

/** The lookup that the token is spent on has left, or is about to: no other lookup follows. */
export interface Redeemed extends ConsentIdentity {
  readonly state: 'redeemed';
  readonly leaseUntilMs: number;
}

/** A consent that brought no token; it keeps the owner from being prompted for a while. */
export interface Closed extends ConsentIdentity {
  readonly state: 'closed';
  readonly failure: LookupFailure;
  readonly untilMs: number;
}

export type ConsentEnd = Answered | Expired | Failed;

interface Ended extends ConsentIdentity {
  readonly atMs: number;
  readonly untilMs: number;
}

/**
 * A consent whose lookup brought a fact, which is kept elsewhere. This entry distinguishes its end from a loss of the
 * store.
 */
export interface Answered extends Ended {
  readonly kind: 'answered';
}

/**
 * A consent that was not answered, or was lost: reported to each request that waited for it, otherwise to a later one.
 */
export interface Expired extends Ended {
  readonly kind: 'expired';
  readonly isTold: boolean;
}

/**
 * A consent whose lookup left and failed, or whose token ended before that: returned to each request of its caller, and
 * the owner is not prompted for what it applies to. It stays in the record for as long again, so that the next prompt
 * counts it.
 */
export interface Failed extends Ended, FailedLookup {
  readonly kind: 'failed';
}

/** The outcome of an exchange: the consent lives on, has ended, or the owner was not prompted for it. */
export type Learned =
  | { readonly kind: 'lives'; readonly lives: Consent }
  | { readonly kind: 'ended'; readonly ended: ConsentEnd }
  | { readonly kind: 'withdrawn'; readonly id: string };

/** The settings of docs/settings.md, "Consent". */
export interface ConsentSettings extends Pick<
  ConsentRules,
  'doubtMs' | 'deniedMs' | 'failureMs' | 'resultMs'
> {
  readonly waitMs: number;
}

export interface ConsentRules {
  /** How long no second prompt follows one that was never acknowledged. */
  readonly doubtMs: number;
  readonly deniedMs: number;
  /** How long no prompt follows the first lookup that failed, whatever its `Retry-After`. */
  readonly failureMs: number;
  /** How long an end that reached no request is kept. */
  readonly resultMs: number;
  /** Longer than any exchange: when a lease is over, the process that held it is gone. */
  readonly leaseMs: number;
  readonly firstPoll: 'at-once' | 'after-interval';
}

/** The longest that a prompt bars its number, whatever its operator replies. */
export const MAX_LIFE_MS = 600_000;

/** The failure of a token that ended before its lookup left. */
const UNSPENT: LookupFailure = { code: 'CONSENT_EXPIRED', reach: 'number' };

/** How often the time without a prompt doubles, from one unanswered prompt to the next. */
const MAX_DOUBLINGS = 4;

/** Long enough for requests in other replicas to get the denial. */
const MIN_DENIED_MS = 2000;

/** Longer than a process may be suspended while it waits for another one. */
const ANSWERED_KEPT_MS = 10_000;

const SLOW_DOWN_MS = 5000;

/** A reply to a poll that takes longer was held back by the operator; its request was not delayed on the way. */
const MAX_TRANSIT_MS = 500;

/** Until when the consent bars a prompt. */
export function barsUntilMs(consent: Consent): number {
  switch (consent.state) {
    case 'requested':
      return consent.doubtUntilMs;
    case 'pending':
      // A poll on the wire may still bring the token, or a denial.
      return Math.max(consent.livesUntilMs, consent.leaseUntilMs ?? 0);
    case 'granted':
      return Math.max(consent.untilMs, consent.leaseUntilMs ?? 0);
    case 'redeemed':
      return consent.leaseUntilMs;
    case 'closed':
      return consent.untilMs;
  }
}

function endKeptUntilMs(end: ConsentEnd): number {
  return end.kind === 'failed' ? 2 * end.untilMs - end.atMs : end.untilMs;
}

/** The rules by which a record ages. */
export type AgeingRules = Pick<ConsentRules, 'resultMs' | 'failureMs'>;

/** The record at a moment: a consent that expired has ended, and ends expire as well. Pure. */
export function asOf(
  record: ConsentRecord | undefined,
  nowMs: number,
  rules: AgeingRules,
): ConsentRecord {
  if (record === undefined) return { ends: [] };
  const { consent } = record;
  if (consent !== undefined && barsUntilMs(consent) > nowMs) {
    return { consent, ends: keptAt(record.ends, nowMs) };
  }
  const ended = consent === undefined ? [] : endsOf(consent, rules);
  return { ends: keptAt([...record.ends, ...ended], nowMs) };
}

function keptAt(ends: readonly ConsentEnd[], nowMs: number): readonly ConsentEnd[] {
  return ends.filter((end) => endKeptUntilMs(end) > nowMs);
}

/** The ends that a consent leaves when it expires. */
function endsOf(
  consent: Consent,
  rules: AgeingRules,
  atMs = barsUntilMs(consent),
): readonly ConsentEnd[] {
  switch (consent.state) {
    // Requests got the failure while it was closed.
    case 'closed':
      return [];
    // As the operator would have replied: the owner consented, and a prompt at once might be in vain too.
    case 'granted':
      return [failed(consent, { lookup: consent.lookup, failure: UNSPENT }, atMs, rules)];
    case 'requested':
    case 'pending':
    case 'redeemed':
      return [expired(consent, atMs, rules.resultMs)];
  }
}

/** Until when a record matters. A consent that expires is kept, to be reported. */
export function keptUntilMs({ consent, ends }: ConsentRecord, rules: AgeingRules): number {
  const untilMs = consent === undefined ? 0 : barsUntilMs(consent);
  const ended = consent === undefined ? [] : endsOf(consent, rules, untilMs);
  return Math.max(untilMs, ...[...ends, ...ended].map(endKeptUntilMs));
}

/** Whether a failure counts at an operator: one that does not know the number decides nothing for the others. */
export function countsAt(
  { operator, failure }: Pick<Failed, 'operator' | 'failure'>,
  at: string,
): boolean {
  return operator === at || failure.isUnknownNumber !== true;
}

/** The end of a request to prompt that was sent at `sentAtMs` and judged at `nowMs`. Pure. */
export function requestEnded(
  consent: Requested,
  judged: AcknowledgementJudgement,
  sentAtMs: number,
  nowMs: number,
  rules: ConsentRules,
): Learned {
  // A prompt may have begun at any moment until now.
  const times = { leaseUntilMs: nowMs, doubtUntilMs: nowMs + rules.doubtMs };
  const unacknowledged: Learned = { kind: 'lives', lives: { ...consent, ...times } };
  switch (judged.kind) {
    case 'acknowledged': {
      const pending = acknowledged(consent, judged.acknowledged, sentAtMs, nowMs, rules);
      return { kind: 'lives', lives: pending };
    }
    case 'reply-lost':
      return unacknowledged;
    case 'failed': {
      const { failure, mayHavePrompted, holdSeconds } = judged;
      if (mayHavePrompted) return unacknowledged;
      if (failure.code === 'CONSENT_DENIED') return denied(consent, failure, nowMs, rules);
      // No record remains: the next request may try again.
      if (holdSeconds === undefined) return { kind: 'withdrawn', id: consent.id };
      const held = { ...failure, retryAfterSeconds: holdSeconds };
      return closed(consent, held, nowMs + holdSeconds * 1000);
    }
  }
}

export function acknowledged(
  identity: ConsentIdentity,
  { authReqId, expiresInSeconds, intervalSeconds }: Acknowledgement,
  sentAtMs: number,
  nowMs: number,
  rules: ConsentRules,
): Pending {
  const intervalMs = intervalSeconds * 1000;
  const lifeMs = Math.min(expiresInSeconds * 1000, MAX_LIFE_MS);
  return {
    ...identityOf(identity),
    state: 'pending',
    authReqId,
    intervalMs,
    nextPollAtMs: rules.firstPoll === 'at-once' ? nowMs : nowMs + intervalMs,
    redeemableUntilMs: sentAtMs + lifeMs,
    livesUntilMs: nowMs + lifeMs,
  };
}

export interface PollTimes {
  readonly sentAtMs: number;
  readonly nowMs: number;
  readonly isTold: boolean;
  readonly doubtUntilMs?: number | undefined;
}

/**
 * The outcome of a poll without a token. `slow_down` adds five seconds for good (CIBA §11). A denial counts for every
 * caller; after an expiry the owner may be prompted again; any other failure counts until the prompt has ended. Pure.
 *
 * @param sentAtMs when its first byte left
 * @param isTold whether a waiting request gets its end
 * @param doubtUntilMs of a store that has lost writes: what looks like an expiry may be a token that was spent
 */
export function pollEnded(
  pending: Pending,
  polled: Exclude<Polled, { kind: 'issued' }>,
  { sentAtMs, nowMs, isTold, doubtUntilMs = 0 }: PollTimes,
  rules: ConsentRules,
): Learned {
  switch (polled.kind) {
    case 'go-on': {
      const { goOn, retryAfterSeconds = 0 } = polled;
      const intervalMs = pending.intervalMs + (goOn === 'slow_down' ? SLOW_DOWN_MS : 0);
      // The operator counts the interval from when a poll arrives, which is some time between its first byte and its
      // reply. A poll without a reply may have arrived as late as when it was given up.
      const arrivedAtMs = goOn === 'no_reply' ? nowMs : Math.min(nowMs, sentAtMs + MAX_TRANSIT_MS);
      const nextPollAtMs = Math.max(arrivedAtMs + intervalMs, nowMs + retryAfterSeconds * 1000);
      const lives = { ...pending, intervalMs, nextPollAtMs, leaseUntilMs: nowMs };
      return { kind: 'lives', lives };
    }
    case 'failed': {
      const { failure } = polled;
      switch (failure.code) {
        case 'CONSENT_DENIED':
          return denied(pending, failure, nowMs, rules);
        case 'CONSENT_EXPIRED':
          if (doubtUntilMs > nowMs) return inDoubt(pending, nowMs, doubtUntilMs);
          return { kind: 'ended', ended: { ...expired(pending, nowMs, rules.resultMs), isTold } };
        default:
          return closed(pending, failure, Math.max(pending.livesUntilMs, nowMs));
      }
    }
  }
}

export function answered(identity: ConsentIdentity, nowMs: number): Learned {
  const times = { atMs: nowMs, untilMs: nowMs + ANSWERED_KEPT_MS };
  return { kind: 'ended', ended: { ...identityOf(identity), kind: 'answered', ...times } };
}

export function lookupEnded(
  identity: ConsentIdentity,
  { lookup, failure }: FailedLookup,
  nowMs: number,
  rules: ConsentRules,
): Learned {
  if (failure.code === 'CONSENT_DENIED') return denied(identity, failure, nowMs, rules);
  return { kind: 'ended', ended: failed(identity, { lookup, failure }, nowMs, rules) };
}

function failed(
  identity: ConsentIdentity,
  failedLookup: FailedLookup,
  atMs: number,
  { failureMs }: AgeingRules,
): Failed {
  // The operator says when it can be called again, and not how often an owner may be prompted in vain.
  const { retryAfterSeconds = 0 } = failedLookup.failure;
  const { unanswered = 0 } = identity;
  const unpromptedMs = failureMs * 2 ** Math.min(unanswered, MAX_DOUBLINGS);
  const untilMs = atMs + Math.max(retryAfterSeconds * 1000, unpromptedMs);
  return { ...identityOf(identity), ...failedLookup, kind: 'failed', atMs, untilMs };
}

/** The record with the consent's end, if that is to be reported. */
function concluded({ consent, ends }: ConsentRecord, id: string, end?: ConsentEnd): ConsentRecord {
  const others = ends.filter(
    (one) => one.id !== id && (end?.kind !== 'answered' || !isCountedOnly(one, end)),
  );
  return {
    ...(consent === undefined || consent.id === id ? {} : { consent }),
    ends: end === undefined ? others : [...others, end],
  };
}

/** Whether the failure no longer bars a prompt, and the answer begins a new row. */
function isCountedOnly(one: ConsentEnd, answer: Answered): boolean {
  return one.kind === 'failed' && one.untilMs <= answer.atMs && isInRow(one, answer);
}

/** How many prompts in a row before this one had no answer. */
export function unansweredIn(ends: readonly ConsentEnd[], next: Row): number {
  let most = 0;
  for (const end of ends) {
    if (end.kind !== 'failed' || !isInRow(end, next)) continue;
    most = Math.max(most, (end.unanswered ?? 0) + 1);
  }
  return most;
}

type Row = Pick<ConsentIdentity, 'asker' | 'operator' | 'lookup'>;

function isInRow(end: Failed, { asker, operator, lookup: { operation } }: Row): boolean {
  const isCounted = end.asker === asker || OPERATOR_TROUBLE.has(end.failure.code);
  return isCounted && end.lookup.operation === operation && countsAt(end, operator);
}

/** Failures of an operator with which another caller's lookup would have failed too. */
const OPERATOR_TROUBLE: ReadonlySet<LookupFailureCode> = new Set([
  'OPERATOR_RATE_LIMITED',
  'OPERATOR_UNAVAILABLE',
  'OPERATOR_TIMEOUT',
]);

/** Until when it bars prompts for other callers: what the operator refuses one repeatedly, it may grant another. */
export function barsOthersUntilMs({ failure, unanswered = 0, atMs, untilMs }: Failed): number {
  if (OPERATOR_TROUBLE.has(failure.code)) return untilMs;
  const { retryAfterSeconds = 0 } = failure;
  const firstMs = (untilMs - atMs) / 2 ** Math.min(unanswered, MAX_DOUBLINGS);
  return atMs + Math.max(retryAfterSeconds * 1000, firstMs);
}

/** The record in which these expiries are marked as reported. */
export function withDelivered(
  { ends, ...record }: ConsentRecord,
  ids: readonly string[],
): ConsentRecord {
  return {
    ...record,
    ends: ends.map((end) =>
      end.kind === 'expired' && ids.includes(end.id) ? { ...end, isTold: true } : end,
    ),
  };
}

/** Until when the outcome must reach the store: without it an owner would be prompted. */
export function neededUntilMs(learned: Learned): number | undefined {
  if (learned.kind === 'lives' && learned.lives.state === 'granted') return learned.lives.untilMs;
  return failureIn(learned)?.untilMs;
}

/** The failure that bars prompts while it is remembered, if there is one. */
export function failureIn(learned: Learned): Closed | Failed | undefined {
  switch (learned.kind) {
    case 'lives':
      return learned.lives.state === 'closed' ? learned.lives : undefined;
    case 'ended':
      return learned.ended.kind === 'failed' ? learned.ended : undefined;
    case 'withdrawn':
      return undefined;
  }
}

const PROGRESS: Readonly<Record<Consent['state'], number>> = {
  requested: 0,
  pending: 1,
  granted: 2,
  redeemed: 3,
  closed: 4,
};

export function withLearned(record: ConsentRecord, learned: Learned): ConsentRecord {
  switch (learned.kind) {
    case 'lives':
      return { consent: learned.lives, ends: record.ends };
    case 'ended':
      return concluded(record, learned.ended.id, learned.ended);
    case 'withdrawn':
      return concluded(record, learned.id);
  }
}

/**
 * The outcome of an exchange in a record that has changed since it started: the store may have lost it, or another
 * process took over from one that was suspended. `undefined` where it no longer counts. Pure.
 */
export function overruled(found: ConsentRecord, learned: Learned): ConsentRecord | undefined {
  const { consent, ends } = found;
  switch (learned.kind) {
    case 'lives': {
      const { lives } = learned;
      // Another process may have claimed the token meanwhile.
      if (lives.state === 'redeemed') return undefined;
      if (ends.some(({ id }) => id === lives.id)) return undefined;
      const isOvertaken =
        consent !== undefined &&
        (consent.id !== lives.id || PROGRESS[consent.state] >= PROGRESS[lives.state]);
      return isOvertaken ? undefined : withLearned(found, learned);
    }
    case 'ended': {
      const { id, kind } = learned.ended;
      // A poll of a suspended process: another poll got the token.
      const isGranted = consent?.id === id && ['granted', 'redeemed'].includes(consent.state);
      return isGranted && kind === 'expired' ? undefined : withLearned(found, learned);
    }
    case 'withdrawn':
      return consent?.id === learned.id ? withLearned(found, learned) : undefined;
  }
}

function inDoubt(pending: Pending, nowMs: number, untilMs: number): Learned {
  const doubtUntilMs = Math.max(pending.livesUntilMs, untilMs);
  const times = { leaseUntilMs: nowMs, doubtUntilMs };
  return { kind: 'lives', lives: { ...identityOf(pending), state: 'requested', ...times } };
}

function denied(
  identity: ConsentIdentity,
  failure: LookupFailure,
  nowMs: number,
  { deniedMs }: ConsentRules,
): Learned {
  return closed(identity, failure, nowMs + Math.max(deniedMs, MIN_DENIED_MS));
}

function closed(identity: ConsentIdentity, failure: LookupFailure, untilMs: number): Learned {
  return { kind: 'lives', lives: { ...identityOf(identity), state: 'closed', failure, untilMs } };
}

function expired(identity: ConsentIdentity, atMs: number, resultMs: number): Expired {
  const times = { atMs, untilMs: atMs + resultMs };
  return { ...identityOf(identity), kind: 'expired', isTold: false, ...times };
}

/** A consent without its state. */
export function identityOf({
  id,
  asker,
  operator,
  lookup,
  unanswered = 0,
}: ConsentIdentity): ConsentIdentity {
  const identity = { id, asker, operator, lookup };
  return unanswered === 0 ? identity : { ...identity, unanswered };
}
