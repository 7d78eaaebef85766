import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { LookupRequest } from './lookupRoute.ts';
import type { Operators, RoutedOperator, Routing } from './operators.ts';

/**
 * The operators of some settings. A consent that began at an operator to which other settings send the number goes on
 * there: asked anywhere else, the owner of the number would be prompted a second time.
 */
export class OperatorsInSuccession implements Operators {
  readonly #operators: Operators;
  readonly #elsewhere: (number: PhoneNumber) => readonly RoutedOperator[];

  /** @param elsewhere the operators where a consent about a number may live by other settings */
  constructor(operators: Operators, elsewhere: (number: PhoneNumber) => readonly RoutedOperator[]) {
    this.#operators = operators;
    this.#elsewhere = elsewhere;
  }

  of(number: PhoneNumber, request: LookupRequest): Routing | Promise<Routing> {
    const elsewhere = this.#elsewhere(number);
    return elsewhere.length === 0
      ? this.#operators.of(number, request)
      : this.#ofEither(number, request, elsewhere);
  }

  async #ofEither(
    number: PhoneNumber,
    request: LookupRequest,
    elsewhere: readonly RoutedOperator[],
  ): Promise<Routing> {
    const holding = await Promise.all(
      elsewhere.map((operator) => operator.route.holdsConsent(number, request)),
    );
    const holder = elsewhere.find((_, index) => holding[index]);
    return holder === undefined
      ? this.#operators.of(number, request)
      : { kind: 'served', inTurn: [holder] };
  }
}
