import { describe, expect, it } from 'vitest';
import { deduceSwapped, type DateTrust } from '../../src/domain/deduction.ts';
import type { TimedFact } from '../../src/domain/fact.ts';
import { START_MS } from '../support/testClock.ts';
import { changed, checked, HOUR_MS, hours, withheld } from '../support/values.ts';

const TRUST: DateTrust = { dateMarginHours: 48, trustMonitoredPeriod: true };
const DISTRUST: DateTrust = { dateMarginHours: 48, trustMonitoredPeriod: false };
const EXACT: DateTrust = { dateMarginHours: 0, trustMonitoredPeriod: true };

/** A millisecond, in hours. */
const MOMENT = 1 / 3_600_000;

type Case = readonly [
  what: string,
  maxAgeHours: number,
  facts: readonly TimedFact[],
  swapped: boolean | undefined,
];

/** The same fact, of a lookup that left at another time. */
function at(fact: TimedFact, sentAtMs: number): TimedFact {
  return { ...fact, sentAtMs };
}

const swap = checked(2400, true);

function deduces(from: string, cases: readonly Case[], trust = TRUST): void {
  it.each(cases)(`${from}: %s`, (_, maxAgeHours, facts, swapped) => {
    expect(deduceSwapped(hours(maxAgeHours), facts, trust)?.swapped).toBe(swapped);
  });
}

deduces('from nothing', [['nothing follows', 240, [], undefined]]);

deduces('from a check', [
  ['false answers its own window', 240, [checked(240, false)], false],
  ['false answers every smaller one', 1, [checked(240, false)], false],
  ['false leaves a larger one open', 241, [checked(240, false)], undefined],
  ['true answers its own window', 240, [checked(240, true)], true],
  ['true answers every larger one', 2400, [checked(240, true)], true],
  ['true leaves a smaller one open', 239, [checked(240, true)], undefined],
  ['between false and true: open', 100, [checked(24, false), checked(240, true)], undefined],
]);

deduces('from a date, 48 hours of margin', [
  ['before the window and the margin: false', 240, [changed(288 + MOMENT)], false],
  ['exactly at the margin: open', 240, [changed(288)], undefined],
  ['inside the margin: open', 240, [changed(250)], undefined],
  ['inside the window, but perhaps the activation: open', 240, [changed(1)], undefined],
  ['ahead of us, by a clock that differs: open', 1, [changed(-0.05)], undefined],
]);

deduces('from a date that a check has shown to be a swap', [
  ['inside the window by more than the margin: true', 240, [swap, changed(192 - MOMENT)], true],
  ['exactly at the margin: open', 240, [swap, changed(192)], undefined],
  ['inside the window by less than the margin: open', 240, [swap, changed(200)], undefined],
  ['before the window and the margin: still false', 240, [swap, changed(300)], false],
  ['the order of the facts does not matter', 240, [changed(100), swap], true],
  ['a check that said false shows no swap', 240, [checked(24, false), changed(100)], undefined],
  ['a window smaller than the margin is never true by it', 48, [swap, changed(0)], undefined],
]);

deduces(
  'from a date, without a margin',
  [
    ['before the window: false', 240, [changed(240 + MOMENT)], false],
    ['at its start: open', 240, [changed(240)], undefined],
    ['a swap after its start: true', 240, [checked(2400, true), changed(240 - MOMENT)], true],
  ],
  EXACT,
);

deduces('from a date that is withheld', [
  ['alone it answers nothing', 1, [withheld()], undefined],
  ['the period, less the margin, answers false', 192, [withheld(10)], false],
  ['a window a little larger stays open', 193, [withheld(10)], undefined],
  ['a period no longer than the margin answers nothing', 1, [withheld(2)], undefined],
  ['a period of no days answers nothing', 1, [withheld(0)], undefined],
]);

deduces(
  'from a period that an operator always sends',
  [['it answers nothing', 1, [withheld(10)], undefined]],
  DISTRUST,
);

