import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { LookupRoute } from './lookupRoute.ts';
import type { Offer } from './plan.ts';

/** An operator as lookups see it: what it offers, and the way to ask it. */
export interface RoutedOperator {
  /** For log and audit lines; never for clients. */
  readonly name: string;
  readonly offer: Offer;
  readonly route: LookupRoute;
}

/** All operators that can be asked. */
export interface Operators {
  /** The operator that serves a number: always the same one, and `undefined` when none does. */
  of(number: PhoneNumber): RoutedOperator | undefined;
}
