import { describe, expect, it } from 'vitest';
import { costOf, pagesOf } from '../../page/model/pages.ts';
import { readQuotas } from '../../page/model/quotas.ts';
import { agoName, freshnessOf } from '../../page/model/staleness.ts';
import { durationName, timeLeftMs } from '../../page/model/timeLeft.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('pages', () => {
  it.each([
    [0, []],
    [1, [1]],
    [20, [20]],
    [41, [20, 20, 1]],
  ])('of %i numbers', (count, sizes) => {
    const list = Array.from({ length: count }, (_, index) => index);
    const pages = pagesOf(list);
    expect(pages.map((page) => page.length)).toEqual(sizes);
    expect(pages.flat()).toEqual(list);
  });

  it('cost four lookups a number at most', () => {
    expect(costOf(10_000)).toEqual({ pages: 500, numbers: 10_000, maxLookups: 40_000 });
  });
});

describe('the time left', () => {
  it.each([
    ['is not told before 40 are done', 20, 10_000, 1000, null],
    ['goes by the pace so far', 2000, 10_000, 10_000, 40_000],
    ['is none at the end', 10_000, 10_000, 50_000, 0],
    ['is none of a list that is done at once', 12, 12, 100, 0],
  ])('%s', (_, done, total, activeMs, expected) => {
    expect(timeLeftMs(done, total, activeMs)).toBe(expected);
  });

  it.each([
    [1, '1 s'],
    [59_000, '59 s'],
    [59_100, '1 min'],
    [61_000, '2 min'],
    [2 * HOUR_MS, '2 h'],
  ])('%i ms is %s', (ms, name) => {
    expect(durationName(ms)).toBe(name);
  });
});

describe('an answer', () => {
  it.each([
    [-MINUTE_MS, 'fresh', 'just now'],
    [0, 'fresh', 'just now'],
    [14 * MINUTE_MS, 'fresh', '14 min ago'],
    [15 * MINUTE_MS, 'ageing', '15 min ago'],
    [59 * MINUTE_MS, 'ageing', '59 min ago'],
    [HOUR_MS, 'stale', '1 h ago'],
    [3 * 24 * HOUR_MS, 'stale', '3 days ago'],
    [400 * 24 * HOUR_MS, 'stale', '13 months ago'],
    [3650 * 24 * HOUR_MS, 'stale', '10 years ago'],
  ])('of %i ms is %s', (ageMs, freshness, name) => {
    expect(freshnessOf(0, ageMs)).toBe(freshness);
    expect(agoName(0, ageMs)).toBe(name);
  });
});

describe('what is left of quotas', () => {
  it.each([
    ['nothing told', null, null, []],
    [
      'two quotas and their limits',
      '"numbers";r=980;t=3599, "lookups";r=0;t=60;counted=20',
      '"numbers";q=1000;w=3600, "lookups";q=50;w=3600',
      [
        { name: 'numbers', left: 980, limit: 1000, refillsAtMs: 3_599_000, counted: null },
        { name: 'lookups', left: 0, limit: 50, refillsAtMs: 60_000, counted: 20 },
      ],
    ],
    [
      'no policy',
      '"numbers";r=1;t=2',
      null,
      [{ name: 'numbers', left: 1, limit: null, refillsAtMs: 2000, counted: null }],
    ],
    ['another form', 'limit=100, remaining=50', null, []],
    ['a quota without its time', '"numbers";r=1', null, []],
  ])('%s', (_, rateLimit, policy, expected) => {
    expect(readQuotas(rateLimit, policy, 0)).toEqual(expected);
  });
});
