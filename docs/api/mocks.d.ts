import { type GraphQLScalarType, type GraphQLSchema } from 'graphql';
/** Why a mocked number has no answer: a value of `SimSwapUnknownReason`. */
export type SimSwapMockReason = keyof typeof FAILURES;
/** What is known of a mocked number. */
export type SimSwapMock =
  /** In every window, or in none. */
  | 'SWAPPED'
  | 'NOT_SWAPPED'
  | SimSwapMockReason
  /** For a mock whose short windows are `false` and whose long ones are `true`. */
  | {
      readonly swappedHoursAgo: number;
    };
/** Mocked numbers in E.164 form: `+447700900001`. */
export type SimSwapMockAnswers = Readonly<Record<string, SimSwapMock>>;
/** What to mock the graph with. */
export interface SimSwapMocks {
  /** For `makeExecutableSchema`, and for `addMocksToSchema({ schema, resolvers })` of `@graphql-tools/mock`. */
  readonly resolvers: SimSwapMockResolvers;
  /**
   * Answers requests by a schema with these resolvers, as `http.post(url, mocks.handler(schema))` of MSW takes it.
   */
  handler(schema: GraphQLSchema): (asked: { readonly request: Request }) => Promise<Response>;
}
/** Resolvers by type and field. */
export type SimSwapMockResolvers = Record<
  string,
  GraphQLScalarType | Record<string, (source: any, args: any, context: any, info: any) => unknown>
>;
/** What a client gets for a number. */
export interface SimSwapFixture {
  /** `null` where it is not known; then there is an `error`. */
  readonly simSwappedWithin: boolean | null;
  /** With times as texts, as in a reply. */
  readonly simSwapCheck: Readonly<Record<string, string | number | null>>;
  readonly error?: {
    readonly message: string;
    readonly extensions: Readonly<Record<string, unknown>>;
  };
}
/** Example details of each reason. */
declare const FAILURES: {
  readonly CONSENT_PENDING: {
    readonly retryAfterSeconds: 5;
    readonly expiresAtMs: number;
  };
  readonly CONSENT_DENIED: {
    readonly retryAfterSeconds: 600;
  };
  readonly CONSENT_EXPIRED: {};
  readonly NUMBER_NOT_SERVED: {};
  readonly PERIOD_NOT_SUPPORTED: {
    readonly maxAgeHours: 168;
  };
  readonly OPERATION_NOT_OFFERED: {};
  readonly OPERATOR_RATE_LIMITED: {
    readonly retryAfterSeconds: 30;
  };
  readonly OPERATOR_UNAVAILABLE: {
    readonly retryAfterSeconds: 5;
  };
  readonly OPERATOR_TIMEOUT: {};
  readonly OPERATOR_REFUSED: {};
  readonly OPERATOR_INVALID_REPLY: {};
  readonly RATE_LIMITED: {
    readonly quota: 'lookups';
    readonly retryAfterSeconds: 60;
  };
  readonly AUDIT_UNAVAILABLE: {};
  readonly STATE_UNAVAILABLE: {
    readonly retryAfterSeconds: 5;
  };
  readonly UNAVAILABLE: {
    readonly retryAfterSeconds: 1;
  };
};
/**
 * Mocks of the graph for tests of clients. Numbers that are not named are `UNKNOWN`: automatic mocks would choose `false`,
 * and a client that trusts every SMS code would pass its tests.
 *
 * @example
 *
 * ```ts
 * import { simSwapMocks } from 'sim-swap-subgraph-mocks';
 * import { buildSchema } from 'graphql';
 *
 * const mocks = simSwapMocks({ '+447700900001': 'SWAPPED', '+447700900051': 'CONSENT_PENDING' });
 *
 * console.log(Object.keys(mocks.resolvers).sort().join()); // DateTime,PhoneNumber,Query,SimSwapConsent
 * console.log(typeof mocks.handler(buildSchema('type Query { ok: Boolean }'))); // function
 * ```
 *
 * @param ownNumber what `myPhoneNumber` is; FORBIDDEN where absent
 */
export declare function simSwapMocks(
  answers?: SimSwapMockAnswers,
  ownNumber?: string,
): SimSwapMocks;
/**
 * What a client gets for a number, for tests that make replies of their own.
 *
 * @example
 *
 * ```ts
 * import { simSwapFixture } from 'sim-swap-subgraph-mocks';
 *
 * const { simSwappedWithin, simSwapCheck, error } = simSwapFixture('CONSENT_PENDING');
 *
 * console.log(simSwappedWithin, simSwapCheck.result, error?.extensions.code); // null UNKNOWN CONSENT_PENDING
 * ```
 */
export declare function simSwapFixture(mock: SimSwapMock, maxAgeHours?: number): SimSwapFixture;
/** Every reason for which a number has no answer. */
export declare const SIM_SWAP_MOCK_REASONS: readonly SimSwapMockReason[];
export {};
