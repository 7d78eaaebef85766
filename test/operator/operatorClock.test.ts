import { describe, expect, it } from 'vitest';
import { deduceSwapped, type DateTrust } from '../../src/domain/deduction.ts';
import type { DateFact } from '../../src/domain/fact.ts';
import { OperatorClock } from '../../src/operator/operatorClock.ts';
import { RecordedLog } from '../support/recordedLog.ts';
import { changed, checked, HOUR_MS, hours, timed } from '../support/values.ts';

const TRUST: DateTrust = { dateMarginHours: 48, trustMonitoredPeriod: true };

class Clocks {
  readonly log = new RecordedLog();
  readonly #all = new Set<OperatorClock>();

  operator(dateMarginHours = TRUST.dateMarginHours): OperatorClock {
    return new OperatorClock({ dateMarginHours }, this.#all, this.log);
  }
}

/** The reply with the fact, from an operator whose clock is behind ours. */
function reply(fact: DateFact, oursAheadHours: number) {
  const date = new Date(fact.sentAtMs - oursAheadHours * HOUR_MS).toUTCString();
  return { headers: { date } };
}

describe('a date', () => {
  it.each([
    ['agree', 0, 48, false],
    ['differ by no more than the margin', 47, 48, false],
    ['differ by more, ours ahead', 49, 48, undefined],
    ['differ by more, ours behind', -49, 48, undefined],
    ['differ by seconds, without a margin', 0.01, 0, false],
    ['differ by minutes, without a margin', 0.1, 0, undefined],
  ])('where the clocks %s', (_, aheadHours, margin, swapped) => {
    const fact = changed(900);
    const judged = new Clocks().operator(margin).judge(fact, reply(fact, aheadHours));
    expect(deduceSwapped(hours(240), [timed(judged)], TRUST)?.swapped).toBe(swapped);
  });

  it('of yesterday does not answer `false` when our clock is 15 days ahead', () => {
    // Its age by our clock.
    const fact = changed(16 * 24);
    const judged = timed(new Clocks().operator().judge(fact, reply(fact, 15 * 24)));
    expect(deduceSwapped(hours(240), [fact], TRUST)?.swapped).toBe(false);
    expect(deduceSwapped(hours(240), [judged], TRUST)).toBeUndefined();
    expect(judged.latestSimChange).toEqual(fact.latestSimChange);
    // The SIM may have changed until the reply arrived: a `false` from before then does not count, a later one does.
    expect(deduceSwapped(hours(240), [checked(240, false, -1), judged], TRUST)).toBeUndefined();
    expect(deduceSwapped(hours(240), [changed(900), judged], TRUST)).toBeUndefined();
    const after = [judged, checked(240, false, 1)];
    expect(deduceSwapped(hours(240), after, TRUST)?.swapped).toBe(false);
    expect(deduceSwapped(hours(720), [judged, checked(2400, true)], TRUST)).toBeUndefined();
  });

  it('without a Date header counts until the operator has sent one', () => {
    const clock = new Clocks().operator();
    const fact = changed(900);
    expect(clock.judge(fact, { headers: {} })).toEqual(fact);
    expect(clock.judge(fact, reply(fact, 0))).toEqual(fact);
    expect(clock.judge(fact, { headers: {} })).toEqual({ ...fact, isUndated: true });
    expect(clock.judge(fact, { headers: { date: 'now' } })).toEqual({ ...fact, isUndated: true });
    // Each reply is judged by its own header.
    expect(clock.judge(fact, reply(fact, 0))).toEqual(fact);
  });
});

describe('the log', () => {
  const fact = changed(900);

  it('does not say whose clock is wrong when one operator differs', () => {
    const clocks = new Clocks();
    const [one, other] = [clocks.operator(), clocks.operator()];
    other.judge(fact, reply(fact, 0));
    one.judge(fact, reply(fact, 360));
    const message = expect.stringMatching(/^The clocks of this machine and of/) as string;
    expect(clocks.log.lines).toMatchObject([{ level: 'warn', message, aheadHours: 360 }]);
    expect(one.aheadMs).toBe(360 * HOUR_MS);
  });

  it('says that our clock is wrong when several operators agree', () => {
    const clocks = new Clocks();
    for (const clock of [clocks.operator(), clocks.operator()]) clock.judge(fact, reply(fact, 360));
    expect(clocks.log.lines.at(-1)?.message).toMatch(/^The clock of this machine is wrong/);
  });
});
