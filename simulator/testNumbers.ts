import type { Operation } from '../src/domain/question.ts';
import type { Refusal } from './refusals.ts';
import type { Fault } from './fault.ts';
import type { Line } from './line.ts';

/** How the owner of a line, and the operator's authorization server, respond to a request for consent. */
export interface ConsentManner {
  /** The time from the prompt to the owner's consent; never where absent. */
  readonly grantedAfterMs?: number;
  readonly deniedAfterMs?: number;
  readonly expiresInSeconds?: number;
  /** `null` leaves it out of the reply. */
  readonly intervalSeconds?: number | null;
  /** Whether the first poll is answered with `slow_down`. */
  readonly slowsDownOnce?: boolean;
  /** The error with which every poll is answered. */
  readonly pollError?: string;
  /** What happens to bc-authorize itself, after the prompt. */
  readonly afterPrompt?: Fault;
  /** What happens to bc-authorize, before the owner is prompted. */
  readonly insteadOfPrompt?: Fault;
}

/** A number for trials, from a range that is reserved for fiction. */
export interface TestNumber {
  readonly number: string;
  /** What it does, for docs/testing.md. */
  readonly does: string;
  readonly line: Line;
  /** What happens to its lookups, of one operation or of both. */
  readonly lookup?: { readonly fault: Fault; readonly operation?: Operation };
  /** What happens to its 2-legged token requests. */
  readonly token?: Fault;
  readonly consent?: ConsentManner;
}

const DAY_HOURS = 24;

const NEVER_SWAPPED: Line = { activatedHoursAgo: 3650 * DAY_HOURS };
const SWAPPED_LATELY: Line = { ...NEVER_SWAPPED, swappedHoursAgo: 3 * DAY_HOURS };
const GRANTED: ConsentManner = { grantedAfterMs: 0 };

function testNumber(
  lastDigits: string,
  does: string,
  behaviour: Partial<Omit<TestNumber, 'number' | 'does'>> = {},
): TestNumber {
  return { number: `+447700900${lastDigits}`, does, line: NEVER_SWAPPED, ...behaviour };
}

function refusing(
  status: number,
  members: { error?: string; retryAfterSeconds?: number } = {},
): Fault {
  return { kind: 'refuse', status, ...members };
}

function refusingLookups(refusal: Refusal, members: { retryAfterSeconds?: number } = {}): Fault {
  return { kind: 'refuse a lookup', refusal, ...members };
}

