// oxlint-disable-next-line import/no-unassigned-import -- before all others
import '../system/supportedNode.ts';
import {
  GraphQLError,
  type DocumentNode,
  type GraphQLErrorExtensions,
  type GraphQLScalarType,
} from 'graphql';
import type { Caller } from '../caller/caller.ts';
import type { SimSwapCallerName, SimSwapClientOptions, SimSwapRequestOptions } from './client.ts';
import { INTERNAL_ERROR, type ErrorCode } from '../domain/errors.ts';
import { maskPhoneNumbers, parsePhoneNumber, type PhoneNumber } from '../domain/phoneNumber.ts';
import { AnswerError, internalError } from '../graphql/answerErrors.ts';
import {
  inOurWords,
  isRefusedValue,
  MAX_CAUSES,
  MAX_LOCATIONS,
  originalOf,
} from '../graphql/errors.ts';
import { MountedRequest } from './mountedRequest.ts';
import { mountedResolvers } from './mountedResolvers.ts';
import { identityFrom, openEmbedded, termsOf } from './openEmbedded.ts';
import type { App } from '../app/app.ts';
import { typeDefsOf } from '../graphql/typeDefs.ts';

export type {
  SimSwapCallerName,
  SimSwapLog,
  SimSwapLogDetails,
  SimSwapRequestOptions,
} from './client.ts';

/** The same options as a client's, and `ROLE`. */
export type SimSwapSubgraphOptions = SimSwapClientOptions;

/** The caller, and which numbers it may query. Your server has verified both; nothing here does. */
export interface SimSwapCaller extends SimSwapCallerName {
  /** `anyone` is for risk teams and services; every other caller may query its own number. */
  readonly mayAskAbout: 'anyone' | 'own-number';
  /** The verified number of the caller: `myPhoneNumber` returns it. */
  readonly ownNumber?: string;
  /**
   * The scopes of its access token. With `BATCH_SCOPE`, a caller without that scope may query one number per request.
   */
  readonly scopes?: readonly string[];
}

export interface SimSwapGraphqlRequest extends Omit<SimSwapRequestOptions, 'caller'> {
  readonly caller: SimSwapCaller;
}

/** What the context of each request must have. */
export interface SimSwapContext {
  /** Only for the resolvers of this package. */
  readonly simSwap: object;
}

/** Resolvers by type and field, in the form of `@graphql-tools/schema`, Apollo Server, Yoga, `@apollo/subgraph`. */
export type SimSwapResolvers = Record<
  string,
  // oxlint-disable-next-line typescript/no-explicit-any -- each of these libraries has types of its own for them
  GraphQLScalarType | Record<string, (source: any, args: any, context: any, info: any) => unknown>
>;

/** The types and fields of this package, for a GraphQL server of your own. */
export interface SimSwapSubgraph extends AsyncDisposable {
  /** Root fields (`ROLE=bff`), or the entity for a subgraph of your own (`ROLE=subgraph`). */
  readonly typeDefs: DocumentNode[];
  readonly resolvers: SimSwapResolvers;

  /**
   * What the context of one request must have, for its caller.
   *
   * @example
   *
   * ```ts
   * import { createSimSwapSubgraph } from 'sim-swap-subgraph/subgraph';
   *
   * await using simSwap = await createSimSwapSubgraph({ settings: process.env });
   *
   * const contextFor = (subject: string, signal: AbortSignal) => ({
   *   ...simSwap.context({
   *     caller: { issuer: 'https://id.example.com', subject, mayAskAbout: 'anyone' },
   *     signal,
   *   }),
   * });
   *
   * console.log(Object.keys(contextFor('u-1', AbortSignal.timeout(5000)))); // [ 'simSwap' ]
   * ```
   *
   * @throws {RangeError} when the caller's own number is not valid, or the purpose is not one of `PURPOSES`
   */
  context(request: SimSwapGraphqlRequest): SimSwapContext;

  /** Waits for work under way that must not be cut off, then closes all connections. Stop your server before it. */
  close(): Promise<void>;
}

