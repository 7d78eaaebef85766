import { byLongestPrefix, type NumberPrefix, type PhoneNumber } from '../domain/phoneNumber.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { KeptFacts } from './keptAnswers.ts';
import type { LookupRequest, LookupRoute } from './lookupRoute.ts';
import type { Offer } from './planner.ts';

export interface RoutedOperator {
  /** For log and audit lines; never for clients. */
  readonly name: string;
  readonly offer: Offer;
  readonly route: LookupRoute;
}

export interface ServingOperator extends RoutedOperator {
  readonly prefixes: readonly NumberPrefix[];
  /** The operators that its numbers may have moved to. */
  readonly others: readonly string[];
}

/** The next operator is called only where the one before does not know the number. */
export type OperatorsInTurn = readonly [RoutedOperator, ...RoutedOperator[]];

export type Routing =
  | { readonly kind: 'served'; readonly inTurn: OperatorsInTurn }
  | {
      readonly kind: 'failed';
      readonly failure: LookupFailure;
      /** Whether nothing about the number has left this process. */
      readonly isUnsent?: boolean;
    };

export interface Operators {
  /** `undefined` where {@link find} has to look it up. */
  of(number: PhoneNumber): Routing | undefined;
  /** Never rejects. */
  find?(number: PhoneNumber, request: LookupRequest): Promise<Routing>;
  /** Facts of all operators, recalled before a number's own operator is chosen. Absent where nothing is kept. */
  readonly kept?: KeptFacts | undefined;
}

export const NOT_SERVED: Routing = {
  kind: 'failed',
  failure: { code: 'NUMBER_NOT_SERVED', reach: 'number' },
};

/** The operator with the longest prefix of a number, and then its `others`; not the others of these. */
export class OperatorsByPrefix implements Operators {
  readonly #byPrefix: ReadonlyMap<NumberPrefix, Routing>;
  readonly #longestPrefix: number;
  readonly #byName: ReadonlyMap<string, Routing>;

  /** @throws {Error} when `others` names an operator that does not exist */
  constructor(operators: readonly ServingOperator[]) {
    const byName = new Map(operators.map((operator) => [operator.name, operator]));
    this.#byName = new Map(
      operators.map((operator) => [operator.name, inTurn(operator, byName)] as const),
    );
    this.#byPrefix = new Map(
      operators.flatMap(({ name, prefixes }) =>
        prefixes.map((prefix) => [prefix, this.named(name) ?? NOT_SERVED] as const),
      ),
    );
    const prefixes = [...this.#byPrefix.keys()].filter((prefix) => prefix !== 'default');
    this.#longestPrefix = Math.max(0, ...prefixes.map(({ length }) => length));
  }

  of(number: PhoneNumber): Routing {
    return byLongestPrefix(this.#byPrefix, number, this.#longestPrefix) ?? NOT_SERVED;
  }

  /** The operator of this name, and then its `others`; `undefined` for an unknown name. */
  named(name: string): Routing | undefined {
    return this.#byName.get(name);
  }
}

/** Each operator is called at most once, even where the list names it twice. */
function inTurn(first: ServingOperator, byName: ReadonlyMap<string, RoutedOperator>): Routing {
  const others = first.others.map((name) => {
    const other = byName.get(name);
    if (other === undefined) {
      throw new Error(`\`others\` of the operator ${first.name} names one that does not exist.`);
    }
    return other;
  });
  const rest = [...new Set(others)].filter((other) => other !== first);
  return { kind: 'served', inTurn: [first, ...rest] };
}
