import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Turns } from '../../src/graphql/turns.ts';

it('requests begin one a turn, of the callers that wait one after the other, without those that have ended', async () => {
  const turns = new Turns();
  const begun: string[] = [];
  const take = async (name: string, aborted = false): Promise<void> => {
    await turns.take(name.slice(0, 1), { aborted });
    begun.push(name);
  };
  expect(turns.take('a', { aborted: false })).toBeUndefined();
  const waiting = [take('a1'), take('a2'), take('a3'), take('b1', true), take('b2'), take('c1')];
  await nextTurn();
  expect(begun).toEqual(['a1']);
  await Promise.all(waiting);
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  await nextTurn();
  expect(turns.take('a', { aborted: false })).toBeUndefined();
});