deduces('from facts that contradict each other', [
  ['two checks: true wins', 24, [checked(24, false), checked(24, true)], true],
  ['in the other order too', 24, [checked(24, true), checked(24, false)], true],
  ['false of a larger window: true wins', 100, [checked(2400, false), checked(24, true)], true],
  ['a check against a date of long ago', 24, [changed(5_000), checked(24, true)], true],
  ['a check against a monitored period', 24, [withheld(90), checked(24, true)], true],
]);

/** The same fact, whose reply was here so many hours after its lookup left. */
function after(hoursLong: number, fact: TimedFact): TimedFact {
  return { ...fact, repliedAtMs: fact.leftAtMs + hoursLong * HOUR_MS };
}

/** As all facts of one reply. */
const together = (fact: TimedFact) => ({ ...fact, repliedAtMs: 10, replyId: 'one' });

deduces('a false beside a true of a change since then', [
  ['a date of long ago', 12, [changed(2400), checked(24, true, 0.1)], undefined],
  ['a date of long ago, told last', 12, [checked(24, true), changed(2400, 0.1)], undefined],
  ['a monitored period', 12, [withheld(30), checked(24, true, 0.1)], undefined],
  ['a monitored period, told last', 12, [checked(24, true), withheld(30, 0.1)], undefined],
  ['a check of a larger window', 12, [checked(48, false), checked(24, true, 1)], undefined],
  ['a check of a later window counts', 12, [checked(12, false), checked(24, true, 1)], false],
  ['a date that the true may be about counts', 12, [changed(900), checked(2400, true)], false],
]);

deduces('a check that said false, beside a date', [
  ['told since, of a later change', 240, [checked(240, false), changed(48, 1)], undefined],
  ['in whichever order they come', 240, [changed(48, 1), checked(240, false)], undefined],
  ['told since, of a change before: it counts', 240, [checked(240, false), changed(50, 1)], false],
  ['told before it left: it counts', 240, [changed(0), checked(240, false, 1)], false],
  ['here after it left', 240, [after(2, changed(0)), checked(240, false, 1)], undefined],
  ['withheld: it counts', 240, [checked(240, false), withheld(undefined, 1)], false],
]);

deduces('a date or a period that says false, beside a date', [
  ['of a later change', 240, [changed(900), changed(1, 1)], undefined],
  ['of a later change, told before', 240, [changed(1), changed(900, 1)], undefined],
  ['of the same change: it counts', 240, [changed(900), changed(901, 1)], false],
  ['of a later change, which says false itself', 240, [changed(900), changed(800, 1)], false],
  ['for a period', 240, [withheld(30), changed(1, 1)], undefined],
  ['for a period, told last', 240, [changed(1), withheld(30, 1)], undefined],
]);

deduces('facts of one reply', [
  [
    'a check counts beside its date',
    240,
    [together(changed(1)), together(checked(240, false))],
    false,
  ],
  [
    'a date does not beside its check',
    12,
    [together(changed(2400)), together(checked(24, true))],
    undefined,
  ],
]);

it('uses the monotonic clock, not the wall clocks of the replicas', () => {
  const facts = [at(checked(240, false), START_MS + HOUR_MS), at(changed(1, 0.5), START_MS)];
  expect(deduceSwapped(hours(240), facts, TRUST)).toBeUndefined();
});

describe('when the operator was queried', () => {
  it.each([
    ['the fact says', 240, [at(checked(240, false), 5)], 5],
    ['the latest that agrees says', 24, [at(checked(240, false), 9), at(checked(24, false), 5)], 9],
    ['the one that answers says', 24, [at(checked(24, true), 5), at(checked(12, false), 9)], 5],
    [
      'a true says, not a later false',
      24,
      [at(checked(24, true), 5), at(checked(24, false), 9)],
      5,
    ],
    [
      'the date of the swap says',
      240,
      [at(changed(100), START_MS), at(checked(2400, true), 9)],
      START_MS,
    ],
  ] as const)('%s', (_, maxAgeHours, facts, asOfMs) => {
    expect(deduceSwapped(hours(maxAgeHours), facts, TRUST)?.asOfMs).toBe(asOfMs);
  });
});
