import { expect, it } from 'vitest';
import { differences, quantile, ratios, spreadOf } from '../../bench/measure/statistics.ts';

it('tells the median and the quartiles, in whatever order the rounds came', () => {
  expect(spreadOf([5, 1, 4, 2, 3])).toEqual({ median: 3, low: 2, high: 4 });
});

it('a quantile between two figures lies between them in proportion', () => {
  expect(quantile([10, 20], 0.5)).toBe(15);
  expect(quantile([7], 0.99)).toBe(7);
});

it('holds each round against the same round of the base', () => {
  expect(ratios([2, 9], [1, 3])).toEqual([2, 3]);
  expect(differences([2, 9], [1, 3])).toEqual([1, 6]);
});

it('says that a figure is missing, where there are no rounds', () => {
  expect(quantile([], 0.5)).toBeNaN();
  expect(ratios([2], [])).toEqual([Number.NaN]);
});
