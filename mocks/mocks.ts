import { graphql, type GraphQLScalarType, type GraphQLSchema } from 'graphql';
import { ANONYMOUS } from '../src/caller/caller.ts';
import { FIELDS, type FieldQuestion } from '../src/domain/fields.ts';
import { instantAt } from '../src/domain/instant.ts';
import { parsePhoneNumber } from '../src/domain/phoneNumber.ts';
import type { LookupFailure, LookupFailureCode } from '../src/domain/errors.ts';
import { lookupFailed } from '../src/graphql/answerErrors.ts';
import { toSimSwapCheck, bffResolvers, resolveReference } from '../src/graphql/resolvers.ts';
import type { GraphqlRequest } from '../src/graphql/request.ts';
import type { FieldAnswer } from '../src/lookups/executor.ts';

/** Why a mocked number has no answer: a value of `SimSwapUnknownReason`. */
export type SimSwapMockReason = keyof typeof FAILURES;

/** What is known of a mocked number. */
export type SimSwapMock =
  /** In every window, or in none. */
  | 'SWAPPED'
  | 'NOT_SWAPPED'
  | SimSwapMockReason
  /** For a mock whose short windows are `false` and whose long ones are `true`. */
  | { readonly swappedHoursAgo: number };

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
  // oxlint-disable-next-line typescript/no-explicit-any -- each library has types of its own for them
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

interface MockedRequest {
  readonly query: string;
  readonly variables?: Record<string, unknown>;
  readonly operationName?: string;
}

/** The moment at which fixtures are answered. */
const MOMENT_MS = Date.UTC(2026, 2, 14, 9, 26, 53);
const HOUR_MS = 3_600_000;

/** Example details of each reason. */
const FAILURES = {
  CONSENT_PENDING: { retryAfterSeconds: 5, expiresAtMs: MOMENT_MS + 120_000 },
  CONSENT_DENIED: { retryAfterSeconds: 600 },
  CONSENT_EXPIRED: {},
  NUMBER_NOT_SERVED: {},
  PERIOD_NOT_SUPPORTED: { maxAgeHours: 168 },
  OPERATION_NOT_OFFERED: {},
  OPERATOR_RATE_LIMITED: { retryAfterSeconds: 30 },
  OPERATOR_UNAVAILABLE: { retryAfterSeconds: 5 },
  OPERATOR_TIMEOUT: {},
  OPERATOR_REFUSED: {},
  OPERATOR_INVALID_REPLY: {},
  RATE_LIMITED: { quota: 'lookups', retryAfterSeconds: 60 },
  AUDIT_UNAVAILABLE: {},
  STATE_UNAVAILABLE: { retryAfterSeconds: 5 },
  UNAVAILABLE: { retryAfterSeconds: 1 },
} as const satisfies Readonly<Record<LookupFailureCode, Omit<LookupFailure, 'code' | 'reach'>>>;

