import { refused, type Parsed } from './phoneNumber.ts';

declare const maxAgeBrand: unique symbol;

/** A window that reaches back from now, in whole hours from 1 to 2400. Made only by {@link parseMaxAge}. */
export type MaxAgeHours = number & { readonly [maxAgeBrand]: true };

/** CAMARA's bound on `maxAge`: 100 days. */
export const MAX_MAX_AGE_HOURS = 2400;

export function parseMaxAge(hours: unknown): Parsed<MaxAgeHours> {
  return isMaxAge(hours)
    ? { kind: 'parsed', value: hours }
    : refused(`maxAgeHours is a whole number from 1 to ${MAX_MAX_AGE_HOURS}.`);
}

function isMaxAge(hours: unknown): hours is MaxAgeHours {
  return (
    typeof hours === 'number' && Number.isInteger(hours) && hours >= 1 && hours <= MAX_MAX_AGE_HOURS
  );
}

/** The date of the last change, or whether a change fell in a window. */
export type Question =
  { readonly about: 'date' } | { readonly about: 'window'; readonly maxAgeHours: MaxAgeHours };

/** The operations that an operator may offer, by their names in docs/operator-api.md, "Endpoints". */
export const OPERATIONS = ['retrieve-date', 'check'] as const;

export type Operation = (typeof OPERATIONS)[number];

/** One billed call to the operator. */
export type Lookup =
  | { readonly operation: 'retrieve-date' }
  | { readonly operation: 'check'; readonly maxAgeHours: MaxAgeHours };

export function lookupFor(question: Question): Lookup {
  switch (question.about) {
    case 'date':
      return { operation: 'retrieve-date' };
    case 'window':
      return { operation: 'check', maxAgeHours: question.maxAgeHours };
  }
}

/** Equal for equal lookups about a number, and for no others. */
export function lookupKey(lookup: Lookup): string {
  switch (lookup.operation) {
    case 'retrieve-date':
      return lookup.operation;
    case 'check':
      return `${lookup.operation} ${lookup.maxAgeHours}`;
  }
}
