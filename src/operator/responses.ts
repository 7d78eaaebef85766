import type { CheckFact, DateFact } from '../domain/fact.ts';
import type { FailedLookup } from '../domain/failedLookup.ts';
import { parseInstant, type Instant } from '../domain/instant.ts';
import type { MaxAgeHours } from '../domain/maxAge.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { ErrorMap } from '../http/errorMap.ts';
import type { HttpReply } from '../http/exchange.ts';
import { readAnswer, type JsonObject } from '../http/json.ts';
import {
  errorWord,
  judgeByMap,
  judgeRefusal,
  markRefusalOfUs,
  markUnknownNumber,
  type RefusalContext,
} from '../http/refusal.ts';
import type { ReplyFlaw } from '../http/replyFlaw.ts';
import { asksOwner, type Flow } from '../tokens/authorizationSettings.ts';
import type { ReadingSettings } from './operatorSettings.ts';

/** What a reply to a lookup comes to. */
export type Judgement<F> =
  | {
      readonly kind: 'answered';
      /** At least one; what the lookup was for goes first, where the reply has it. */
      readonly facts: readonly F[];
      /** What no further lookup would bring, where the reply says so. */
      readonly closed?: FailedLookup;
    }
  | {
      readonly kind: 'failed';
      readonly failure: LookupFailure;
      /** Which check the reply failed, for the log. */
      readonly flaw?: ReplyFlaw;
    };

type Failed = Extract<Judgement<never>, { kind: 'failed' }>;

/** What a judge knows of an exchange beside its reply. Times are milliseconds since 1970. */
export interface LookupExchange {
  readonly sentAtMs: number;
  /** When the reply was read. */
  readonly nowMs: number;
  readonly flow: Flow;
  readonly reading: ReadingSettings;
  readonly errors: ErrorMap;
  /** Whether the reply may be that of another request: then it ends no consent. */
  readonly isUnproven?: boolean;
}

/** Reads the replies to the two lookups. */
export interface LookupJudges {
  retrieveDate(reply: HttpReply, exchange: LookupExchange): Judgement<DateFact>;
  check(reply: HttpReply, exchange: LookupExchange, maxAgeHours: MaxAgeHours): Judgement<CheckFact>;
}

/** Clocks differ; a date further ahead is none. */
const MAX_LEAD_MS = 5 * 60_000;

/** Before the first SIM card, and so before the first swap: sentinels such as 1900 and 1970. */
const FIRST_SIM_MS = Date.UTC(1991, 0, 1);

/** CAMARA bounds it nowhere; a century is past belief. */
const MAX_MONITORED_PERIOD_DAYS = 36_500;

/** Judges a reply to `retrieve-date`: `{latestSimChange: RFC 3339 | null, monitoredPeriod?}`. Pure. */
export function judgeRetrieveDate(reply: HttpReply, exchange: LookupExchange): Judgement<DateFact> {
  if (!isSuccess(reply)) return refused(reply, exchange);
  const read = readAnswer(reply, exchange.errors.wordAt);
  switch (read.kind) {
    case 'read':
      return judgeDateBody(read.body, exchange);
    case 'flawed':
      return invalid(read.flaw);
  }
}

function judgeDateBody(
  body: JsonObject,
  { sentAtMs, nowMs, reading }: LookupExchange,
): Judgement<DateFact> {
  const { members } = reading;
  const saidPeriod = body[members.monitoredPeriod] ?? undefined;
  if (saidPeriod !== undefined && !isDays(saidPeriod)) {
    return invalid('wrong type of monitoredPeriod');
  }
  const latestSimChange = readDate(body[members.latestSimChange], nowMs, reading.sentinelDates);
  if (typeof latestSimChange === 'string') return invalid(latestSimChange);
  const fact = { operation: 'retrieve-date', latestSimChange, sentAtMs } as const;
  const monitoredPeriodDays =
    saidPeriod ?? (latestSimChange === null ? periodOfNull(reading) : undefined);
  return {
    kind: 'answered',
    facts: [monitoredPeriodDays === undefined ? fact : { ...fact, monitoredPeriodDays }],
  };
}

