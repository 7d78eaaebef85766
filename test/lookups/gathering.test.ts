import { describe, expect, it } from 'vitest';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import type { LookupFailure } from '../../src/domain/errors.ts';
import { lookupFailed } from '../../src/graphql/answerErrors.ts';
import type { LookupRoute } from '../../src/lookups/lookupRoute.ts';
import { fieldsOf } from '../askedFields.ts';
import { settled, TestClock } from '../testClock.ts';
import { ALICE, BOB, changed, checked, hours } from '../values.ts';
import { executorOn, requestAt } from './requests.ts';

/** The hours since the last change: a swap, or for a line that never swapped its activation. */
interface Line {
  readonly swapped?: number;
  readonly activated?: number;
}

const NEVER_SWAPPED: Line = { activated: 9_000 };

/** The fields of a request, an operator that answers from what it is told of each line, and what it was asked. */
function load(lines: readonly (readonly [PhoneNumber, Line | LookupFailure | Error])[] = []) {
  const told = new Map(lines);
  const asked: string[] = [];
  const operator = { asked, gate: Promise.resolve() };
  const route: LookupRoute = {
    async lookUp(lookup, { number }) {
      const window = lookup.operation === 'check' ? ` ${lookup.maxAgeHours}` : '';
      asked.push(`${number} ${lookup.operation}${window}`);
      await operator.gate;
      const line = told.get(number) ?? NEVER_SWAPPED;
      if (line instanceof Error) throw line;
      if ('code' in line) return { kind: 'failed', failed: { lookup, failure: line } };
      const { swapped = Infinity, activated = swapped } = line;
      const fact =
        lookup.operation === 'check'
          ? checked(lookup.maxAgeHours, swapped <= lookup.maxAgeHours)
          : changed(activated);
      return { kind: 'facts', facts: [fact] };
    },
    consent: () => Promise.resolve({ kind: 'read', status: { state: 'NOT_ASKED' } }),
    close: () => Promise.resolve(),
  };
  return { operator, loader: fieldsOf(executorOn(route, requestAt(new TestClock()))) };
}

function numbers(count: number): PhoneNumber[] {
  return Array.from(
    { length: count },
    (_, index) => `+447700900${String(100 + index)}` as PhoneNumber,
  );
}

describe('the questions of one tick', () => {
  it('equal ones are asked once', async () => {
    const { operator, loader } = load([[ALICE, { swapped: 2 }]]);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => loader.simSwappedWithin(ALICE, hours(240))),
    );
    expect(new Set(answers)).toEqual(new Set([true]));
    expect(operator.asked).toEqual([`${ALICE} check 240`]);
  });

  it('about one number are planned together, from whichever fields they come', async () => {
    const { operator, loader } = load();
    const answers = await Promise.all([
      loader.simSwappedWithin(ALICE, hours(24)),
      loader.simSwappedWithin(ALICE, hours(720)),
      loader.lastSimSwap(ALICE),
      loader.simSwappedWithin(ALICE, hours(240)),
    ]);
    expect(answers).toEqual([false, false, changed(9_000).latestSimChange, false]);
    expect(operator.asked).toEqual([`${ALICE} retrieve-date`]);
  });

  it('about several numbers cost each number its own', async () => {
    const { operator, loader } = load([[BOB, { swapped: 2 }]]);
    const answers = await Promise.all([
      loader.simSwappedWithin(ALICE, hours(240)),
      loader.simSwappedWithin(BOB, hours(240)),
      loader.simSwappedWithin(ALICE, hours(24)),
    ]);
    expect(answers).toEqual([false, true, false]);
    expect(operator.asked).toEqual([`${ALICE} check 240`, `${BOB} check 240`]);
  });

  it('50 numbers, the date and three windows each: 50 lookups', async () => {
    const { operator, loader } = load();
    await Promise.all(
      numbers(50).flatMap((number) => [
        loader.lastSimSwap(number),
        ...[24, 240, 720].map((one) => loader.simSwappedWithin(number, hours(one))),
      ]),
    );
    expect(operator.asked).toHaveLength(50);
  });
});

describe('the questions of a later tick', () => {
  it('one after another are all answered, whichever follow from what is known', async () => {
    const { operator, loader } = load();
    const answers = [
      await loader.simSwappedWithin(ALICE, hours(240)),
      await loader.simSwappedWithin(ALICE, hours(24)),
      await loader.simSwappedWithin(ALICE, hours(720)),
    ];
    expect(answers).toEqual([false, false, false]);
    expect(operator.asked).toEqual([`${ALICE} check 240`, `${ALICE} check 720`]);
  });

  it('that come while a lookup is under way wait for its fact', async () => {
    const { operator, loader } = load();
    const gate = Promise.withResolvers<void>();
    operator.gate = gate.promise;
    const first = loader.simSwappedWithin(ALICE, hours(720));
    await settled();
    expect(operator.asked).toEqual([`${ALICE} check 720`]);

    const second = loader.simSwappedWithin(ALICE, hours(240));
    const third = loader.simSwappedWithin(ALICE, hours(2400));
    await settled();
    expect(operator.asked).toHaveLength(1);

    gate.resolve();
    expect(await Promise.all([first, second, third])).toEqual([false, false, false]);
    expect(operator.asked).toEqual([`${ALICE} check 720`, `${ALICE} check 2400`]);
  });
});

describe('a failure', () => {
  const UNAVAILABLE: LookupFailure = { code: 'OPERATOR_UNAVAILABLE', reach: 'number' };

  it('rejects the questions that it closes, and no other number', async () => {
    const { operator, loader } = load([[ALICE, UNAVAILABLE]]);
    const answers = await Promise.allSettled([
      loader.lastSimSwap(ALICE),
      loader.simSwappedWithin(ALICE, hours(240)),
      loader.simSwappedWithin(BOB, hours(240)),
    ]);
    expect(answers).toEqual([
      { status: 'rejected', reason: lookupFailed(UNAVAILABLE) },
      { status: 'rejected', reason: lookupFailed(UNAVAILABLE) },
      { status: 'fulfilled', value: false },
    ]);
    expect(operator.asked).toHaveLength(2);
  });

  it('of our own rejects as it is, and no other number', async () => {
    const { loader } = load([[ALICE, new TypeError('a defect')]]);
    const answers = await Promise.allSettled([
      loader.simSwappedWithin(ALICE, hours(240)),
      loader.simSwappedWithin(BOB, hours(240)),
    ]);
    expect(answers).toEqual([
      { status: 'rejected', reason: new TypeError('a defect') },
      { status: 'fulfilled', value: false },
    ]);
  });
});
