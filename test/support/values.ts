import type { LookupAuthorizer } from '../../src/lookups/lookupAuthorizer.ts';
import {
  purposesOf,
  tokenIdentity,
  type Purpose,
  type TokenIdentity,
} from '../../src/domain/identity.ts';
import type { CheckFact, DateFact, Fact, TimedFact } from '../../src/domain/fact.ts';
import type { MaxAgeHours } from '../../src/domain/question.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { START_MS } from './testClock.ts';

export const HOUR_MS = 3_600_000;

/** Two lines of a range reserved for fiction. */
export const ALICE = '+447700900001' as PhoneNumber;
export const BOB = '+447700900002' as PhoneNumber;
export const CAROL = '+447700900003' as PhoneNumber;

/** A caller whose token names it so. */
export function callerNamed(subject: string): TokenIdentity {
  return tokenIdentity('https://issuer.example', subject, 'app');
}

/** A purpose that is mapped to none. */
export function purposeNamed(name: string): Purpose {
  const [purpose] = purposesOf([name]);
  if (purpose === undefined) throw new Error('There is no purpose.');
  return purpose;
}

/** A window, unchecked. */
export function hours(maxAgeHours: number): MaxAgeHours {
  return maxAgeHours as MaxAgeHours;
}

let replies = 0;

/** A fact of a lookup that left at a time of the monotonic clock, and was answered at once. */
export function timed<F extends Fact>(fact: F, leftAtMs = 0): F & Times {
  replies += 1;
  const replyId = `reply ${replies}`;
  return {
    ...fact,
    toldBy: 'operator',
    leftAtMs,
    repliedAtMs: leftAtMs,
    replyId,
    isHeard: true,
  };
}

type Times = Pick<TimedFact, 'toldBy' | 'leftAtMs' | 'repliedAtMs' | 'replyId' | 'isHeard'>;

/** The fact of a `check`, so many hours after the start of the test clock. */
export function checked(maxAgeHours: number, swapped: boolean, atHour = 0): CheckFact & Times {
  const leftAtMs = atHour * HOUR_MS;
  const sentAtMs = START_MS + leftAtMs;
  return timed(
    { operation: 'check', maxAgeHours: hours(maxAgeHours), swapped, sentAtMs },
    leftAtMs,
  );
}

/** The fact of a `retrieve-date` so many hours after the start of the test clock: a change some hours before. */
export function changed(hoursAgo: number, atHour = 0): DateFact & Times {
  const leftAtMs = atHour * HOUR_MS;
  const sentAtMs = START_MS + leftAtMs;
  const epochMs = sentAtMs - hoursAgo * HOUR_MS;
  const latestSimChange = { text: new Date(epochMs).toISOString(), epochMs };
  return timed({ operation: 'retrieve-date', latestSimChange, sentAtMs }, leftAtMs);
}

/** A date that was not disclosed, with the operator's monitored period in days. */
export function withheld(monitoredPeriodDays?: number, atHour = 0): DateFact & Times {
  const leftAtMs = atHour * HOUR_MS;
  const sentAtMs = START_MS + leftAtMs;
  const fact = { operation: 'retrieve-date', latestSimChange: null, sentAtMs } as const;
  const period = monitoredPeriodDays === undefined ? {} : { monitoredPeriodDays };
  return timed({ ...fact, ...period }, leftAtMs);
}

export const OPEN_AUTHORIZER: LookupAuthorizer = {
  admit: () => ({ kind: 'admitted', ended: () => undefined }),
  delivered: () => undefined,
};