/** The mock of a number that is not mentioned. */
const UNLESS_SAID: SimSwapMock = 'OPERATOR_UNAVAILABLE';

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
export function simSwapMocks(answers: SimSwapMockAnswers = {}, ownNumber?: string): SimSwapMocks {
  const own = ownNumber === undefined ? undefined : numberIn(ownNumber);
  const mockedRequest: Pick<GraphqlRequest, 'rights' | 'answer'> = {
    rights: { ...ANONYMOUS, ...(own === undefined ? {} : { ownNumber: own }) },
    answer: async (number, asked, toValue, place) =>
      toValue(mocked(answers[number] ?? UNLESS_SAID, asked), place, asked),
  };
  const { DateTime, PhoneNumber, SimSwapConsent, Query } = bffResolvers;
  const { e164: _e164, ...queried } = PhoneNumber;
  const bound = (fields: object, sourceOf: (source: unknown) => unknown) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, resolve]: [string, (...args: unknown[]) => unknown]) => [
        name,
        (source: unknown, args: unknown, _context: unknown, info: unknown) =>
          resolve(sourceOf(source), args, { request: mockedRequest }, info),
      ]),
    );
  return {
    resolvers: {
      DateTime,
      SimSwapConsent: bound(SimSwapConsent, (source) => source),
      PhoneNumber: {
        // An automatic mock of a number invents an e164, or has none.
        ...bound(queried, (source) => ({ e164: numberIn(e164Of(source)) ?? '' })),
        __resolveReference: (reference: unknown) => resolveReference(reference),
      },
      Query: bound(Query, (source) => source),
    },
    handler:
      (schema) =>
      async ({ request }) => {
        const { query, variables, operationName }: MockedRequest = await request.json();
        const result = await graphql({
          schema,
          source: query,
          variableValues: variables ?? null,
          operationName: operationName ?? null,
        });
        return Response.json(result);
      },
  };
}

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
export function simSwapFixture(mock: SimSwapMock, maxAgeHours = 240): SimSwapFixture {
  const asked = FIELDS.simSwapCheck({ maxAgeHours });
  if (asked.kind === 'refused') throw new RangeError(asked.reason);
  const answer = mocked(mock, asked.value, MOMENT_MS);
  const { asOf, expiresAt, ...check } = toSimSwapCheck(answer, undefined, asked.value);
  const simSwapCheck = { ...check, asOf: textOf(asOf), expiresAt: textOf(expiresAt) };
  if (answer.kind !== 'failure')
    return { simSwappedWithin: check.result === 'SWAPPED', simSwapCheck };
  const { message, extensions } = lookupFailed(answer.failure);
  return { simSwappedWithin: null, simSwapCheck, error: { message, extensions } };
}

/** Every reason for which a number has no answer. */
export const SIM_SWAP_MOCK_REASONS: readonly SimSwapMockReason[] =
  Object.keys(FAILURES).filter(isReason);

function isReason(text: unknown): text is SimSwapMockReason {
  return typeof text === 'string' && Object.hasOwn(FAILURES, text);
}

function mocked(mock: SimSwapMock, asked: FieldQuestion, nowMs = Date.now()): FieldAnswer {
  if (asked.about === 'consent') {
    const state = typeof mock === 'string' ? (CONSENT_STATES[mock] ?? 'NOT_NEEDED') : 'NOT_NEEDED';
    return { kind: 'consent', consent: { state } };
  }
  if (isReason(mock)) {
    return { kind: 'failure', failure: { ...FAILURES[mock], code: mock, reach: 'number' } };
  }
  const hoursAgo = hoursSince(mock);
  switch (asked.about) {
    case 'date':
      return {
        kind: 'date',
        latestSimChange: instantAt(nowMs - Math.min(hoursAgo, LONG_AGO_HOURS) * HOUR_MS),
        asOfMs: nowMs,
        from: [],
      };
    case 'window':
      return {
        kind: 'window',
        swapped: hoursAgo < asked.maxAgeHours,
        asOfMs: nowMs,
        from: [],
      };
  }
}

function hoursSince(mock: Exclude<SimSwapMock, SimSwapMockReason>): number {
  switch (mock) {
    case 'SWAPPED':
      return 0.5;
    case 'NOT_SWAPPED':
      return Infinity;
    default:
      return mock.swappedHoursAgo;
  }
}

/** How long ago the SIM of a line without a swap was activated: ten years. */
const LONG_AGO_HOURS = 10 * 365 * 24;

const CONSENT_STATES: Readonly<Record<string, 'PENDING' | 'DENIED' | 'EXPIRED'>> = {
  CONSENT_PENDING: 'PENDING',
  CONSENT_DENIED: 'DENIED',
  CONSENT_EXPIRED: 'EXPIRED',
};

function e164Of(source: unknown): unknown {
  return typeof source === 'object' && source !== null && 'e164' in source
    ? source.e164
    : undefined;
}

function numberIn(text: unknown) {
  const parsed = parsePhoneNumber(typeof text === 'string' ? text : '');
  return parsed.kind === 'parsed' ? parsed.value : undefined;
}

function textOf(instant: { readonly text: string } | null | undefined): string | null {
  return instant?.text ?? null;
}
