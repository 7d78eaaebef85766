import { beforeEach, describe, expect, it, vi } from 'vitest';
import { LightAbortSignal } from '../../src/http/urgency.ts';

let signal: LightAbortSignal;
beforeEach(() => {
  signal = new LightAbortSignal();
});

describe('the listeners of a signal', () => {
  it('are each called once when it is aborted, in their order', () => {
    const called: string[] = [];
    for (const name of ['first', 'second', 'third']) signal.add({ abort: () => called.push(name) });
    signal.abort();
    signal.abort();
    expect(called).toEqual(['first', 'second', 'third']);
  });

  it('hear nothing once they are removed, even by one that is called before them', () => {
    const second = { abort: vi.fn<() => void>() };
    const third = { abort: vi.fn<() => void>() };
    signal.add({ abort: () => signal.delete(second) });
    signal.add(second);
    signal.add(third);
    signal.delete(third);
    signal.abort();
    expect(second.abort).not.toHaveBeenCalled();
    expect(third.abort).not.toHaveBeenCalled();
  });
});

it('is aborted for its first reason', () => {
  expect(signal.aborted).toBe(false);
  signal.abort('the first');
  signal.abort('the second');
  expect([signal.aborted, signal.reason]).toEqual([true, 'the first']);
});

it.each(['before', 'after'])(
  'aborts the AbortSignal that stands for it: %s that is made',
  (when) => {
    if (when === 'before') signal.abort('over');
    const standing = signal.asAbortSignal();
    if (when === 'after') signal.abort('over');
    expect([standing.aborted, standing.reason]).toEqual([true, 'over']);
  },
);

describe('work that is waited for unless a signal is aborted', () => {
  const never = new Promise<string>(() => undefined);

  it('is what it comes to', async () => {
    expect(await signal.unlessAborted(Promise.resolve('done'))).toBe('done');
    await expect(signal.unlessAborted(Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    );
  });

  it.each(['before', 'meanwhile'])('is undefined when the signal is aborted %s', async (when) => {
    if (when === 'before') signal.abort();
    const waiting = signal.unlessAborted(never);
    signal.abort();
    expect(await waiting).toBeUndefined();
  });
});
