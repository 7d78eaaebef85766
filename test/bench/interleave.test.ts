import { expect, it } from 'vitest';
import { interleave, renamed } from '../../bench/measure/interleave.ts';

it('lets everybody take turns, starts with another each round, and throws the first round away', async () => {
  const order: string[] = [];
  const entrant = (name: string) => ({
    name,
    round: () => Promise.resolve(order.push(name)),
  });

  const figures = await interleave([entrant('a'), entrant('b')], 2);

  expect(order.join('')).toBe('abbaab');
  expect(figures.get('a')).toEqual([4, 5]);
  expect(figures.get('b')).toEqual([3, 6]);
});

it('measures the same thing under another name', async () => {
  const again = renamed({ name: 'ours', round: () => Promise.resolve(7) }, 'ours again');

  expect(again.name).toBe('ours again');
  expect(await again.round()).toBe(7);
});
