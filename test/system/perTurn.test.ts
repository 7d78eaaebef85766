import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { PerTurn } from '../../src/system/perTurn.ts';

it('does a few things a turn of the event loop, and the others in the next turns, in order', async () => {
  const perTurn = new PerTurn(2);
  const done: number[] = [];
  for (const n of [1, 2, 3, 4, 5]) perTurn.call(() => void done.push(n));
  expect(done).toEqual([1, 2]);
  await nextTurn();
  expect(done).toEqual([1, 2, 3, 4]);
  // What comes later does not overtake.
  for (const n of [6, 7]) perTurn.call(() => void done.push(n));
  expect(done).toEqual([1, 2, 3, 4]);
  await nextTurn();
  expect(done).toEqual([1, 2, 3, 4, 5, 6]);
  await nextTurn();
  expect(done).toEqual([1, 2, 3, 4, 5, 6, 7]);
  await nextTurn();
  perTurn.call(() => void done.push(8));
  expect(done.at(-1)).toBe(8);
});

it('goes on with the others in the next turn where one throws', () => {
  const turns: (() => void)[] = [];
  using _ = vi
    .spyOn(globalThis, 'setImmediate')
    .mockImplementation((turn: () => void) => turns.push(turn) as never);
  const perTurn = new PerTurn(2);
  const done: number[] = [];
  for (const n of [1, 2, 3, 4]) {
    perTurn.call(() => {
      if (n === 3) throw new Error('third');
      done.push(n);
    });
  }
  expect(() => turns.shift()?.()).toThrow('third');
  turns.shift()?.();
  expect(done).toEqual([1, 2, 4]);
});

it('does none while they are held, and then all in order', async () => {
  let isHeld = true;
  const perTurn = new PerTurn(2, () => isHeld);
  const done: number[] = [];
  for (const n of [1, 2, 3]) perTurn.call(() => void done.push(n));
  await nextTurn();
  expect(done).toEqual([]);
  isHeld = false;
  perTurn.call(() => void done.push(4));
  expect(done).toEqual([]);
  await nextTurn();
  await nextTurn();
  expect(done).toEqual([1, 2, 3, 4]);
});
