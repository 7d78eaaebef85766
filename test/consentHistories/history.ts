import fc from 'fast-check';
import type { Question } from '../../src/domain/question.ts';
import type { LookupFailure, LookupFailureCode } from '../../src/domain/errors.ts';
import { DATE, window } from '../lookups/requests.ts';
import type { NonceRule } from './nonceServer.ts';

/** Some requests about one number, and its operator's replies, which are used in turn and repeated. */
export interface History {
  readonly asks: readonly Ask[];
  readonly prompts: readonly PromptWord[];
  readonly polls: readonly PollWord[];
  readonly lookups: readonly LookupWord[];
  /** Whether lookups are admitted, in turn. */
  readonly admissions: readonly boolean[];
  /** `expires_in` of tokens, in turn. */
  readonly tokenSeconds: readonly number[];
  /** How long exchanges take, in turn. */
  readonly latenciesMs: readonly number[];
  /** How long facts are kept for further requests. */
  readonly keepMs: number;
  /** For how long a denial is remembered. */
  readonly deniedMs: number;
  /** When the SIM changes, after the change of three days before. */
  readonly swapAtMs: number | undefined;
  /** A replica's later requests are served by a new process. */
  readonly restarts: readonly Restart[];
  /** A shared store loses what it wrote in that time. */
  readonly loss: { readonly savedAtMs: number; readonly lostMs: number } | undefined;
  /** Of operators that bind their tokens to a key of the process. */
  readonly nonces: NonceRule | undefined;
}

export type OperatorName = 'one' | 'other';

/** A process replaces another one, whose memory is lost. */
export interface Restart {
  readonly atMs: number;
  readonly replica: number;
}

/** One request. */
export interface Ask {
  readonly atMs: number;
  readonly asker: (typeof ASKERS)[number];
  readonly questions: readonly Question[];
  readonly patienceMs: number;
  /** When it hangs up, counted from its start. */
  readonly hangsUpAfterMs: number | undefined;
  /** The replica that serves it, where there are several. */
  readonly replica: number;
  /** The operators of the number by then, in turn. */
  readonly routing: readonly OperatorName[];
  /** How long the directory takes to name them; `undefined` where they are known. */
  readonly directoryMs: number | undefined;
}

/** The outcome of a request to prompt. */
export type PromptWord =
  | {
      readonly word: 'acknowledged';
      readonly expiresInSeconds: number;
      readonly intervalSeconds: number;
    }
  /** Without a reply. */
  | { readonly word: 'lost'; readonly isPrompted: boolean }
  /** 5xx and the like. */
  | { readonly word: 'doubtful'; readonly isPrompted: boolean }
  | {
      readonly word: 'refused';
      readonly failure: LookupFailure;
      readonly hold?: { readonly holdSeconds: number };
    };

/** The outcome of a poll. */
export type PollWord =
  | 'granted'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'invalid_grant'
  | 'access_denied'
  | 'invalid_client'
  /** Without a reply, and without an effect. */
  | 'lost'
  /** The reply with the token is lost. */
  | 'token lost';

/** The outcome of a lookup. */
export type LookupWord = 'answered' | LookupFailure | { readonly unsent: LookupFailure };

export const ASKERS = [
  { caller: 'anna', purpose: 'fraud-prevention' },
  { caller: 'anna', purpose: 'login' },
  { caller: 'bert', purpose: 'fraud-prevention' },
] as const;

