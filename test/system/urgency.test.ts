import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { PerTurn } from '../../src/system/perTurn.ts';
import { LightAbortSignal, RequestLife } from '../../src/system/urgency.ts';
import { TestClock } from '../support/testClock.ts';

let signal: LightAbortSignal;
beforeEach(() => {
  signal = new LightAbortSignal();
});

it('a signal calls each listener once, in order, and keeps its first reason', () => {
  const called: string[] = [];
  for (const name of ['first', 'second', 'third']) signal.add({ abort: () => called.push(name) });
  signal.abort('the first');
  signal.abort('the second');
  expect(called).toEqual(['first', 'second', 'third']);
  expect(signal).toMatchObject({ aborted: true, reason: 'the first' });
});

it('a signal does not call listeners that were removed, even by an earlier listener', () => {
  const [second, third] = [{ abort: vi.fn<() => void>() }, { abort: vi.fn<() => void>() }];
  signal.add({ abort: () => signal.delete(second) });
  signal.add(second);
  signal.add(third);
  signal.delete(third);
  signal.abort();
  expect(second.abort).not.toHaveBeenCalled();
  expect(third.abort).not.toHaveBeenCalled();
});

describe.each(['before', 'after'])('a signal that is aborted %s the call', (when) => {
  it('aborts the AbortSignal made from it', () => {
    if (when === 'before') signal.abort('over');
    const made = signal.asAbortSignal();
    signal.abort('over');
    expect(made).toMatchObject({ aborted: true, reason: 'over' });
  });

  it('ends the wait for work with undefined', async () => {
    if (when === 'before') signal.abort();
    const waiting = signal.unlessAborted(new Promise(() => undefined));
    signal.abort();
    expect(await waiting).toBeUndefined();
  });
});

it('without an abort the wait ends with the outcome of the work', async () => {
  expect(await signal.unlessAborted(Promise.resolve('done'))).toBe('done');
  const failing = Promise.reject(new Error('broken'));
  await expect(signal.unlessAborted(failing)).rejects.toThrow('broken');
});

it('requests whose deadlines pass at once end a few a turn of the event loop', async () => {
  const deadlines = new PerTurn(2);
  const lives = [1, 2, 3, 4, 5].map(
    () => new RequestLife(0, new TestClock(), undefined, deadlines),
  );
  const ended = (): readonly boolean[] => lives.map(({ signal: { aborted } }) => aborted);
  for (const life of lives) life.begin();
  expect(ended()).toEqual([true, true, false, false, false]);
  // One that was answered meanwhile has no end.
  lives[3]?.pause();
  await nextTurn();
  expect(ended()).toEqual([true, true, true, false, false]);
  await nextTurn();
  expect(ended()).toEqual([true, true, true, false, true]);
});
