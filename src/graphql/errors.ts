import { GraphQLError, Kind, type GraphQLFormattedError } from 'graphql';
import { maskPhoneNumbers } from '../domain/phoneNumber.ts';
import { ERRORS, INTERNAL_ERROR } from '../domain/errors.ts';
import type { Log } from '../log/log.ts';
import { AnswerError } from './answerErrors.ts';
import { PARSE_LIMITS } from './documents.ts';

/** GraphQL's own messages quote what they refuse; longer ones are cut. */
const MAX_MESSAGE_CHARACTERS = 300;

/** A conflict between fields names the place of each. */
export const MAX_LOCATIONS = 10;

/** More errors within each other are not looked through: one may contain itself. */
export const MAX_CAUSES = 100;

const TOO_MANY_BAD_VARIABLES =
  'Too many errors processing variables, error limit reached. Execution aborted.';

/** Messages of GraphQL and Apollo that do not say what to do, by their beginnings. */
const REWORDED: readonly (readonly [string, string])[] = [
  [
    'Syntax Error: Source contains more than',
    // With separators: a run of digits would be masked as a phone number.
    `A document may have ${PARSE_LIMITS.maxSourceLength.toLocaleString('en')} characters at most.`,
  ],
  [
    `Syntax Error: Document contains more than ${PARSE_LIMITS.maxComments} comments`,
    `A document may have ${PARSE_LIMITS.maxComments.toLocaleString('en')} comments at most.`,
  ],
  ['Validation aborted.', 'The document repeats the same fields too often. Query each once.'],
  [
    'This operation has been blocked as a potential Cross-Site Request Forgery',
    'A GET request needs the header apollo-require-preflight: true, which no page of another site can send. ' +
      'Send the operation by POST (urql: preferGetMethod: false), or add that header.',
  ],
  [
    'GraphQL introspection is not allowed by Apollo Server',
    'Introspection is off in production. Read the schema in schema/ of the release, or introspect a server ' +
      'that runs without NODE_ENV=production.',
  ],
];

/**
 * What a client sees of an error (docs/design.md, "Errors"). GraphQL's own messages quote the values that they refuse:
 * phone numbers in them are masked, and long ones are cut. An unexpected error says only that it happened, and is
 * logged by its name.
 */
export function formatError(
  formatted: GraphQLFormattedError,
  error: unknown,
  log: Log,
): GraphQLFormattedError {
  const where = whereOf(formatted);
  const original = originalOf(error);
  if (original instanceof AnswerError) {
    const { http: _http, ...extensions } = original.extensions;
    return { message: original.message, ...where, extensions };
  }
  const code = isRefusedValue(original) ? 'BAD_USER_INPUT' : formatted.extensions?.['code'];
  if (code !== undefined && code !== INTERNAL_ERROR) {
    return { message: inOurWords(formatted.message), ...where, extensions: { code } };
  }
  logDefect(original, log);
  return {
    message: ERRORS[INTERNAL_ERROR],
    ...where,
    extensions: { code: INTERNAL_ERROR },
  };
}

/** What a resolver threw; an error with a path that wraps it only adds the location. */
export function originalOf(error: unknown): unknown {
  let original = error;
  for (let depth = 0; depth < MAX_CAUSES && original instanceof GraphQLError; depth += 1) {
    if (original.path === undefined || original.originalError === undefined) break;
    original = original.originalError;
  }
  return original;
}

/** Logs a defect by its name; clients learn only that it happened. */
export function logDefect(error: unknown, log: Log): void {
  log.error('A request failed because of a defect in this service. Report it.', {
    error: error instanceof Error ? error.name : typeof error,
    reason: error instanceof Error ? error.message : undefined,
  });
}

function whereOf({ path, locations }: GraphQLFormattedError): Partial<GraphQLFormattedError> {
  return {
    ...(path === undefined ? {} : { path }),
    ...(locations === undefined ? {} : { locations: locations.slice(0, MAX_LOCATIONS) }),
  };
}

/** GraphQL's message about a document or a value that it refuses, masked and cut. */
export function inOurWords(message: string): string {
  const [, words] = REWORDED.find(([start]) => message.startsWith(start)) ?? [];
  if (words !== undefined) return words;
  const isLong = message.length > MAX_MESSAGE_CHARACTERS;
  // Masked first: a cut could leave the start of a number, too short to be recognised.
  return isLong
    ? `${maskPhoneNumbers(message.slice(0, 2 * MAX_MESSAGE_CHARACTERS)).slice(0, MAX_MESSAGE_CHARACTERS)}…`
    : maskPhoneNumbers(message);
}

/**
 * Whether graphql-js refused a value at execution, such as null for an argument: it sets no code. It names the node of
 * the document that has the value; errors about a result name a field.
 */
export function isRefusedValue(error: unknown): error is GraphQLError {
  if (!(error instanceof GraphQLError) || error.extensions['code'] !== undefined) return false;
  if (error.message === TOO_MANY_BAD_VARIABLES) return true;
  return error.nodes?.every(({ kind }) => kind !== Kind.FIELD) === true;
}
