import type { ApolloServerPlugin } from '@apollo/server';
import type {
  GraphQLScalarType,
  DocumentNode,
  ExecutionResult,
  FormattedExecutionResult,
  GraphQLFormattedError,
  GraphQLSchema,
  ParseOptions,
  ValidationRule,
} from 'graphql';
import type { Caller } from './caller/caller.ts';
import type { SimSwapCallerName, SimSwapClientOptions, SimSwapRequestOptions } from './client.ts';
import { contextFactory, type CreateContext } from './context.ts';
import { tokenIdentity } from './domain/asker.ts';
import { parsePhoneNumber, type PhoneNumber } from './domain/phoneNumber.ts';
import { apolloServerPlugin } from './embedded/apolloServer.ts';
import { boundedSimSwaps } from './embedded/boundedSimSwaps.ts';
import { EmbeddedLife } from './embedded/embeddedLife.ts';
import { mercuriusHooks, mercuriusOptions } from './embedded/mercurius.ts';
import { formatMountedError } from './embedded/mountedErrors.ts';
import { MountedRequest } from './embedded/mountedRequest.ts';
import { mountedResolvers } from './embedded/mountedResolvers.ts';
import { openSimSwaps, type EmbeddedSimSwaps } from './embedded/openSimSwaps.ts';
import { purposeOf, waitAskedOf } from './embedded/requests.ts';
import { yogaPlugin } from './embedded/yoga.ts';
import { maxDepthRule } from './graphql/documentDepth.ts';
import {
  MAX_DOCUMENT_DEPTH,
  MAX_VALIDATION_ERRORS,
  MAX_VARIABLE_ERRORS,
  PARSE_LIMITS,
} from './graphql/documentLimits.ts';
import { typeDefsOf } from './graphql/schema.ts';
import { createCorrelator } from './http/correlator.ts';
import { RequestRecord } from './requestRecord.ts';
import { systemClock } from './systemClock.ts';

export type {
  SimSwapCallerName,
  SimSwapLog,
  SimSwapLogDetails,
  SimSwapRequestOptions,
} from './client.ts';

/** What {@link createSimSwapSubgraph} takes: the same as a client, and `ROLE`. */
export type SimSwapSubgraphOptions = SimSwapClientOptions;

/** Who asks, and about whom they may. Your server has found that out: nothing here verifies it. */
export interface SimSwapCaller extends SimSwapCallerName {
  /** `anyone` is for risk teams and services; every other caller asks about its own number. */
  readonly mayAskAbout: 'anyone' | 'own-number';
  /** The number that has been verified to be the caller's own: what `myPhoneNumber` is. */
  readonly ownNumber?: string;
}

/** One GraphQL request. */
export interface SimSwapGraphqlRequest extends Omit<SimSwapRequestOptions, 'caller'> {
  readonly caller: SimSwapCaller;
}

/** What the context of each request must have beside your own. */
export interface SimSwapContext {
  /** For the resolvers of this package alone. */
  readonly simSwap: object;
}

/** Resolvers by type and field, as `@graphql-tools/schema`, Apollo Server, Yoga and `@apollo/subgraph` take them. */
export type SimSwapResolvers = Record<
  string,
  // oxlint-disable-next-line typescript/no-explicit-any -- each of these libraries has types of its own for them
  GraphQLScalarType | Record<string, (source: any, args: any, context: any, info: any) => unknown>
>;

/** Options of Apollo Server. */
export interface SimSwapApolloServerOptions {
  /** Add yours to them. */
  readonly plugins: ApolloServerPlugin[];
  readonly formatError: (formatted: GraphQLFormattedError, error: unknown) => GraphQLFormattedError;
  readonly parseOptions: ParseOptions;
  readonly validationRules: ValidationRule[];
  readonly validationOptions: { readonly maxErrors: number };
  readonly executionOptions: { readonly maxCoercionErrors: number };
}

/** Options of GraphQL Yoga. */
export interface SimSwapYogaOptions {
  /** Add yours to them. */
  readonly plugins: SimSwapYogaPlugin[];
  /** The plugin masks errors. */
  readonly maskedErrors: false;
}

