import type { LookupFailure } from '../errors.ts';
import type { TurnedAway } from '../http/resilience/bulkhead.ts';
import { OUT_OF_TIME } from './lookupRoute.ts';

/** What a question hears whose lookup found no room. */
export function failureOf(turnedAway: TurnedAway): LookupFailure {
  switch (turnedAway) {
    case 'full':
      return { code: 'OPERATOR_UNAVAILABLE', reach: 'number', retryAfterSeconds: 1 };
    case 'late':
      return OUT_OF_TIME;
  }
}
