import '../system/supportedNode.ts';
import { GraphQLError, type DocumentNode, type GraphQLScalarType } from 'graphql';
import type { SimSwapCallerName, SimSwapClientOptions, SimSwapRequestOptions } from './client.ts';
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
export declare function createSimSwapSubgraph(
  options: SimSwapSubgraphOptions,
): Promise<SimSwapSubgraph>;
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
export declare function maskError(error: unknown): GraphQLError;