/** A plugin of GraphQL Yoga, with as much of its hooks as it reads. */
export interface SimSwapYogaPlugin {
  onParse(parsing: {
    readonly parseFn: (source: string, options: object) => unknown;
    setParseFn(parse: (source: string, options?: object) => unknown): void;
  }): void;
  onValidate(validating: { addValidationRule(rule: ValidationRule): void }): void;
  onExecute(executing: {
    readonly args: {
      readonly schema: GraphQLSchema;
      readonly document: DocumentNode;
      readonly operationName?: unknown;
      readonly variableValues?: unknown;
      readonly contextValue: unknown;
    };
    setResultAndStopExecution(result: ExecutionResult): void;
  }): { onExecuteDone(): void };
  onResultProcess(answering: {
    readonly result: unknown;
    setResult(result: ExecutionResult): void;
  }): void;
}

/** Options and hooks of Mercurius. */
export interface SimSwapMercuriusOptions {
  /** To register Mercurius with. */
  readonly options: {
    readonly graphql: {
      readonly parseOptions: ParseOptions;
      readonly validateOptions: { readonly maxErrors: number };
    };
    readonly validationRules: ValidationRule[];
    /** Off: it compiles documents, and what callers write must not become code. */
    readonly jit: number;
    readonly errorFormatter: (execution: ExecutionResult) => {
      readonly statusCode: number;
      readonly response: FormattedExecutionResult;
    };
  };
  /** To add with `app.graphql.addHook`, both of them. */
  readonly hooks: {
    preExecution(
      schema: GraphQLSchema,
      document: DocumentNode,
      context: unknown,
      variables: unknown,
    ): void;
    onResolution(execution: unknown, context: unknown): void;
  };
}

