import type { CheckFact, DateFact } from '../domain/fact.ts';
import { parseInstant } from '../domain/instant.ts';
import type { MaxAgeHours } from '../domain/maxAge.ts';
import type { LookupFailure } from '../errors.ts';
import type { HttpReply } from '../http/exchange.ts';
import { readJsonObject } from '../http/json.ts';
import { errorName, judgeRefusal } from '../http/refusal.ts';

/** What a reply to a lookup comes to. */
export type Judgement<F> = { readonly fact: F } | { readonly failure: LookupFailure };

/** When the request left and when its reply was read, milliseconds since 1970. */
export interface ExchangeTimes {
  readonly sentAtMs: number;
  readonly nowMs: number;
}

/** Reads the replies to the two lookups. */
export interface LookupJudges {
  retrieveDate(reply: HttpReply, times: ExchangeTimes): Judgement<DateFact>;
  check(reply: HttpReply, times: ExchangeTimes, maxAgeHours: MaxAgeHours): Judgement<CheckFact>;
}

/** Clocks differ; a date further ahead is none. */
const LARGEST_LEAD_MS = 5 * 60_000;

/** Before the first SIM card, and so before the first swap: sentinels such as 1900 and 1970. */
const FIRST_SIM_MS = Date.UTC(1991, 0, 1);

/** CAMARA bounds it nowhere; a century is past belief. */
const LONGEST_MONITORED_PERIOD_DAYS = 36_500;

const INVALID_REPLY: { failure: LookupFailure } = {
  failure: { code: 'OPERATOR_INVALID_REPLY', reach: 'question' },
};

/** Judges a reply to `retrieve-date`: `{latestSimChange: RFC 3339 | null, monitoredPeriod?}`. Pure. */
export function judgeRetrieveDate(reply: HttpReply, times: ExchangeTimes): Judgement<DateFact> {
  if (reply.status !== 200) return refused(reply, times);
  const body = readJsonObject(reply);
  if (body === undefined) return INVALID_REPLY;
  const { latestSimChange, monitoredPeriod } = body;

  const period =
    monitoredPeriod === undefined || monitoredPeriod === null
      ? {}
      : isDays(monitoredPeriod)
        ? { monitoredPeriodDays: monitoredPeriod }
        : undefined;
  if (period === undefined) return INVALID_REPLY;

  const fact = { operation: 'retrieve-date', sentAtMs: times.sentAtMs, ...period } as const;
  if (latestSimChange === null) return { fact: { ...fact, latestSimChange } };
  if (typeof latestSimChange !== 'string') return INVALID_REPLY;
  const instant = parseInstant(latestSimChange);
  if (instant === undefined) return INVALID_REPLY;
  if (instant.epochMs < FIRST_SIM_MS || instant.epochMs > times.nowMs + LARGEST_LEAD_MS) {
    return INVALID_REPLY;
  }
  return { fact: { ...fact, latestSimChange: instant } };
}

/** Judges a reply to `check`: `{swapped: boolean}`; `"false"` is not false. Pure. */
export function judgeCheck(
  reply: HttpReply,
  times: ExchangeTimes,
  maxAgeHours: MaxAgeHours,
): Judgement<CheckFact> {
  if (reply.status !== 200) return refused(reply, times);
  const swapped = readJsonObject(reply)?.['swapped'];
  if (typeof swapped !== 'boolean') return INVALID_REPLY;
  return { fact: { operation: 'check', maxAgeHours, swapped, sentAtMs: times.sentAtMs } };
}

function refused(reply: HttpReply, times: ExchangeTimes): { failure: LookupFailure } {
  if (reply.status >= 200 && reply.status < 300) return INVALID_REPLY;
  if (reply.status === 400 && errorName(reply) === 'OUT_OF_RANGE') {
    return { failure: { code: 'PERIOD_NOT_SUPPORTED', reach: 'question' } };
  }
  return { failure: judgeRefusal(reply, times.nowMs) };
}

function isDays(value: unknown): value is number {
  return (
    typeof value === 'number' &&
    Number.isInteger(value) &&
    value >= 0 &&
    value <= LONGEST_MONITORED_PERIOD_DAYS
  );
}
