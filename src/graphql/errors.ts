import { unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { maskPhoneNumbers } from '../domain/mask.ts';
import { Forbidden, LookupError, type ErrorCode } from '../errors.ts';
import type { Log } from '../log.ts';

const INTERNAL = 'INTERNAL_SERVER_ERROR';

const TOO_MANY_BAD_VARIABLES =
  'Too many errors processing variables, error limit reached. Execution aborted.';

/** What GraphQL's own words leave open. */
const IN_OTHER_WORDS: Readonly<Record<string, string>> = {
  'Validation aborted.': 'The document repeats the same fields too often. Ask for each once.',
};

/** Something the caller can mend; the reason says how, and quotes nothing of what was sent. */
export function badUserInput(reason: string): GraphQLError {
  return new GraphQLError(reason, { extensions: { code: 'BAD_USER_INPUT' satisfies ErrorCode } });
}

/**
 * What a client sees of an error (design §5): a code, a message for people, and when to ask again.
 *
 * GraphQL's own messages quote the values that they refuse, so phone numbers in them are masked. What
 * nobody foresaw says nothing but that it happened, and is logged by its name.
 */
export function formatError(
  formatted: GraphQLFormattedError,
  error: unknown,
  log: Log,
): GraphQLFormattedError {
  const { path, locations } = formatted;
  const where = { ...(path === undefined ? {} : { path }), ...(locations ? { locations } : {}) };
  const original = unwrapResolverError(error);
  if (original instanceof LookupError) return formatLookupError(original, where);
  if (original instanceof Forbidden) {
    return { message: original.message, ...where, extensions: { code: original.code } };
  }
  const code = isCoercionError(original) ? 'BAD_USER_INPUT' : formatted.extensions?.['code'];
  if (code !== undefined && code !== INTERNAL) {
    const message = IN_OTHER_WORDS[formatted.message] ?? maskPhoneNumbers(formatted.message);
    return { message, ...where, extensions: { code } };
  }
  log.error('a request broke', {
    error: original instanceof Error ? original.name : typeof original,
    reason: original instanceof Error ? original.message : undefined,
  });
  return { message: 'Internal server error', ...where, extensions: { code: INTERNAL } };
}

/** What a client sees of a failed lookup. */
function formatLookupError(
  error: LookupError,
  where: Pick<GraphQLFormattedError, 'path' | 'locations'>,
): GraphQLFormattedError {
  return { message: error.message, ...where, extensions: extensionsOf(error) };
}

/** A value that graphql-js refuses when it executes, such as null for an argument: it gives no code. */
function isCoercionError(error: unknown): boolean {
  return (
    error instanceof GraphQLError &&
    error.originalError === undefined &&
    (error.path !== undefined || error.message === TOO_MANY_BAD_VARIABLES) &&
    error.extensions['code'] === undefined
  );
}

function extensionsOf({ failure }: LookupError): Record<string, unknown> {
  const { code, retryAfterSeconds, expiresAtMs, maxAgeHours } = failure;
  return {
    code,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(expiresAtMs === undefined ? {} : { expiresAt: new Date(expiresAtMs).toISOString() }),
    ...(maxAgeHours === undefined ? {} : { maxAgeHours }),
  };
}