/**
 * Makes the types and fields of the service for your own GraphQL server, which authenticates its callers: with `ROLE=bff`
 * the root fields, with `ROLE=subgraph` the entity `PhoneNumber` for the subgraph that you build. Your own types may have
 * fields of the type `PhoneNumber` that return `{ e164 }`, with a number in E.164 form.
 *
 * Make one for the life of the process: it reads no environment by itself, takes no signal and starts no process.
 * `graphql` is a peer dependency: your server and this package must have the same one.
 *
 * @example
 *
 * ```ts
 * import { createSimSwapSubgraph } from 'sim-swap-subgraph/subgraph';
 *
 * await using simSwap = await createSimSwapSubgraph({ settings: { ...process.env, ROLE: 'bff' } });
 *
 * console.log(Object.keys(simSwap.resolvers).sort().join()); // DateTime,PhoneNumber,Query,SimSwapConsent
 * ```
 *
 * @throws {Error} named `ConfigError`, whose message lists every problem of the settings
 */
export async function createSimSwapSubgraph(
  options: SimSwapSubgraphOptions,
): Promise<SimSwapSubgraph> {
  const app = await openEmbedded(options);
  const close = (): Promise<void> => app.close();
  return {
    typeDefs: [typeDefsOf(app.config.role)],
    resolvers: mountedResolvers(app.config.role, app.log),
    context: (request) => ({ simSwap: mountedRequest(app, request) }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * What a client may see of an error of a server that has the fields of this package. GraphQL's own messages quote the
 * value that they refuse, which may be a phone number: hand every error of a reply to this function.
 *
 * Errors of this package pass. GraphQL's own and those of your server keep a code, and a message that is masked and cut.
 * A `GraphQLError` of a resolver of yours stays, but for phone numbers in its message. Every other error says only that
 * it happened: log it yourself. `extensions.http` can be read, and is left out of JSON.
 *
 * @example
 *
 * ```ts
 * import { graphql, buildSchema } from 'graphql';
 * import { maskError } from 'sim-swap-subgraph/subgraph';
 *
 * const schema = buildSchema('type Query { swapped(hours: Int!): Boolean }');
 * const { errors = [] } = await graphql({ schema, source: '{ swapped(hours: "+447700900001") }' });
 *
 * console.log(maskError(errors[0]).message); // Int cannot represent non-integer value: "[number]"
 * console.log(maskError(errors[0]).extensions.code); // GRAPHQL_VALIDATION_FAILED
 * ```
 */
export function maskError(error: unknown): GraphQLError {
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

function mountedRequest(app: App, request: SimSwapGraphqlRequest): MountedRequest {
  const caller = callerFrom(request.caller, app.config.callers.batchScope);
  const { purpose, waitMs, timeoutMs } = termsOf(request, app.config);
  const { correlator, signal } = request;
  if (typeof (correlator ?? '') !== 'string') throw new TypeError('correlator must be a text.');
  return new MountedRequest(app, { timeoutMs, correlator, signal }, { caller, purpose }, waitMs);
}

function callerFrom(caller: SimSwapCaller, batchScope: string | undefined): Caller {
  const identity = identityFrom(caller);
  const { mayAskAbout, ownNumber, scopes = [] } = caller;
  // A text would include parts of its scopes.
  if (!Array.isArray(scopes)) throw new TypeError('caller.scopes must be a list of texts.');
  const mayAskAboutSeveral = batchScope === undefined || scopes.includes(batchScope);
  return {
    identity,
    mayAskAboutAnyone: mayAskAbout === 'anyone',
    ...(mayAskAboutSeveral ? {} : { missingBatchScope: batchScope }),
    ...(ownNumber === undefined ? {} : { ownNumber: ownNumberFrom(ownNumber) }),
  };
}

/** Without types it may be anything. */
function ownNumberFrom(text: unknown): PhoneNumber {
  if (typeof text !== 'string') {
    throw new TypeError(
      'caller.ownNumber must be a phone number: leave it out where there is none.',
    );
  }
  const parsed = parsePhoneNumber(text);
  if (parsed.kind === 'parsed') return parsed.value;
  throw new RangeError(`The caller's own number is not valid. ${parsed.reason}`);
}

/** Whether an error is a defect from before the execution, such as a context that could not be made. */
function isDefect(error: GraphQLError): boolean {
  const code = error.extensions['code'] ?? INTERNAL_ERROR;
  let cause: Error | undefined = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof GraphQLError; depth += 1) {
    cause = cause.originalError;
  }
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

/** What is for the server stays readable, but is left out of JSON. */
function shown(error: GraphQLError, isOfGraphql: boolean): GraphQLErrorExtensions {
  const { http, ...others } = error.extensions;
  // What a server adds to its message quotes what it could not read.
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

/** GraphQL's messages for what it refuses before it validates, and after. */
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
