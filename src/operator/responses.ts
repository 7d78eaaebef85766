import type { CheckFact, DateFact, Fact, FailedLookup } from '../domain/fact.ts';
import { instantAt, parseInstant, type Instant } from '../domain/instant.ts';
import {
  MAX_MAX_AGE_HOURS,
  parseMaxAge,
  type MaxAgeHours,
  type Lookup,
} from '../domain/question.ts';
import { parsePhoneNumber, type PhoneNumber } from '../domain/phoneNumber.ts';
import type { LookupFailure } from '../domain/errors.ts';
import { saysOk, type ErrorMap } from '../judging/errorMap.ts';
import type { HttpReply, ReplyFlaw } from '../wire/exchange.ts';
import { memberAt, type JsonObject } from '../wire/json.ts';
import { readAnswer } from '../judging/answer.ts';
import { callProfile, deepFreeze, ProfileFault } from '../judging/profileCall.ts';
import {
  errorWord,
  failed,
  judgeByMap,
  judgeRefusal,
  markClientRefusal,
  markUnknownNumber,
  type Failed,
  type RefusalContext,
} from '../judging/refusal.ts';
import { promptsOwner, type Flow } from '../tokens/authorizationSettings.ts';
import type { DateReading, LookupReading, Pointer, SwappedReading } from '../domain/profile.ts';

export type Judgement<F> =
  | {
      readonly kind: 'answered';
      /** At least one; the fact that the lookup was made for is the first, where the reply has it. */
      readonly facts: readonly F[];
      /** What no further lookup could answer, according to the reply. */
      readonly closed?: FailedLookup;
    }
  | Failed;

/** What a judge knows of an exchange in addition to its reply. Times are milliseconds since 1970. */
export interface LookupExchange {
  readonly sentAtMs: number;
  readonly nowMs: number;
  readonly flow: Flow;
  /** The number that the lookup is about. */
  readonly number?: PhoneNumber;
  readonly reading: LookupReading;
  readonly errors: ErrorMap;
  /** Whether the reply may belong to another request. If so, it ends no consent. */
  readonly isUnproven?: boolean;
}

/** How far ahead a date may be, since clocks differ. */
const MAX_LEAD_MS = 5 * 60_000;

/** Before the first SIM card, and so before the first swap: sentinels such as 1900 and 1970. */
const FIRST_SIM_MS = Date.UTC(1991, 0, 1);

/** CAMARA sets no bound; more than a century is not believed. */
const MAX_MONITORED_PERIOD_DAYS = 36_500;

/**
 * Judges a reply to a lookup. CAMARA's reply to `retrieve-date` is `{latestSimChange: RFC 3339 | null,
 * monitoredPeriod?}`; to `check` it is `{swapped: boolean}`, where `"false"` is not false. Pure.
 */
export function judgeLookup(
  reply: HttpReply,
  exchange: LookupExchange,
  lookup: Lookup,
): Judgement<Fact> {
  const { errors, nowMs } = exchange;
  if (reply.status < 200 || reply.status >= 300) return refused(reply, exchange, lookup);
  if (errors.rules.some(({ status }) => status === reply.status)) {
    const failure = judgeByMap(reply, nowMs, contextOf(exchange));
    if (failure !== undefined) return failedBy(failure, reply, exchange);
  }
  const { okWords = [], wordAt } = errors;
  const hasOk = okWords.length > 0;
  const read = hasOk
    ? readAnswer(reply, [], wordAt.filter(({ length }) => length === 1).flat())
    : readAnswer(reply, wordAt);
  if (read.kind === 'flawed') return invalid(read.flaw);
  if (hasOk && !saysOk(read.body, errors)) return invalid('an error with the answer');
  return judgeBody(read.body, exchange, lookup);
}

function judgeBody(whole: JsonObject, exchange: LookupExchange, lookup: Lookup): Judgement<Fact> {
  const { reading, sentAtMs } = exchange;
  if (namesAnother(exchange.number, whole)) return invalid('another number');
  const body = reading.pick === undefined ? whole : picked(whole, reading.pick);
  if (body === undefined) return invalid('cannot be read by its profile');
  if (reading.number !== undefined && !isAbout(exchange.number, valueAt(body, reading.number))) {
    return invalid('another number');
  }
  const { swapped, isPartial = false } = reading;
  const check =
    swapped === undefined
      ? NOTHING_READ
      : readCheckFact(body, swapped, isPartial, lookup, sentAtMs);
  if (typeof check === 'string') return invalid(check);
  const date = readDateFact(body, exchange, check.isStated);
  if (typeof date === 'string') return invalid(date);
  const isCheck = lookup.operation === 'check';
  const own = isCheck ? check.fact : date;
  const other = isCheck ? date : check.fact;
  const facts: Fact[] = own === undefined ? [] : [own];
  if (other !== undefined) facts.push(other);
  const closed = check.isOfOwnWindow
    ? { lookup: isCheck ? lookup : MAX_CHECK, failure: OF_OWN_WINDOW }
    : undefined;
  if (own !== undefined || closed?.lookup === lookup) {
    return closed === undefined ? { kind: 'answered', facts } : { kind: 'answered', facts, closed };
  }
  // The operator has no answer for this lookup.
  const code = 'NUMBER_NOT_SERVED';
  return facts.length === 0
    ? failed({ code, reach: 'number' })
    : { kind: 'answered', facts, closed: { lookup, failure: { code, reach: 'operation' } } };
}

