import type { MaxAgeHours } from './maxAge.ts';

/** What a field asks about a number: the date of the last change, or whether one fell in a window. */
export type Question =
  { readonly asks: 'date' } | { readonly asks: 'window'; readonly maxAgeHours: MaxAgeHours };

/** The operations that an operator may offer, by their names in docs/operator-api.md, "Endpoints". */
export const OPERATIONS = ['retrieve-date', 'check'] as const;

export type Operation = (typeof OPERATIONS)[number];

/** One billed call to the operator. */
export type Lookup =
  | { readonly operation: 'retrieve-date' }
  | { readonly operation: 'check'; readonly maxAgeHours: MaxAgeHours };

/** The lookup that asks the operator the very question. Pure. */
export function lookupFor(question: Question): Lookup {
  switch (question.asks) {
    case 'date':
      return { operation: 'retrieve-date' };
    case 'window':
      return { operation: 'check', maxAgeHours: question.maxAgeHours };
  }
}

/** Equal for equal lookups about a number, and for no others. Pure. */
export function lookupKey(lookup: Lookup): string {
  switch (lookup.operation) {
    case 'retrieve-date':
      return lookup.operation;
    case 'check':
      return `${lookup.operation} ${lookup.maxAgeHours}`;
  }
}
