import { describe, expect, it } from 'vitest';
import {
  deduceSwapped,
  deduceSwappedFromDateAlone,
  type DateTrust,
} from '../../src/domain/deduction.ts';
import type { DateFact, Fact } from '../../src/domain/fact.ts';
import { START_MS } from '../testClock.ts';
import { changed, checked, hours, withheld } from '../values.ts';

const TRUST: DateTrust = { dateMarginHours: 48, trustMonitoredPeriod: true };
const DISTRUST: DateTrust = { dateMarginHours: 48, trustMonitoredPeriod: false };
const EXACT: DateTrust = { dateMarginHours: 0, trustMonitoredPeriod: true };

/** A millisecond, in hours. */
const MOMENT = 1 / 3_600_000;

type Case = readonly [
  what: string,
  maxAgeHours: number,
  facts: readonly Fact[],
  swapped: boolean | undefined,
];

/** The same fact, of a lookup that left at another time. */
function at(fact: Fact, sentAtMs: number): Fact {
  return { ...fact, sentAtMs };
}

function deduces(cases: readonly Case[], trust = TRUST): void {
  it.each(cases)('%s', (_, maxAgeHours, facts, swapped) => {
    expect(deduceSwapped(hours(maxAgeHours), facts, trust)?.swapped).toBe(swapped);
  });
}

describe('deduceSwapped', () => {
  describe('from nothing', () => {
    deduces([['follows nothing', 240, [], undefined]]);
  });

  describe('from a check', () => {
    deduces([
      ['false answers its own window', 240, [checked(240, false)], false],
      ['false answers every smaller one', 1, [checked(240, false)], false],
      ['false leaves a larger one open', 241, [checked(240, false)], undefined],
      ['true answers its own window', 240, [checked(240, true)], true],
      ['true answers every larger one', 2400, [checked(240, true)], true],
      ['true leaves a smaller one open', 239, [checked(240, true)], undefined],
      [
        'what lies between false and true is open',
        100,
        [checked(24, false), checked(240, true)],
        undefined,
      ],
    ]);
  });

  describe('from a date, 48 hours of margin', () => {
    deduces([
      ['before the window and the margin: false', 240, [changed(288 + MOMENT)], false],
      ['exactly at the margin: open', 240, [changed(288)], undefined],
      ['inside the margin: open', 240, [changed(250)], undefined],
      ['inside the window, but perhaps the activation: open', 240, [changed(1)], undefined],
      ['ahead of us, by a clock that differs: open', 1, [changed(-0.05)], undefined],
    ]);
  });

  describe('from a date that a check has shown to be a swap', () => {
    const swap = checked(2400, true);
    deduces([
      ['inside the window by more than the margin: true', 240, [swap, changed(192 - MOMENT)], true],
      ['exactly at the margin: open', 240, [swap, changed(192)], undefined],
      ['inside the window by less than the margin: open', 240, [swap, changed(200)], undefined],
      ['before the window and the margin: still false', 240, [swap, changed(300)], false],
      ['the order of the facts does not matter', 240, [changed(100), swap], true],
      ['a check that said false shows no swap', 240, [checked(24, false), changed(100)], undefined],
      ['a window smaller than the margin is never true by it', 48, [swap, changed(0)], undefined],
    ]);
  });

  describe('from a date, without a margin', () => {
    deduces(
      [
        ['before the window: false', 240, [changed(240 + MOMENT)], false],
        ['at its start: open', 240, [changed(240)], undefined],
        ['a swap after its start: true', 240, [checked(2400, true), changed(240 - MOMENT)], true],
      ],
      EXACT,
    );
  });

  describe('from a date that is withheld', () => {
    deduces([
      ['alone it answers nothing', 1, [withheld()], undefined],
      ['the period, less the margin, answers false', 192, [withheld(10)], false],
      ['a window a little larger stays open', 193, [withheld(10)], undefined],
      ['a period no longer than the margin answers nothing', 1, [withheld(2)], undefined],
      ['a period of no days answers nothing', 1, [withheld(0)], undefined],
    ]);
    describe('by an operator that always sends the period', () => {
      deduces([['it answers nothing', 1, [withheld(10)], undefined]], DISTRUST);
    });
  });

  describe('from facts that contradict each other', () => {
    deduces([
      ['two checks: true wins', 24, [checked(24, false), checked(24, true)], true],
      ['in the other order too', 24, [checked(24, true), checked(24, false)], true],
      [
        'a larger window without what a smaller one holds',
        100,
        [checked(2400, false), checked(24, true)],
        true,
      ],
      ['a check against a date of long ago', 24, [changed(5_000), checked(24, true)], true],
      ['a check against a monitored period', 24, [withheld(90), checked(24, true)], true],
    ]);
  });
});

describe('when the operator was asked', () => {
  it.each([
    ['the fact says', 240, [at(checked(240, false), 5)], 5],
    [
      'the latest of those that agree says',
      24,
      [at(checked(240, false), 9), at(checked(24, false), 5)],
      9,
    ],
    [
      'the fact that answers says, not a later one',
      24,
      [at(checked(24, true), 5), at(checked(12, false), 9)],
      5,
    ],
    [
      'a true says, where a later false contradicts it',
      24,
      [at(checked(24, true), 5), at(checked(24, false), 9)],
      5,
    ],
    [
      'the date says, where a check made it a swap',
      240,
      [at(changed(100), START_MS), at(checked(2400, true), 9)],
      START_MS,
    ],
  ] as const)('%s', (_, maxAgeHours, facts, asOfMs) => {
    expect(deduceSwapped(hours(maxAgeHours), facts, TRUST)?.asOfMs).toBe(asOfMs);
  });
});

describe('deduceSwappedFromDateAlone', () => {
  it.each<[string, number, DateFact, boolean | undefined]>([
    ['before the window and the margin: false', 240, changed(288 + MOMENT), false],
    ['exactly at the margin: true, the safe side', 240, changed(288), true],
    ['inside the margin: true', 240, changed(250), true],
    ['inside the window: true, though it may be the activation', 240, changed(1), true],
    ['withheld: nothing follows', 1, withheld(), undefined],
    ['withheld, within the period less the margin: false', 192, withheld(10), false],
    ['withheld, beyond it: nothing follows', 193, withheld(10), undefined],
  ])('%s', (_, maxAgeHours, fact, swapped) => {
    expect(deduceSwappedFromDateAlone(hours(maxAgeHours), fact, TRUST)).toBe(swapped);
  });

  it('believes no period that the operator always sends', () => {
    expect(deduceSwappedFromDateAlone(hours(1), withheld(10), DISTRUST)).toBeUndefined();
  });
});