/** The operator answers only for its own window: no further lookup would answer another. */
const OF_OWN_WINDOW: LookupFailure = { code: 'PERIOD_NOT_SUPPORTED', reach: 'operation' };

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a constant within its own bounds
const MAX_WINDOW = MAX_MAX_AGE_HOURS as MaxAgeHours;
const MAX_CHECK: Lookup = { operation: 'check', maxAgeHours: MAX_WINDOW };

function picked(
  body: JsonObject,
  pick: NonNullable<LookupReading['pick']>,
): JsonObject | undefined {
  try {
    return callProfile('pick', pick, deepFreeze(body));
  } catch (error) {
    if (error instanceof ProfileFault) return undefined;
    throw error;
  }
}

function valueAt(body: JsonObject, pointer: Pointer): unknown {
  return memberAt(body, pointer.split('/').slice(1));
}

/** Whether the reply names this number, with or without its plus: another number is another person. */
function isAbout(number: PhoneNumber | undefined, stated: unknown): boolean {
  return number !== undefined && (stated === number || stated === number.slice(1));
}

/** Whether the reply names another number, in the member by which CAMARA's requests name theirs. */
function namesAnother(number: PhoneNumber | undefined, { phoneNumber }: JsonObject): boolean {
  if (number === undefined || typeof phoneNumber !== 'string') return false;
  const stated = parsePhoneNumber(phoneNumber);
  return stated.kind === 'parsed' && stated.value !== number;
}

/** `undefined` where the date is absent and need not be present. */
function readDateFact(
  body: JsonObject,
  { reading, nowMs, sentAtMs }: LookupExchange,
  saysSwapped: boolean,
): DateFact | ReplyFlaw | undefined {
  const { date, isPartial = false } = reading;
  if (date === undefined) return undefined;
  const value = valueAt(body, date.at);
  if (isPartial && (value === undefined || value === null)) {
    // Where the same reply has an answer, the date is withheld.
    return saysSwapped
      ? { operation: 'retrieve-date', latestSimChange: null, sentAtMs }
      : undefined;
  }
  const { monitoredPeriod: at, nullMeans } = date;
  const statedPeriod = at === undefined ? undefined : (valueAt(body, at) ?? undefined);
  if (statedPeriod !== undefined && !isDays(statedPeriod)) return 'wrong type of monitoredPeriod';
  const latestSimChange = readDate(value, nowMs, date);
  if (typeof latestSimChange === 'string') return latestSimChange;
  const fact = { operation: 'retrieve-date', latestSimChange, sentAtMs } as const;
  const isByContract = latestSimChange === null && nullMeans !== 'not-disclosed';
  const monitoredPeriodDays =
    statedPeriod ?? (isByContract ? nullMeans.noSwapWithinDays : undefined);
  return monitoredPeriodDays === undefined ? fact : { ...fact, monitoredPeriodDays };
}

interface ReadCheck {
  readonly fact?: CheckFact | undefined;
  readonly isStated: boolean;
  /** Whether the window is the operator's own, whatever the lookup named. */
  readonly isOfOwnWindow: boolean;
}

const NOTHING_READ: ReadCheck = { isStated: false, isOfOwnWindow: false };

function readCheckFact(
  body: JsonObject,
  reading: SwappedReading,
  isPartial: boolean,
  lookup: Lookup,
  sentAtMs: number,
): ReadCheck | ReplyFlaw {
  const { window } = reading;
  const isOfOwnWindow = typeof window === 'string' && window !== 'asked';
  const value = valueAt(body, reading.at);
  if (isPartial && (value === undefined || value === null)) return NOTHING_READ;
  if (value !== reading.true && value !== reading.false) return 'wrong type of swapped';
  const swapped = value === reading.true;
  const silent = { isStated: true, isOfOwnWindow };
  let maxAgeHours: MaxAgeHours;
  if (window === 'asked') {
    if (lookup.operation !== 'check') return silent;
    ({ maxAgeHours } = lookup);
  } else {
    const hours = typeof window === 'number' ? window : hoursOf(valueAt(body, window));
    if (hours === undefined) return 'wrong window';
    // Rounded to the side that claims less.
    const whole = swapped ? Math.ceil(hours) : Math.min(Math.floor(hours), MAX_WINDOW);
    const parsed = parseMaxAge(whole);
    if (parsed.kind !== 'parsed') return silent;
    maxAgeHours = parsed.value;
  }
  return { ...silent, fact: { operation: 'check', maxAgeHours, swapped, sentAtMs } };
}

