import type { LookupFailure } from '../domain/errors.ts';
import type { BulkheadRejection } from '../http/resilience/bulkhead.ts';
import { OUT_OF_TIME } from './lookupRoute.ts';

/** The failure of a lookup that its bulkhead rejects. Pure. */
export function failureOf(rejection: BulkheadRejection): LookupFailure {
  switch (rejection) {
    case 'full':
      return { code: 'OPERATOR_UNAVAILABLE', reach: 'number', retryAfterSeconds: 1 };
    case 'late':
      return OUT_OF_TIME;
  }
}
