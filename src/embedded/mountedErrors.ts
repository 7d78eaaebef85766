import { unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { maskPhoneNumbers } from '../domain/mask.ts';
import type { ErrorCode } from '../errors.ts';
import { formatError, isCoercionError } from '../graphql/errors.ts';
import { LimitExceeded } from '../graphql/refusals.ts';
import type { Log } from '../log.ts';

/**
 * What a client sees of an error of a server that has our fields beside its own. Ours, and GraphQL's own, read as they
 * do from the service. A `GraphQLError` that a resolver of the other program throws is meant for its clients and stays
 * as it is, but for phone numbers; any other error says nothing but that it happened.
 */
export function formatMountedError(
  formatted: GraphQLFormattedError,
  error: unknown,
  log: Log,
): GraphQLFormattedError {
  return isOfOtherProgram(formatted, unwrapResolverError(error))
    ? { ...formatted, message: maskPhoneNumbers(formatted.message) }
    : formatError(formatted, error, log);
}

function isOfOtherProgram({ path }: GraphQLFormattedError, original: unknown): boolean {
  return (
    path !== undefined &&
    original instanceof GraphQLError &&
    !(original instanceof LimitExceeded) &&
    !isCoercionError(original)
  );
}

/**
 * Formats an error of a server that gives GraphQL's own errors no codes, or others than Apollo Server.
 *
 * @param isBeforeExecution whether the document or its variables were refused
 */
export function formatForeignError(
  error: GraphQLError,
  isBeforeExecution: boolean,
  log: Log,
): GraphQLFormattedError {
  const coded = withCode(error, isBeforeExecution);
  return formatMountedError(coded.toJSON(), coded, log);
}

function withCode(error: GraphQLError, isBeforeExecution: boolean): GraphQLError {
  const { message, nodes, source, positions, path, extensions } = error;
  const code = codeOf(error, isBeforeExecution);
  // What has a path came of executing a field.
  if (code === undefined || path !== undefined) return error;
  return new GraphQLError(message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    extensions: { ...extensions, code },
  });
}

function codeOf({ message }: GraphQLError, isBeforeExecution: boolean): ErrorCode | undefined {
  const [, code] = BY_MESSAGE.find(([pattern]) => pattern.test(message)) ?? [];
  return code ?? (isBeforeExecution ? 'GRAPHQL_VALIDATION_FAILED' : undefined);
}

/** GraphQL's own words for what it refuses before it validates, and after. */
const BY_MESSAGE: readonly (readonly [RegExp, ErrorCode])[] = [
  [/^Syntax Error: /, 'GRAPHQL_PARSE_FAILED'],
  [
    /^(?:Unknown operation named |Must provide |Could not determine what operation )/,
    'OPERATION_RESOLUTION_FAILURE',
  ],
  [/^Variable "\$\w+" (?:got invalid value|of (?:required|non-null) type) /, 'BAD_USER_INPUT'],
  [/^Too many errors processing variables/, 'BAD_USER_INPUT'],
];
