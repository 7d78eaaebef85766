import fc from 'fast-check';
import type { Question } from '../../src/domain/question.ts';
import type { FailureReach, LookupFailureCode } from '../../src/domain/errors.ts';
import { hours } from '../values.ts';

/** Some requests about one number, and all that its operator says: the words are used in turn, and again. */
export interface History {
  readonly asks: readonly Ask[];
  readonly prompts: readonly PromptWord[];
  readonly polls: readonly PollWord[];
  readonly lookups: readonly LookupWord[];
  /** Of the exchanges, in turn. */
  readonly latenciesMs: readonly number[];
  /** How long facts are kept for further requests. */
  readonly keepMs: number;
  /** For how long a denial is remembered. */
  readonly deniedMs: number;
  /** When the SIM changes, after the change of three days before. */
  readonly swapAtMs: number | undefined;
  /** Of processes: a replica's requests after it are served by a new one. */
  readonly restarts: readonly Restart[];
}

/** The operators that a process knows, each by what its settings have become. */
export type Configuration = Readonly<Record<OperatorName, Flavour>>;

export const OPERATOR_NAMES = ['one', 'other'] as const;

export type OperatorName = (typeof OPERATOR_NAMES)[number];

/** Renamed, an operator has another identity, and nothing of the one that it had before is its own. */
export type Flavour = 'as at first' | 'renamed' | '2-legged';

export const AT_FIRST: Configuration = { one: 'as at first', other: 'as at first' };

/** A process takes the place of another one, with settings of its own. */
export interface Restart {
  readonly atMs: number;
  readonly replica: number;
  readonly configuration: Configuration;
}

/** One request. */
export interface Ask {
  readonly atMs: number;
  readonly asker: (typeof ASKERS)[number];
  readonly questions: readonly Question[];
  readonly patienceMs: number;
  /** When it hangs up, counted from when it asks. */
  readonly hangsUpAfterMs: number | undefined;
  /** By which replica it is served, where there are several. */
  readonly replica: number;
  /** Whom the directory, or the prefixes, name for the number by then, in turn. */
  readonly routing: readonly OperatorName[];
  /** How long the directory takes to say so; `undefined` where that is known. */
  readonly directoryMs: number | undefined;
}

/** What becomes of a request to prompt. */
export type PromptWord =
  | {
      readonly word: 'acknowledged';
      readonly expiresInSeconds: number;
      readonly intervalSeconds: number;
    }
  /** No reply comes back. */
  | { readonly word: 'lost'; readonly isPrompted: boolean }
  /** 5xx and the like: nothing is known. */
  | { readonly word: 'doubtful'; readonly isPrompted: boolean }
  | {
      readonly word: 'refused';
      readonly code: LookupFailureCode;
      readonly holdSeconds?: number;
      readonly isUnknownNumber?: true;
    };

/** What becomes of a poll. */
export type PollWord =
  | 'granted'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'invalid_grant'
  | 'access_denied'
  | 'invalid_client'
  /** The reply is lost, and nothing has happened. */
  | 'lost'
  /** The reply is lost, and the token was in it. */
  | 'token lost';

/** What becomes of a lookup. */
export type LookupWord =
  | 'answered'
  | {
      readonly code: LookupFailureCode;
      readonly reach: FailureReach;
      readonly retryAfterSeconds?: number;
      readonly isUnknownNumber?: true;
    };

export const ASKERS = [
  { caller: 'anna', purpose: 'fraud-prevention' },
  { caller: 'anna', purpose: 'login' },
  { caller: 'bert', purpose: 'fraud-prevention' },
] as const;

const QUESTIONS: readonly Question[] = [
  { asks: 'date' },
  { asks: 'window', maxAgeHours: hours(24) },
  { asks: 'window', maxAgeHours: hours(72) },
  { asks: 'window', maxAgeHours: hours(240) },
];

/** Beginnings within a minute: most of them close together, and some when all that was kept is over. */
const atMs = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 80 }).map((n) => n * 50), weight: 4 },
  { arbitrary: fc.integer({ min: 0, max: 60_000 }), weight: 2 },
  { arbitrary: fc.integer({ min: 60_000, max: 150_000 }), weight: 1 },
);