/** ISO 8601 durations of a fixed length, which excludes months. */
const PERIOD =
  /^P(?=[\dT])(?:(\d{1,6})W|(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?)$/;

/** The seconds of a week, a day, an hour, a minute and a second. */
const SECONDS = [604_800, 86_400, 3600, 60, 1];

function hoursOf(period: unknown): number | undefined {
  const parts = typeof period === 'string' ? PERIOD.exec(period) : null;
  if (parts === null) return undefined;
  const seconds = SECONDS.map((each, index) => each * Number(parts[index + 1] ?? 0));
  return seconds.reduce((sum, some) => sum + some) / 3600;
}

function readDate(
  latestSimChange: unknown,
  nowMs: number,
  { form, sentinels }: DateReading,
): Instant | null | ReplyFlaw {
  if (latestSimChange === null) return null;
  if (typeof latestSimChange === 'string') {
    if (sentinels.some((sentinel) => isSentinel(latestSimChange, sentinel))) return null;
  }
  const instant = instantOf(latestSimChange, form);
  if (typeof instant === 'string') return instant;
  if (instant.epochMs < FIRST_SIM_MS) return 'date before 1991';
  return instant.epochMs > nowMs + MAX_LEAD_MS ? 'date ahead' : instant;
}

/** Other forms of a text, rewritten to RFC 3339. */
const IN_UTC = {
  utc: (text: string) => `${text.replace(' ', 'T')}Z`,
  day: (text: string) => `${text}T00:00:00Z`,
};

function instantOf(value: unknown, form: DateReading['form']): Instant | ReplyFlaw {
  if (form === 'epoch-seconds' || form === 'epoch-milliseconds') {
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      return 'wrong type of latestSimChange';
    }
    const epochMs = Math.round(form === 'epoch-seconds' ? value * 1000 : value);
    return Math.abs(epochMs) > MAX_EPOCH_MS ? 'date in another form' : instantAt(epochMs);
  }
  if (typeof value !== 'string') return 'wrong type of latestSimChange';
  if (form !== 'rfc3339') return parseInstant(IN_UTC[form](value)) ?? 'date in another form';
  const instant = parseInstant(value);
  if (instant !== undefined) return instant;
  const needsZone = parseInstant(`${value}Z`) !== undefined;
  return needsZone ? 'date without a zone' : 'date not in RFC 3339';
}

/** The largest value of a Date. */
const MAX_EPOCH_MS = 8.64e15;

/** The sentinel, or a time on its day. */
function isSentinel(text: string, sentinel: string): boolean {
  if (text === sentinel) return true;
  return sentinel !== '' && text.startsWith(sentinel) && /^[Tt ]/.test(text.slice(sentinel.length));
}

function invalid(flaw: ReplyFlaw): Failed {
  return failed({ code: 'OPERATOR_INVALID_REPLY', reach: 'question' }, flaw);
}

function refused(reply: HttpReply, exchange: LookupExchange, lookup: Lookup): Failed {
  const { nowMs } = exchange;
  const context = contextOf(exchange);
  const isOutOfRange =
    lookup.operation === 'check' &&
    reply.status === 400 &&
    errorWord(reply, context) === 'OUT_OF_RANGE';
  const failure =
    judgeByMap(reply, nowMs, context) ??
    (isOutOfRange ? OUT_OF_RANGE : judgeRefusal(reply, nowMs, context));
  return failedBy(failure, reply, exchange);
}

const OUT_OF_RANGE: LookupFailure = { code: 'PERIOD_NOT_SUPPORTED', reach: 'question' };

function contextOf({ flow, errors }: LookupExchange): RefusalContext {
  return { wordIn: 'code', promptsOwner: promptsOwner(flow), errors };
}

function failedBy(failure: LookupFailure, reply: HttpReply, exchange: LookupExchange): Failed {
  const { flow, isUnproven = false } = exchange;
  const endsConsent = failure.code === 'CONSENT_DENIED' || failure.code === 'CONSENT_EXPIRED';
  if (endsConsent && isUnproven) return invalid('no correlator');
  // Once an owner has answered a prompt, no other operator is called: it would prompt them again.
  if (promptsOwner(flow)) return failed(markClientRefusal(failure, reply));
  if (isUnproven) return failed(failure);
  return failed(markUnknownNumber(failure, reply, contextOf(exchange)));
}

function isDays(value: unknown): value is number {
  return (
    typeof value === 'number' &&
    Number.isInteger(value) &&
    value >= 0 &&
    value <= MAX_MONITORED_PERIOD_DAYS
  );
}
