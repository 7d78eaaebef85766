import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { LookupRequest } from './lookupRoute.ts';
import type { Operators, RoutedOperator, Routing } from './operators.ts';

/**
 * The operators of the settings in force. A consent that began at an operator of former settings goes on there: asked
 * anywhere else, the owner of the number would be prompted a second time.
 */
export class OperatorsInSuccession implements Operators {
  readonly #operators: Operators;
  readonly #retired: () => readonly RoutedOperator[];

  /** @param retired operators that the settings name no more, as long as consents may live there */
  constructor(operators: Operators, retired: () => readonly RoutedOperator[]) {
    this.#operators = operators;
    this.#retired = retired;
  }

  of(number: PhoneNumber, request: LookupRequest): Routing | Promise<Routing> {
    const retired = this.#retired();
    return retired.length === 0
      ? this.#operators.of(number, request)
      : this.#ofEither(number, request, retired);
  }

  async #ofEither(
    number: PhoneNumber,
    request: LookupRequest,
    retired: readonly RoutedOperator[],
  ): Promise<Routing> {
    const holding = await Promise.all(
      retired.map((operator) => operator.route.holdsConsent(number, request)),
    );
    const holder = retired.find((_, index) => holding[index]);
    return holder === undefined
      ? this.#operators.of(number, request)
      : { kind: 'served', inTurn: [holder] };
  }
}