/** For how many days a null date without a period of its own says that there was no swap. */
function periodOfNull({ nullMeans }: ReadingSettings): number | undefined {
  switch (nullMeans.kind) {
    case 'not-disclosed':
      return undefined;
    case 'no-swap-within':
      return nullMeans.days;
  }
}

/** Judges a reply to `check`: `{swapped: boolean}`; `"false"` is not false. Pure. */
export function judgeCheck(
  reply: HttpReply,
  exchange: LookupExchange,
  maxAgeHours: MaxAgeHours,
): Judgement<CheckFact> {
  if (!isSuccess(reply)) return refused(reply, exchange);
  const read = readAnswer(reply, exchange.errors.wordAt);
  switch (read.kind) {
    case 'read': {
      const swapped = read.body[exchange.reading.members.swapped];
      if (typeof swapped !== 'boolean') return invalid('wrong type of swapped');
      const { sentAtMs } = exchange;
      return { kind: 'answered', facts: [{ operation: 'check', maxAgeHours, swapped, sentAtMs }] };
    }
    case 'flawed':
      return invalid(read.flaw);
  }
}

function readDate(
  latestSimChange: unknown,
  nowMs: number,
  sentinels: readonly string[],
): Instant | null | ReplyFlaw {
  if (latestSimChange === null) return null;
  if (typeof latestSimChange !== 'string') return 'wrong type of latestSimChange';
  if (sentinels.some((sentinel) => isSentinel(latestSimChange, sentinel))) return null;
  const instant = parseInstant(latestSimChange);
  if (instant === undefined) {
    const needsZone = parseInstant(`${latestSimChange}Z`) !== undefined;
    return needsZone ? 'date without a zone' : 'date not of RFC 3339';
  }
  if (instant.epochMs < FIRST_SIM_MS) return 'date before 1991';
  return instant.epochMs > nowMs + MAX_LEAD_MS ? 'date ahead' : instant;
}

/** The sentinel itself, or a time of the day that it is. */
function isSentinel(text: string, sentinel: string): boolean {
  if (text === sentinel) return true;
  return sentinel !== '' && text.startsWith(sentinel) && /^[Tt ]/.test(text.slice(sentinel.length));
}

function isSuccess({ status }: HttpReply): boolean {
  return status >= 200 && status < 300;
}

function invalid(flaw: ReplyFlaw): Failed {
  return {
    kind: 'failed',
    failure: { code: 'OPERATOR_INVALID_REPLY', reach: 'question' },
    flaw,
  };
}

function refused(reply: HttpReply, { nowMs, flow, errors, isUnproven }: LookupExchange): Failed {
  const context = { wordIn: 'code', asksOwner: asksOwner(flow), errors } as const;
  const failure =
    judgeByMap(reply, nowMs, context) ??
    judgeRange(reply, context) ??
    judgeRefusal(reply, nowMs, context);
  const endsConsent = failure.code === 'CONSENT_DENIED' || failure.code === 'CONSENT_EXPIRED';
  if (endsConsent && isUnproven === true) return invalid('no correlator');
  // Once an owner has answered a prompt, no other operator is asked: it would prompt them again.
  if (asksOwner(flow)) return { kind: 'failed', failure: markRefusalOfUs(failure, reply) };
  return {
    kind: 'failed',
    failure: isUnproven === true ? failure : markUnknownNumber(failure, reply, context),
  };
}

function judgeRange(reply: HttpReply, context: RefusalContext): LookupFailure | undefined {
  const isOutOfRange = reply.status === 400 && errorWord(reply, context) === 'OUT_OF_RANGE';
  return isOutOfRange ? { code: 'PERIOD_NOT_SUPPORTED', reach: 'question' } : undefined;
}

function isDays(value: unknown): value is number {
  return (
    typeof value === 'number' &&
    Number.isInteger(value) &&
    value >= 0 &&
    value <= MAX_MONITORED_PERIOD_DAYS
  );
}
