import { expect, it } from 'vitest';
import { bodyOf, nameOf, numbersOf, type Workload } from '../../bench/workload.ts';

const HUNDRED: Workload = { numbers: 100, fields: 'window', concurrency: 2, requests: 4 };

it('clients at a time ask about different numbers, all of them kept for fiction', () => {
  const [first, second] = [numbersOf(HUNDRED, 0), numbersOf(HUNDRED, 1)];

  expect(new Set([...first, ...second]).size).toBe(200);
  expect([...first, ...numbersOf(HUNDRED, 10)].every((one) => /^\+447700900\d{3}$/.test(one))).toBe(
    true,
  );
  expect(bodyOf(HUNDRED, 0)).not.toBe(bodyOf(HUNDRED, 1));
});

it('one number may be asked about as often', () => {
  const workload = { ...HUNDRED, isOneNumber: true };

  expect(new Set(numbersOf(workload, 0)).size).toBe(1);
  expect(nameOf(workload)).toBe('100 × the same number, window');
});