const ask: fc.Arbitrary<Ask> = fc.record({
  atMs,
  asker: fc.oneof(
    { arbitrary: fc.constant(ASKERS[0]), weight: 3 },
    { arbitrary: fc.constantFrom(...ASKERS), weight: 1 },
  ),
  questions: fc.subarray([...QUESTIONS], { minLength: 1 }),
  patienceMs: fc.constantFrom(1, 100, 1500, 3000, 10_000),
  hangsUpAfterMs: fc.option(fc.integer({ min: 0, max: 4000 }), { nil: undefined, freq: 5 }),
  replica: fc.integer({ min: 0, max: 2 }),
  directoryMs: fc.constantFrom(undefined, undefined, 0, 50),
  routing: fc.oneof(
    { arbitrary: fc.constant<OperatorName[]>(['one']), weight: 3 },
    {
      arbitrary: fc.constantFrom<OperatorName[]>(['other'], ['one', 'other'], ['other', 'one']),
      weight: 2,
    },
  ),
});

const flavour: fc.Arbitrary<Flavour> = fc.oneof(
  { arbitrary: fc.constant('as at first' as const), weight: 3 },
  { arbitrary: fc.constantFrom('renamed' as const, '2-legged' as const), weight: 2 },
);

const restart: fc.Arbitrary<Restart> = fc.record({
  atMs,
  replica: fc.integer({ min: 0, max: 2 }),
  configuration: fc.record({ one: flavour, other: flavour }),
});

const promptWord: fc.Arbitrary<PromptWord> = fc.oneof(
  {
    arbitrary: fc.record({
      word: fc.constant('acknowledged' as const),
      expiresInSeconds: fc.constantFrom(3, 20, 120),
      intervalSeconds: fc.constantFrom(1, 2, 5),
    }),
    weight: 8,
  },
  {
    arbitrary: fc.record({
      word: fc.constantFrom('lost' as const, 'doubtful' as const),
      isPrompted: fc.boolean(),
    }),
    weight: 1,
  },
  {
    arbitrary: fc.constantFrom<PromptWord>(
      { word: 'refused', code: 'OPERATOR_UNAVAILABLE' },
      { word: 'refused', code: 'OPERATOR_RATE_LIMITED', holdSeconds: 30 },
      { word: 'refused', code: 'CONSENT_DENIED' },
      { word: 'refused', code: 'NUMBER_NOT_SERVED' },
      { word: 'refused', code: 'NUMBER_NOT_SERVED', isUnknownNumber: true },
    ),
    weight: 1,
  },
);

const pollWord: fc.Arbitrary<PollWord> = fc.oneof(
  { arbitrary: fc.constant('authorization_pending' as const), weight: 6 },
  { arbitrary: fc.constant('granted' as const), weight: 6 },
  {
    arbitrary: fc.constantFrom<PollWord>(
      'slow_down',
      'expired_token',
      'invalid_grant',
      'access_denied',
      'invalid_client',
      'lost',
      'token lost',
    ),
    weight: 4,
  },
);

const lookupWord: fc.Arbitrary<LookupWord> = fc.oneof(
  { arbitrary: fc.constant('answered' as const), weight: 4 },
  {
    arbitrary: fc.constantFrom<LookupWord>(
      { code: 'OPERATOR_UNAVAILABLE', reach: 'number' },
      { code: 'OPERATOR_RATE_LIMITED', reach: 'number', retryAfterSeconds: 30 },
      { code: 'OPERATOR_TIMEOUT', reach: 'number' },
      { code: 'NUMBER_NOT_SERVED', reach: 'number' },
      { code: 'NUMBER_NOT_SERVED', reach: 'number', isUnknownNumber: true },
      { code: 'OPERATION_NOT_OFFERED', reach: 'operation' },
      { code: 'OPERATOR_REFUSED', reach: 'operation' },
      { code: 'OPERATOR_REFUSED', reach: 'number' },
      { code: 'OPERATOR_INVALID_REPLY', reach: 'question' },
      { code: 'PERIOD_NOT_SUPPORTED', reach: 'question' },
      { code: 'CONSENT_DENIED', reach: 'number' },
      { code: 'CONSENT_EXPIRED', reach: 'number' },
    ),
    weight: 2,
  },
);

export const history: fc.Arbitrary<History> = fc.record({
  asks: fc.array(ask, { minLength: 1, maxLength: 8 }),
  prompts: fc.array(promptWord, { minLength: 1, maxLength: 4 }),
  polls: fc.array(pollWord, { minLength: 1, maxLength: 6 }),
  lookups: fc.array(lookupWord, { minLength: 1, maxLength: 4 }),
  latenciesMs: fc.array(fc.constantFrom(0, 10, 100, 400, 4000, 9000), {
    minLength: 1,
    maxLength: 6,
  }),
  keepMs: fc.constantFrom(0, 60_000),
  deniedMs: fc.constantFrom(0, 600_000),
  swapAtMs: fc.option(atMs, { nil: undefined }),
  restarts: fc.array(restart, { maxLength: 3 }),
});