/** The types and fields of this package, for a GraphQL server that is yours. */
export interface SimSwapSubgraph extends AsyncDisposable {
  /** Root fields (`ROLE=bff`), or the entity for a subgraph of yours (`ROLE=subgraph`). */
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
   * function contextFor(userId: string, signal: AbortSignal) {
   *   return {
   *     userId,
   *     ...simSwap.context({
   *       caller: { issuer: 'https://id.example.com', subject: userId, mayAskAbout: 'anyone' },
   *       signal,
   *     }),
   *   };
   * }
   *
   * console.log(Object.keys(contextFor('u-1', AbortSignal.timeout(5000)))); // [ 'userId', 'simSwap' ]
   * ```
   *
   * @throws {RangeError} when the caller's own number is none, or the purpose is not one of `PURPOSES`
   */
  context(request: SimSwapGraphqlRequest): SimSwapContext;

  /**
   * Options of Apollo Server that bound documents, guard operations and format errors as the service does.
   *
   * @example
   *
   * ```ts
   * import { ApolloServer } from '@apollo/server';
   * import { createSimSwapSubgraph } from 'sim-swap-subgraph/subgraph';
   *
   * await using simSwap = await createSimSwapSubgraph({ settings: process.env });
   * const server = new ApolloServer({
   *   typeDefs: simSwap.typeDefs,
   *   resolvers: simSwap.resolvers,
   *   ...simSwap.apolloServer(),
   * });
   * const { body } = await server.executeOperation(
   *   { query: '{ phoneNumber(e164: "+447700900001") { simSwappedWithin } }' },
   *   {
   *     contextValue: simSwap.context({
   *       caller: { issuer: 'https://id.example.com', subject: 'u-1', mayAskAbout: 'anyone' },
   *     }),
   *   },
   * );
   *
   * console.log(body.kind === 'single' && JSON.stringify(body.singleResult.data)); // {"phoneNumber":{"simSwappedWithin":true}}
   * ```
   */
  apolloServer(): SimSwapApolloServerOptions;

  /** The same for GraphQL Yoga: `createYoga({ schema, context, ...simSwap.yoga() })`. */
  yoga(): SimSwapYogaOptions;

  /**
   * The same for Mercurius: `app.register(mercurius, { schema, context, ...options })`, then both hooks by
   * `app.graphql.addHook`.
   */
  mercurius(): SimSwapMercuriusOptions;

  /** What a client sees of an error, for another server than these three. */
  formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError;

  /** Waits for what is under way and must not be cut, then closes all connections. Stop your server before it. */
  close(): Promise<void>;
}

/**
 * Makes the types and fields of the service ready to stand in a GraphQL server of yours, which authenticates its
 * callers: with `ROLE=bff` the root fields `phoneNumber`, `phoneNumbers` and `myPhoneNumber`; with `ROLE=subgraph` the
 * entity `PhoneNumber` for the subgraph that you build. Your own types may have fields of the type `PhoneNumber` that
 * return `{ e164 }`, with a number in E.164 form.
 *
 * Make one for the life of the process. Nothing happens when this module is imported: it reads no environment by
 * itself, takes no signal and starts no process. `graphql` is a peer dependency: your server and this package must
 * have the same one.
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
  const { settings, log } = options;
  return new Subgraph(await openSimSwaps({ settings, log, clock: systemClock }));
}

class Subgraph implements SimSwapSubgraph {
  readonly typeDefs: DocumentNode[];
  readonly resolvers: SimSwapResolvers;
  readonly #opened: EmbeddedSimSwaps;
  readonly #createContext: CreateContext;

  constructor(opened: EmbeddedSimSwaps) {
    const { config, simSwaps, quotas, maxWaitMs } = opened;
    const { role, limits } = config;
    this.#opened = opened;
    this.#createContext = contextFactory({
      simSwaps: { forRequest: (request) => boundedSimSwaps(simSwaps.forRequest(request), limits) },
      quotas,
      maxWaitMs,
    });
    this.typeDefs = [...typeDefsOf(role)];
    this.resolvers = mountedResolvers(role);
  }

  context(request: SimSwapGraphqlRequest): SimSwapContext {
    const { config, clock } = this.#opened;
    const caller = callerFrom(request.caller);
    const purpose = purposeOf(request.purpose, config.callers.purposes);
    const record = new RequestRecord(createCorrelator(request.correlator));
    const preferredWaitMs = waitAskedOf(request);
    const life = new EmbeddedLife(
      request.timeoutMs ?? config.requestTimeoutMs,
      clock,
      request.signal,
    );
    const context = this.#createContext(
      { kind: 'admitted', caller, purpose },
      { life, record, preferredWaitMs },
    );
    return { simSwap: new MountedRequest(context, life) };
  }

  apolloServer(): SimSwapApolloServerOptions {
    return {
      plugins: [apolloServerPlugin(this.#opened.config.limits)],
      formatError: (formatted, error) => this.formatError(formatted, error),
      parseOptions: PARSE_LIMITS,
      validationRules: [maxDepthRule(MAX_DOCUMENT_DEPTH)],
      validationOptions: { maxErrors: MAX_VALIDATION_ERRORS },
      executionOptions: { maxCoercionErrors: MAX_VARIABLE_ERRORS },
    };
  }

  yoga(): SimSwapYogaOptions {
    const { config, log } = this.#opened;
    return { plugins: [yogaPlugin(config.limits, log)], maskedErrors: false };
  }

  mercurius(): SimSwapMercuriusOptions {
    const { config, log } = this.#opened;
    return { options: mercuriusOptions(log), hooks: mercuriusHooks(config.limits) };
  }

  formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
    return formatMountedError(formatted, error, this.#opened.log);
  }

  close(): Promise<void> {
    return this.#opened.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function callerFrom({ issuer, subject, client, mayAskAbout, ownNumber }: SimSwapCaller): Caller {
  return {
    identity: tokenIdentity(issuer, subject, client ?? null),
    mayAskAboutAnyone: mayAskAbout === 'anyone',
    ...(ownNumber === undefined ? {} : { ownNumber: ownNumberFrom(ownNumber) }),
  };
}

function ownNumberFrom(text: string): PhoneNumber {
  const parsed = parsePhoneNumber(text);
  switch (parsed.kind) {
    case 'parsed':
      return parsed.value;
    case 'refused':
      throw new RangeError(`The caller's own number is none. ${parsed.reason}`);
  }
}
