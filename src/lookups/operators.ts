import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { LookupRequest, LookupRoute } from './lookupRoute.ts';
import type { Offer } from './plan.ts';

/** An operator as lookups see it: what it offers, and the way to ask it. */
export interface RoutedOperator {
  /** For log and audit lines; never for clients. */
  readonly name: string;
  readonly offer: Offer;
  readonly route: LookupRoute;
}

/** Whom to ask about a number, in turn: the next one only where the one before does not know it. */
export type OperatorsInTurn = readonly [RoutedOperator, ...RoutedOperator[]];

/** Whom to ask about a number, or why no operator is asked. */
export type Routing =
  | { readonly kind: 'served'; readonly inTurn: OperatorsInTurn }
  | { readonly kind: 'failed'; readonly failure: LookupFailure };

/** All operators that can be asked. */
export interface Operators {
  /** At once, or where something has to be asked for it, how. Never rejects. */
  of(number: PhoneNumber, request: LookupRequest): Routing | (() => Promise<Routing>);
  /** Answers from what is kept alone, before a number's operator is asked for. Absent where nothing is kept. */
  readonly kept?: RoutedOperator | undefined;
}

/** No operator is asked: there is none whose number it is. */
export const NOT_SERVED: Routing = {
  kind: 'failed',
  failure: { code: 'NUMBER_NOT_SERVED', reach: 'number' },
};
