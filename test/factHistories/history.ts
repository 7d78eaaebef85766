import fc from 'fast-check';
import type { Question } from '../../src/domain/question.ts';
import { ASKERS } from '../consentHistories/history.ts';
import { DATE, window } from '../lookups/requests.ts';
import { HOUR_MS } from '../support/values.ts';

/** A line whose SIM changes, its operator's replies, and some requests about it. */
export interface History {
  readonly line: Line;
  readonly asks: readonly Ask[];
  /** KEEP_FACTS_SECONDS, in milliseconds. */
  readonly keepMs: number;
  readonly operations: 'both' | 'date' | 'check';
  readonly trustMonitoredPeriod: boolean;
  /** Whether each lookup takes a consent: facts that its request does not wait for are kept unheard. */
  readonly isConsented: boolean;
  /** Whether a reply has both the date and the check. */
  readonly repliesBringBoth: boolean;
  readonly isRedis: boolean;
}

/** Times are milliseconds after the history's start, so those before it are below 0. */
export interface Line {
  readonly activatedAtMs: number;
  readonly swapsAtMs: readonly number[];
  /** How much later than `check` the operator's dates and periods show a swap. */
  readonly lateMs: number;
  /** How far its dates are off. */
  readonly dateErrorMs: number;
  /** Whether `check` takes the activation for a swap. */
  readonly countsActivation: boolean;
}

/** One request, and the operator's replies to its lookups. */
export interface Ask {
  /** How long after the one before it. */
  readonly pauseMs: number;
  readonly replica: number;
  readonly asker: (typeof ASKERS)[number];
  /** Until its deadline. */
  readonly patienceMs: number;
  /** Whether the operator fails. */
  readonly fails: boolean;
  readonly questions: readonly Question[];
  /** From a lookup's departure to its reply, and at which part of that it is answered. */
  readonly latencyMs: number;
  readonly answeredAt: number;
  /** How long Redis takes to receive a command, and to reply. */
  readonly commandMs: number;
  readonly date: 'told' | 'told as before the last change' | 'withheld' | 'withheld, with a period';
  readonly periodDays: number;
  /** With consent: whether it has left when its answer arrives. */
  readonly isGone: boolean;
}

const DAY_MS = 24 * HOUR_MS;

/** A swap before the history, or while its requests come. */
const swapAtMs = fc.oneof(
  fc.double({ min: 0, max: 120, noNaN: true }).map((days) => -days * DAY_MS),
  fc.integer({ min: 0, max: 4000 }),
  fc.integer({ min: 0, max: 600_000 }),
);

const line: fc.Arbitrary<Line> = fc.record({
  activatedAtMs: fc
    .oneof(fc.double({ min: 0, max: 10, noNaN: true }), fc.integer({ min: 10, max: 4000 }))
    .map((days) => -days * DAY_MS),
  swapsAtMs: fc.array(swapAtMs, { maxLength: 3 }),
  lateMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 72 * HOUR_MS })),
  dateErrorMs: fc.integer({ min: -46 * HOUR_MS, max: 46 * HOUR_MS }),
  countsActivation: fc.boolean(),
});

const question: fc.Arbitrary<Question> = fc.oneof(
  fc.constant(DATE),
  fc.constantFrom(1, 24, 48, 72, 240, 241, 480, 2400).map(window),
);

const ask: fc.Arbitrary<Ask> = fc.record({
  pauseMs: fc.constantFrom(0, 0, 1, 50, 500, 2500, 20_000, 600_000),
  replica: fc.nat(1),
  asker: fc.constantFrom(ASKERS[0], ASKERS[0], ASKERS[0], ...ASKERS),
  patienceMs: fc.constantFrom(5, 500, Infinity, Infinity, Infinity, Infinity),
  fails: fc.constantFrom(false, false, false, false, true),
  questions: fc.uniqueArray(question, { minLength: 1, maxLength: 4 }),
  latencyMs: fc.constantFrom(1, 10, 100, 900, 3000),
  answeredAt: fc.constantFrom(0.1, 0.5, 0.9),
  commandMs: fc.constantFrom(0, 0, 1, 100),
  date: fc.constantFrom<Ask['date'][]>(
    'told',
    'told',
    'told as before the last change',
    'withheld',
    'withheld, with a period',
  ),
  periodDays: fc.constantFrom(1, 7, 30, 120),
  isGone: fc.boolean(),
});

export const history: fc.Arbitrary<History> = fc.record({
  line,
  asks: fc.array(ask, { minLength: 2, maxLength: 8 }),
  keepMs: fc.constantFrom(0, 1000, 60_000, 300_000, 3_600_000),
  operations: fc.constantFrom<History['operations'][]>('both', 'both', 'both', 'date', 'check'),
  trustMonitoredPeriod: fc.boolean(),
  isConsented: fc.boolean(),
  repliesBringBoth: fc.constantFrom(false, false, false, true),
  isRedis: fc.boolean(),
});
