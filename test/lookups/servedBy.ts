import type { Operators, OperatorsInTurn } from '../../src/lookups/operators.ts';

/** Operators of which these are asked about every number, in turn. */
export function servedBy(...inTurn: OperatorsInTurn): Operators {
  return { of: () => ({ kind: 'served', inTurn }) };
}
