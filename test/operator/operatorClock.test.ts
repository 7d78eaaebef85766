import { describe, expect, it } from 'vitest';
import { deduceSwapped, type DateTrust } from '../../src/domain/deduction.ts';
import type { DateFact } from '../../src/domain/fact.ts';
import { OperatorClock } from '../../src/operator/operatorClock.ts';
import { RecordedLog } from '../recordedLog.ts';
import { changed, checked, HOUR_MS, hours, timed } from '../values.ts';

const TRUST: DateTrust = { dateMarginHours: 48, trustMonitoredPeriod: true };

class Clocks {
  readonly log = new RecordedLog();
  readonly #all = new Set<OperatorClock>();

  operator(dateMarginHours = TRUST.dateMarginHours): OperatorClock {
    return new OperatorClock({ dateMarginHours }, this.#all, this.log);
  }
}

/** The reply with the fact, by an operator whose clock is so far behind ours. */
function reply(fact: DateFact, oursAheadHours: number) {
  const date = new Date(fact.sentAtMs - oursAheadHours * HOUR_MS).toUTCString();
  return { headers: { date } };
}

describe('a date', () => {
  it.each([
    ['by clocks that agree', 0, 48, false],
    ['by clocks that differ by no more than the margin', 47, 48, false],
    ['by a clock of ours that is ahead', 49, 48, undefined],
    ['by a clock of ours that is behind', -49, 48, undefined],
    ['without a margin, by clocks that differ by seconds', 0.01, 0, false],
    ['without a margin, by clocks that differ by more', 0.1, 0, undefined],
  ])('told %s', (_, aheadHours, margin, swapped) => {
    const fact = changed(900);
    const judged = new Clocks().operator(margin).judge(fact, reply(fact, aheadHours));
    expect(deduceSwapped(hours(240), [timed(judged)], TRUST)?.swapped).toBe(swapped);
  });

  it('of a day ago is no `false`, where our clock is 15 days ahead', () => {
    // As it reads by our clock.
    const fact = changed(16 * 24);
    const judged = timed(new Clocks().operator().judge(fact, reply(fact, 15 * 24)));
    expect(deduceSwapped(hours(240), [fact], TRUST)?.swapped).toBe(false);
    expect(deduceSwapped(hours(240), [judged], TRUST)).toBeUndefined();
    expect(judged.latestSimChange).toEqual(fact.latestSimChange);
    // It may have changed until the reply came: what was said before then does not count, and what is said after does.
    expect(deduceSwapped(hours(240), [checked(240, false, -1), judged], TRUST)).toBeUndefined();
    expect(deduceSwapped(hours(240), [changed(900), judged], TRUST)).toBeUndefined();
    const after = [judged, checked(240, false, 1)];
    expect(deduceSwapped(hours(240), after, TRUST)?.swapped).toBe(false);
    expect(deduceSwapped(hours(720), [judged, checked(2400, true)], TRUST)).toBeUndefined();
  });

  it('without a header Date is as good as any, until the operator has sent one', () => {
    const clock = new Clocks().operator();
    const fact = changed(900);
    expect(clock.judge(fact, { headers: {} })).toEqual(fact);
    expect(clock.judge(fact, reply(fact, 0))).toEqual(fact);
    expect(clock.judge(fact, { headers: {} })).toEqual({ ...fact, isUndated: true });
    expect(clock.judge(fact, { headers: { date: 'now' } })).toEqual({ ...fact, isUndated: true });
    // Each reply is judged by its own.
    expect(clock.judge(fact, reply(fact, 0))).toEqual(fact);
  });
});

describe('the log', () => {
  const fact = changed(900);

  it('does not say whose clock is wrong, where one operator differs', () => {
    const clocks = new Clocks();
    const [one, other] = [clocks.operator(), clocks.operator()];
    other.judge(fact, reply(fact, 0));
    one.judge(fact, reply(fact, 360));
    const message = expect.stringMatching(/^The clocks of this machine and of/) as string;
    expect(clocks.log.lines).toMatchObject([{ level: 'warn', message, aheadHours: 360 }]);
    expect(one.aheadMs).toBe(360 * HOUR_MS);
  });

  it('says that ours is, where several agree', () => {
    const clocks = new Clocks();
    for (const clock of [clocks.operator(), clocks.operator()]) clock.judge(fact, reply(fact, 360));
    expect(clocks.log.lines.at(-1)?.message).toMatch(/^The clock of this machine is wrong/);
  });
});
