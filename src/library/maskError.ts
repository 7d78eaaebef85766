import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import { maskPhoneNumbers } from '../domain/phoneNumber.ts';
import { INTERNAL_ERROR, type ErrorCode } from '../domain/errors.ts';
import { AnswerError, internalError } from '../graphql/answerErrors.ts';
import { inOurWords, isRefusedValue, MAX_LOCATIONS, originalOf } from '../graphql/errors.ts';

export function maskedError(error: unknown): GraphQLError {
  if (!(error instanceof GraphQLError)) return internalError();
  const original = originalOf(error);
  if (original instanceof AnswerError) return error;
  if (!(original instanceof GraphQLError)) return internalError(placeOf(error));
  const isOfGraphql = error.path === undefined || isRefusedValue(original);
  if (isOfGraphql && isDefect(error)) return internalError();
  const { message } = error;
  const options = { ...placeOf(error), extensions: shown(error, isOfGraphql) };
  return new GraphQLError(isOfGraphql ? inOurWords(message) : maskPhoneNumbers(message), options);
}

/** What broke before anything was executed, such as a context that could not be made. */
function isDefect(error: GraphQLError): boolean {
  const code = error.extensions['code'] ?? INTERNAL_ERROR;
  let cause: Error | undefined = error;
  while (cause instanceof GraphQLError) cause = cause.originalError;
  return cause !== undefined && code === INTERNAL_ERROR && !isRefusedValue(error);
}

function placeOf({ nodes, source, positions, path }: GraphQLError) {
  return {
    nodes: nodes?.slice(0, MAX_LOCATIONS) ?? null,
    source: source ?? null,
    positions: positions?.slice(0, MAX_LOCATIONS) ?? null,
    path: path ?? null,
  };
}

/** What is for the server stays readable, and out of JSON. */
function shown(error: GraphQLError, isOfGraphql: boolean): GraphQLErrorExtensions {
  const { http, ...others } = error.extensions;
  // What a server adds beside its own words quotes what it could not read.
  const extensions = isOfGraphql ? { code: codeOf(error) } : others;
  if (http !== undefined) Object.defineProperty(extensions, 'http', { value: http });
  return extensions;
}

function codeOf({ message, path, nodes, extensions }: GraphQLError): unknown {
  const { code } = extensions;
  if (code !== undefined) return code;
  const [, known] = BY_MESSAGE.find(([pattern]) => pattern.test(message)) ?? [];
  if (known !== undefined) return known;
  if (path !== undefined) return 'BAD_USER_INPUT' satisfies ErrorCode;
  return (nodes === undefined ? 'BAD_REQUEST' : 'GRAPHQL_VALIDATION_FAILED') satisfies ErrorCode;
}

/** GraphQL's own words for what it refuses before it validates, and after. */
const BY_MESSAGE: readonly (readonly [RegExp, ErrorCode])[] = [
  [/^Syntax Error: /, 'GRAPHQL_PARSE_FAILED'],
  [/Validation aborted\.$/, 'GRAPHQL_VALIDATION_FAILED'],
  [
    /^(?:Unknown operation named |Must provide |Could not determine what operation )/,
    'OPERATION_RESOLUTION_FAILURE',
  ],
  [
    /^(?:Variable "\$\w+"|Argument "\w+") (?:(?:got|has) invalid value|of (?:required|non-null) type) /,
    'BAD_USER_INPUT',
  ],
  [/^Too many errors processing variables/, 'BAD_USER_INPUT'],
];