function talking(body: unknown): Fault {
  return { kind: 'talk nonsense', body: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** The test numbers, like the test cards of a payment provider: each does one thing. */
export const TEST_NUMBERS: readonly TestNumber[] = [
  testNumber('001', 'SIM swapped 2 hours ago', { line: { ...NEVER_SWAPPED, swappedHoursAgo: 2 } }),
  testNumber('002', 'SIM swapped 3 days ago', { line: SWAPPED_LATELY }),
  testNumber('003', 'SIM swapped 40 days ago', {
    line: { ...NEVER_SWAPPED, swappedHoursAgo: 40 * DAY_HOURS },
  }),
  testNumber('004', 'never swapped, activated 10 years ago'),
  testNumber('005', 'never swapped, activated yesterday: the date is not a swap', {
    line: { activatedHoursAgo: DAY_HOURS },
  }),
  testNumber('006', 'SIM swapped 3 days ago, date withheld', {
    line: { ...SWAPPED_LATELY, withholdsDate: true },
  }),
  testNumber('007', 'never swapped, date withheld', {
    line: { ...NEVER_SWAPPED, withholdsDate: true },
  }),
  testNumber('008', 'never swapped, date withheld, nothing happened in 120 monitored days', {
    line: { ...NEVER_SWAPPED, withholdsDate: true, monitoredPeriodDays: 120 },
  }),
  testNumber('009', 'SIM swapped 3 days ago, windows over 7 days are refused', {
    line: { ...SWAPPED_LATELY, checksBackHours: 7 * DAY_HOURS },
  }),

  testNumber('010', 'unknown to the operator', {
    lookup: { fault: refusingLookups('unknown number') },
  }),
  testNumber('011', 'a line of a kind that the operator does not serve', {
    lookup: { fault: refusingLookups('line not served') },
  }),
  testNumber('012', 'lookups are rate limited for 30 s', {
    lookup: {
      fault: refusingLookups('too many requests', { retryAfterSeconds: 30 }),
    },
  }),
  testNumber('013', 'lookups are unavailable (503)', {
    lookup: { fault: refusingLookups('unavailable') },
  }),
  testNumber('014', 'lookups fail (500)', {
    lookup: { fault: refusingLookups('broken') },
  }),
  testNumber('015', 'lookups take 2 s', { lookup: { fault: { kind: 'delay', ms: 2000 } } }),
  testNumber('016', 'lookups are never answered', { lookup: { fault: { kind: 'never answer' } } }),
  testNumber('017', 'the connection breaks during a lookup', {
    lookup: { fault: { kind: 'break the connection' } },
  }),
  testNumber('018', "a lookup's reply is cut in the middle", {
    lookup: { fault: { kind: 'cut the body' } },
  }),
  testNumber('019', 'every token is refused (401)', {
    lookup: { fault: refusingLookups('not authenticated') },
  }),
  testNumber('020', 'lookups are forbidden (403)', {
    lookup: { fault: refusingLookups('no permission') },
  }),
  testNumber('021', 'check is not implemented (501); the date is: 10 years ago', {
    lookup: { operation: 'check', fault: refusingLookups('not implemented') },
  }),
  testNumber('022', 'retrieve-date is not implemented (501); check is', {
    lookup: { operation: 'retrieve-date', fault: refusingLookups('not implemented') },
  }),
  testNumber('023', 'lookups meet a wrong address (404 without a code)', {
    lookup: { fault: refusing(404) },
  }),
  testNumber('024', 'lookups are redirected', {
    lookup: { fault: { kind: 'refuse', status: 307, location: '/elsewhere' } },
  }),

  testNumber('025', 'a line for which the operator does not support SIM swap answers', {
    lookup: { fault: refusingLookups('line not served') },
  }),
  testNumber('026', 'a line that the operator cannot identify', {
    lookup: { fault: refusingLookups('number not derivable') },
  }),

  testNumber('030', 'replies that are not JSON', { lookup: { fault: talking('<html></html>') } }),
  testNumber('031', '"false" and a number in place of a boolean and a date', {
    lookup: { fault: talking({ swapped: 'false', latestSimChange: 0 }) },
  }),
  testNumber('032', 'a date without a time zone', {
    lookup: {
      operation: 'retrieve-date',
      fault: talking({ latestSimChange: '2020-01-01T00:00:00' }),
    },
  }),
  testNumber('033', 'a date in the future', {
    lookup: {
      operation: 'retrieve-date',
      fault: talking({ latestSimChange: '2999-01-01T00:00:00Z' }),
    },
  }),
  testNumber('034', 'a date before there were SIM cards', {
    lookup: {
      operation: 'retrieve-date',
      fault: talking({ latestSimChange: '1900-01-01T00:00:00Z' }),
    },
  }),
  testNumber('035', "replies under another request's correlator", {
    lookup: { fault: { kind: 'mix up correlators' } },
  }),
  testNumber('036', 'replies of over 64 KB', { lookup: { fault: { kind: 'send too much' } } }),

  testNumber('040', '2-legged: the token endpoint refuses our credentials', {
    token: refusing(401, { error: 'invalid_client' }),
  }),
  testNumber('041', '2-legged: tokens are rate limited for 30 s', {
    token: refusing(429, { error: 'temporarily_unavailable', retryAfterSeconds: 30 }),
  }),
  testNumber('042', '2-legged: tokens are unavailable (503)', {
    token: refusing(503, { error: 'temporarily_unavailable' }),
  }),
  testNumber('043', '2-legged: token replies that are not JSON', { token: talking('token') }),
  testNumber('044', '2-legged: tokens are never answered', { token: { kind: 'never answer' } }),

  testNumber('050', '3-legged: consent after 2 s', { consent: { grantedAfterMs: 2000 } }),
  testNumber('051', '3-legged: consent after 8 s', { consent: { grantedAfterMs: 8000 } }),
  testNumber('052', '3-legged: the owner declines after 1 s', { consent: { deniedAfterMs: 1000 } }),
  testNumber('053', '3-legged: consent was withdrawn for good (403 access_denied)', {
    consent: { insteadOfPrompt: refusing(403, { error: 'access_denied' }) },
  }),
  testNumber('054', '3-legged: unknown to the authorization server (unknown_user_id)', {
    consent: { insteadOfPrompt: refusing(400, { error: 'unknown_user_id' }) },
  }),
  testNumber('055', '3-legged: the owner never answers; the request expires after 6 s', {
    consent: { expiresInSeconds: 6 },
  }),
  testNumber('056', '3-legged: the first poll gets slow_down, the next is granted', {
    consent: { ...GRANTED, slowsDownOnce: true },
  }),
  testNumber('057', '3-legged: the authorization server forgets the request (invalid_grant)', {
    consent: { pollError: 'invalid_grant' },
  }),
  testNumber('058', '3-legged: the owner is prompted, but the reply to us is lost', {
    consent: { ...GRANTED, afterPrompt: { kind: 'break the connection' } },
  }),
  testNumber('059', '3-legged: consent at once, with no interval in the reply', {
    consent: { ...GRANTED, intervalSeconds: null },
  }),
  testNumber('060', '3-legged: bc-authorize is unavailable (503)', {
    consent: {
      insteadOfPrompt: refusing(503, { error: 'temporarily_unavailable', retryAfterSeconds: 60 }),
    },
  }),
];

const BY_NUMBER = new Map(TEST_NUMBERS.map((one) => [one.number, one]));

/** A range of lines that never swapped, for queries of many at once. */
export const NEVER_SWAPPED_RANGE = { first: '+447700900500', last: '+447700900999' };

/** The test number; `undefined` for a number that the operator does not know. */
export function findTestNumber(number: string): TestNumber | undefined {
  const isInRange = number >= NEVER_SWAPPED_RANGE.first && number <= NEVER_SWAPPED_RANGE.last;
  return (
    BY_NUMBER.get(number) ??
    (isInRange && number.length === NEVER_SWAPPED_RANGE.first.length
      ? { number, does: 'never swapped, activated 10 years ago', line: NEVER_SWAPPED }
      : findInCrowd(number))
  );
}

/**
 * Ten thousand lines, for lists: +1 2nn 555 01dd. The North American Numbering Plan reserves 555-0100 to 555-0199 for
 * fiction in every area.
 */
const CROWD = /^\+12\d\d55501(\d\d)$/;

/** The few numbers that differ, by their last two digits. */
const EXCEPTIONS: Readonly<Record<string, Omit<TestNumber, 'number'>>> = {
  '90': {
    does: 'never swapped, date withheld',
    line: { ...NEVER_SWAPPED, withholdsDate: true },
  },
  '94': {
    does: 'unknown to the operator',
    line: NEVER_SWAPPED,
    lookup: { fault: { kind: 'refuse a lookup', refusal: 'unknown number' } },
  },
  '95': swappedAgo(2, '2 hours ago'),
  '96': swappedAgo(20, '20 hours ago'),
  '97': swappedAgo(60, '60 hours ago'),
  '98': swappedAgo(5 * DAY_HOURS, '5 days ago'),
  '99': swappedAgo(20 * DAY_HOURS, '20 days ago'),
};

const LIKE_THE_OTHERS: Omit<TestNumber, 'number'> = {
  does: 'never swapped, activated 10 years ago',
  line: NEVER_SWAPPED,
};

/** The test number in the crowd; `undefined` for any other. */
function findInCrowd(number: string): TestNumber | undefined {
  const [, lastDigits] = CROWD.exec(number) ?? [];
  if (lastDigits === undefined) return undefined;
  return { number, ...(EXCEPTIONS[lastDigits] ?? LIKE_THE_OTHERS) };
}

function swappedAgo(hoursAgo: number, ago: string): Omit<TestNumber, 'number'> {
  return {
    does: `SIM swapped ${ago}`,
    line: { ...NEVER_SWAPPED, swappedHoursAgo: hoursAgo },
  };
}