function weighed<T>(...all: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[]) {
  return fc.oneof(...all.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

/** Most moments are close together, and some are after everything kept has run out. */
const atMs = weighed(
  [4, fc.integer({ min: 0, max: 80 }).map((n) => n * 50)],
  [2, fc.integer({ min: 0, max: 60_000 })],
  [1, fc.integer({ min: 60_000, max: 150_000 })],
);

const ask: fc.Arbitrary<Ask> = fc.record({
  atMs,
  asker: weighed<Ask['asker']>([3, fc.constant(ASKERS[0])], [1, fc.constantFrom(...ASKERS)]),
  questions: fc.subarray([DATE, ...[24, 72, 240].map(window)], { minLength: 1 }),
  patienceMs: fc.constantFrom(1, 100, 1500, 3000, 10_000),
  hangsUpAfterMs: fc.option(fc.integer({ min: 0, max: 4000 }), { nil: undefined, freq: 5 }),
  replica: fc.integer({ min: 0, max: 2 }),
  directoryMs: fc.constantFrom(undefined, undefined, 0, 50),
  routing: weighed<Ask['routing']>(
    [3, fc.constant(['one'])],
    [2, fc.constantFrom<OperatorName[]>(['other'], ['one', 'other'], ['other', 'one'])],
  ),
});

const restart: fc.Arbitrary<Restart> = fc.record({
  atMs,
  replica: fc.integer({ min: 0, max: 2 }),
});

function about(code: LookupFailureCode, rest: Partial<LookupFailure> = {}): LookupFailure {
  return { code, reach: 'number', ...rest };
}

const UNAVAILABLE = about('OPERATOR_UNAVAILABLE');
const UNAVAILABLE_TO_US = about('UNAVAILABLE', { retryAfterSeconds: 1 });
const RATE_LIMITED = about('OPERATOR_RATE_LIMITED');
const DENIED = about('CONSENT_DENIED');
const NOT_SERVED = about('NUMBER_NOT_SERVED');
const UNKNOWN = about('NUMBER_NOT_SERVED', { isUnknownNumber: true });

const promptWord = weighed<PromptWord>(
  [
    8,
    fc.record({
      word: fc.constant('acknowledged'),
      expiresInSeconds: fc.constantFrom(3, 20, 120),
      intervalSeconds: fc.constantFrom(1, 2, 5),
    }),
  ],
  [1, fc.record({ word: fc.constantFrom('lost', 'doubtful'), isPrompted: fc.boolean() })],
  [
    1,
    fc.constantFrom<PromptWord[]>(
      { word: 'refused', failure: UNAVAILABLE },
      { word: 'refused', failure: RATE_LIMITED, hold: { holdSeconds: 30 } },
      { word: 'refused', failure: DENIED },
      { word: 'refused', failure: NOT_SERVED },
      { word: 'refused', failure: UNKNOWN },
    ),
  ],
);

const pollWord = weighed<PollWord>(
  [6, fc.constant('authorization_pending')],
  [6, fc.constant('granted')],
  [2, fc.constantFrom('slow_down', 'expired_token', 'invalid_grant', 'access_denied')],
  [2, fc.constantFrom('invalid_client', 'lost', 'token lost')],
);

const lookupWord = weighed<LookupWord>(
  [6, fc.constant('answered')],
  [2, fc.constantFrom({ unsent: UNAVAILABLE }, { unsent: UNAVAILABLE_TO_US })],
  [1, fc.constantFrom(UNAVAILABLE, { ...RATE_LIMITED, retryAfterSeconds: 30 }, DENIED)],
  [
    1,
    fc.constantFrom(
      ...[1, 90].map((retryAfterSeconds) => ({ ...RATE_LIMITED, retryAfterSeconds })),
    ),
  ],
  [1, fc.constantFrom(NOT_SERVED, UNKNOWN, about('OPERATOR_TIMEOUT'), about('CONSENT_EXPIRED'))],
  [
    1,
    fc.constantFrom(
      about('OPERATION_NOT_OFFERED', { reach: 'operation' }),
      about('OPERATOR_REFUSED', { reach: 'operation' }),
      about('OPERATOR_REFUSED'),
      about('OPERATOR_INVALID_REPLY', { reach: 'question' }),
      about('PERIOD_NOT_SUPPORTED', { reach: 'question' }),
    ),
  ],
);

export const history: fc.Arbitrary<History> = fc.record({
  asks: fc.array(ask, { minLength: 1, maxLength: 8 }),
  prompts: fc.array(promptWord, { minLength: 1, maxLength: 4 }),
  polls: fc.array(pollWord, { minLength: 1, maxLength: 6 }),
  lookups: fc.array(lookupWord, { minLength: 1, maxLength: 4 }),
  admissions: fc.array(weighed<boolean>([3, fc.constant(true)], [1, fc.boolean()]), {
    minLength: 1,
    maxLength: 4,
  }),
  tokenSeconds: fc.array(fc.constantFrom(1, 15, 60, 3600), { minLength: 1, maxLength: 3 }),
  latenciesMs: fc.array(fc.constantFrom(0, 10, 100, 400, 4000, 9000), {
    minLength: 1,
    maxLength: 6,
  }),
  keepMs: fc.constantFrom(0, 60_000),
  deniedMs: fc.constantFrom(0, 600_000),
  swapAtMs: fc.option(atMs, { nil: undefined }),
  restarts: fc.array(restart, { maxLength: 3 }),
  loss: fc.option(
    fc.record({ savedAtMs: atMs, lostMs: fc.constantFrom(50, 1000, 6000, 20_000, 60_000) }),
    { nil: undefined, freq: 2 },
  ),
  nonces: weighed<History['nonces']>(
    [3, fc.constant(undefined)],
    [3, fc.record({ periodMs: fc.constantFrom(undefined, 20, 500), isLate: fc.boolean() })],
  ),
});
