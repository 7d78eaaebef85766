import type { LookupFailure } from '../errors.ts';
import type { TurnedAway } from '../http/resilience/bulkhead.ts';

/** What a question hears whose lookup found no room. */
export function failureOf(turnedAway: TurnedAway): LookupFailure {
  return turnedAway === 'full'
    ? { code: 'OPERATOR_UNAVAILABLE', reach: 'number', retryAfterSeconds: 1 }
    : { code: 'OPERATOR_TIMEOUT', reach: 'number' };
}
