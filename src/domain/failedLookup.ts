import type { LookupFailure } from './errors.ts';
import type { Lookup } from './question.ts';

/** A lookup that brought no fact. */
export interface FailedLookup {
  readonly lookup: Lookup;
  readonly failure: LookupFailure;
}

/**
 * Whether a failure closes another lookup about the same number (docs/design.md, "What a failure
 * closes"). Pure.
 */
export function closes({ lookup, failure }: FailedLookup, asked: Lookup): boolean {
  switch (failure.reach) {
    case 'number':
      return true;
    case 'operation':
      return lookup.operation === asked.operation;
    case 'question':
      return closesQuestion({ lookup, failure }, asked);
  }
}

function closesQuestion({ lookup, failure }: FailedLookup, asked: Lookup): boolean {
  switch (lookup.operation) {
    case 'retrieve-date':
      return asked.operation === lookup.operation;
    case 'check':
      if (asked.operation !== lookup.operation) return false;
      return failure.code === 'PERIOD_NOT_SUPPORTED'
        ? lookup.maxAgeHours <= asked.maxAgeHours
        : lookup.maxAgeHours === asked.maxAgeHours;
  }
}
