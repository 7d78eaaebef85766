import { expect, it } from 'vitest';
import { Leases } from '../src/leases.ts';

/** Parts that say when they are closed. */
function workshop() {
  const leases = new Leases<object, { readonly id: number; close(): Promise<void> }>();
  const closed: number[] = [];
  let made = 0;
  const take = (name: string, settings: object) =>
    leases.take(name, settings, () => {
      made += 1;
      const id = made;
      return { id, close: async () => void closed.push(id) };
    });
  return { take, closed };
}

it.each<[string, object, object, boolean]>([
  ['equal settings', { a: 1 }, { a: 1 }, true],
  ['equal sets', { a: new Set(['x']) }, { a: new Set(['x']) }, true],
  ['other settings', { a: 1 }, { a: 2 }, false],
  ['a member more', { a: 1 }, { a: 1, b: 2 }, false],
])('%s: the same part or another', (_name, before, after, isSame) => {
  const { take } = workshop();
  const first = take('one', before);
  expect(take('one', after).part === first.part).toBe(isSame);
  expect(take('two', before).part).not.toBe(first.part);
});

it('a part is closed when its last lease is given back, and not before', async () => {
  const { take, closed } = workshop();
  const first = take('one', {});
  const second = take('one', {});
  await first.release();
  await first.release();
  expect(closed).toEqual([]);
  await second.release();
  expect(closed).toEqual([1]);
  expect(take('one', {}).part.id).toBe(2);
});

it('a part that another has followed serves its holders, and its end is not the end of the other', async () => {
  const { take, closed } = workshop();
  const before = take('one', { a: 1 });
  const after = take('one', { a: 2 });
  await before.release();
  expect(closed).toEqual([1]);
  expect(take('one', { a: 2 }).part).toBe(after.part);
});
