import {
  OperationTypeNode,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { Caller } from '../caller/caller.ts';
import { coerceVariables, costOf, excessOf, type OperationLimits } from './operationCost.ts';
import { statusOfRefusal } from './mediaType.ts';
import { limitExceeded, queriesOnly, severalForbidden, unlessInvalid } from './refusals.ts';

/** An operation that is valid, before it is executed. */
export interface GuardedOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** As they came. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly caller: Pick<Caller, 'ownNumber' | 'missingBatchScope'>;
  /** The header of its request: the status of a refusal depends on it. */
  readonly accept: string | undefined;
}

/**
 * How many numbers an operation asks about. It executes nothing.
 *
 * @throws {GraphQLError} where the schema has no operations of its kind, or it asks about more numbers than its caller
 *   may, or too much as a whole: it must not be executed
 */
export function guardOperation(
  { schema, document, operation, variables, caller, accept }: GuardedOperation,
  limits: OperationLimits,
): number {
  if (schema.getRootType(operation.operation) === undefined) throw queriesOnly();
  // What another program adds may change something; our own fields are all below Query.
  if (operation.operation !== OperationTypeNode.QUERY) return 0;
  const coerced = coerceVariables(schema, operation, variables);
  // Those that do not fit are refused by the execution, which says why.
  if (coerced === undefined) return 0;
  const { ownNumber, missingBatchScope } = caller;
  const incoming = { schema, document, operation, variables: coerced, ownNumber };
  const cost = unlessInvalid(() => costOf(incoming, limits));
  if (missingBatchScope !== undefined && cost.numbers > 1) {
    throw severalForbidden(missingBatchScope, statusOfRefusal(accept, 403));
  }
  const excess = excessOf(cost, limits);
  if (excess !== undefined) {
    throw limitExceeded(excess, { status: statusOfRefusal(accept, 400) });
  }
  return cost.numbers;
}
