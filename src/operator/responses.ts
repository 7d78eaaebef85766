import type { CheckFact, DateFact } from '../domain/fact.ts';
import { parseInstant, type Instant } from '../domain/instant.ts';
import type { MaxAgeHours } from '../domain/maxAge.ts';
import type { LookupFailure } from '../errors.ts';
import type { HttpReply } from '../http/exchange.ts';
import { readAnswer, type JsonObject } from '../http/json.ts';
import { errorWord, judgeRefusal, markUnknownNumber } from '../http/refusal.ts';
import type { ReplyFlaw } from '../http/replyFlaw.ts';
import { asksOwner, type Flow } from '../tokens/authorizationSettings.ts';

/** What a reply to a lookup comes to. */
export type Judgement<F> =
  | { readonly kind: 'answered'; readonly fact: F }
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
  const read = readAnswer(reply);
  switch (read.kind) {
    case 'read':
      return judgeDateBody(read.body, exchange);
    case 'flawed':
      return invalid(read.flaw);
  }
}

function judgeDateBody(body: JsonObject, exchange: LookupExchange): Judgement<DateFact> {
  const { monitoredPeriod } = body;
  const saysPeriod = monitoredPeriod !== undefined && monitoredPeriod !== null;
  if (saysPeriod && !isDays(monitoredPeriod)) return invalid('wrong type of monitoredPeriod');
  const latestSimChange = readDate(body, exchange.nowMs);
  if (typeof latestSimChange === 'string') return invalid(latestSimChange);
  const fact = {
    operation: 'retrieve-date',
    latestSimChange,
    sentAtMs: exchange.sentAtMs,
  } as const;
  return {
    kind: 'answered',
    fact: saysPeriod ? { ...fact, monitoredPeriodDays: monitoredPeriod } : fact,
  };
}

/** Judges a reply to `check`: `{swapped: boolean}`; `"false"` is not false. Pure. */
export function judgeCheck(
  reply: HttpReply,
  exchange: LookupExchange,
  maxAgeHours: MaxAgeHours,
): Judgement<CheckFact> {
  if (!isSuccess(reply)) return refused(reply, exchange);
  const read = readAnswer(reply);
  switch (read.kind) {
    case 'read': {
      const { swapped } = read.body;
      if (typeof swapped !== 'boolean') return invalid('wrong type of swapped');
      const { sentAtMs } = exchange;
      return { kind: 'answered', fact: { operation: 'check', maxAgeHours, swapped, sentAtMs } };
    }
    case 'flawed':
      return invalid(read.flaw);
  }
}

function readDate({ latestSimChange }: JsonObject, nowMs: number): Instant | null | ReplyFlaw {
  if (latestSimChange === null) return null;
  if (typeof latestSimChange !== 'string') return 'wrong type of latestSimChange';
  const instant = parseInstant(latestSimChange);
  if (instant === undefined) {
    const needsZone = parseInstant(`${latestSimChange}Z`) !== undefined;
    return needsZone ? 'date without a zone' : 'date not of RFC 3339';
  }
  if (instant.epochMs < FIRST_SIM_MS) return 'date before 1991';
  return instant.epochMs > nowMs + MAX_LEAD_MS ? 'date ahead' : instant;
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

function refused(reply: HttpReply, { nowMs, flow, isUnproven }: LookupExchange): Failed {
  if (reply.status === 400 && errorWord(reply, 'code') === 'OUT_OF_RANGE') {
    return { kind: 'failed', failure: { code: 'PERIOD_NOT_SUPPORTED', reach: 'question' } };
  }
  const failure = judgeRefusal(reply, nowMs, { wordIn: 'code', asksOwner: asksOwner(flow) });
  const endsConsent = failure.code === 'CONSENT_DENIED' || failure.code === 'CONSENT_EXPIRED';
  if (endsConsent && isUnproven === true) return invalid('no correlator');
  // Once an owner has answered a prompt, no other operator is asked: it would prompt them again.
  const mayBeElsewhere = !asksOwner(flow) && isUnproven !== true;
  return {
    kind: 'failed',
    failure: mayBeElsewhere ? markUnknownNumber(failure, reply, 'code') : failure,
  };
}

function isDays(value: unknown): value is number {
  return (
    typeof value === 'number' &&
    Number.isInteger(value) &&
    value >= 0 &&
    value <= MAX_MONITORED_PERIOD_DAYS
  );
}
