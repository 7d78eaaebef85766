import { tokenIdentity, type TokenIdentity } from '../src/domain/asker.ts';
import type { DateFact, CheckFact } from '../src/domain/fact.ts';
import type { MaxAgeHours } from '../src/domain/maxAge.ts';
import type { PhoneNumber } from '../src/domain/phoneNumber.ts';
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

/** A window, for tests that are not about which windows there are. */
export function hours(maxAgeHours: number): MaxAgeHours {
  return maxAgeHours as MaxAgeHours;
}

/** What `check` said of a window, at the start of the test clock. */
export function checked(maxAgeHours: number, swapped: boolean): CheckFact {
  return { operation: 'check', maxAgeHours: hours(maxAgeHours), swapped, sentAtMs: START_MS };
}

/** What `retrieve-date` said at the start of the test clock: a change so many hours before. */
export function changed(hoursAgo: number): DateFact {
  const epochMs = START_MS - hoursAgo * HOUR_MS;
  return {
    operation: 'retrieve-date',
    latestSimChange: { text: new Date(epochMs).toISOString(), epochMs },
    sentAtMs: START_MS,
  };
}

/** A date that was not disclosed, with the period in days for which the operator speaks. */
export function withheld(monitoredPeriodDays?: number): DateFact {
  const fact = { operation: 'retrieve-date', latestSimChange: null, sentAtMs: START_MS } as const;
  return monitoredPeriodDays === undefined ? fact : { ...fact, monitoredPeriodDays };
}
