import { describe, expect, it, vi } from 'vitest';
import {
  AbortListeners,
  asAbortSignal,
  LightAbortSignal,
  type AnyAbortSignal,
} from '../../src/http/abortListeners.ts';

interface Controller {
  readonly signal: AnyAbortSignal;
  readonly abort: () => void;
}

describe.each<[string, () => Controller]>([
  ['an AbortSignal', controller],
  ['a light signal', lightController],
])('the listeners of %s', (_, make) => {
  it('are all called when it is aborted, in their order', () => {
    const listeners = new AbortListeners();
    const { signal, abort } = make();
    const called: string[] = [];
    listeners.of(signal).add({ abort: () => called.push('first') });
    listeners.of(signal).add({ abort: () => called.push('second') });
    abort();
    expect(called).toEqual(['first', 'second']);
  });

  it('hear nothing once they are removed, even by one that is called before them', () => {
    const listeners = new AbortListeners();
    const { signal, abort } = make();
    const second = { abort: vi.fn<() => void>() };
    const third = { abort: vi.fn<() => void>() };
    listeners.of(signal).add({ abort: () => listeners.of(signal).delete(second) });
    listeners.of(signal).add(second);
    listeners.of(signal).add(third);
    listeners.of(signal).delete(third);
    abort();
    expect(second.abort).not.toHaveBeenCalled();
    expect(third.abort).not.toHaveBeenCalled();
  });

  it('of one signal hear nothing of another', () => {
    const listeners = new AbortListeners();
    const [one, another] = [make(), make()];
    const listener = { abort: vi.fn<() => void>() };
    listeners.of(one.signal).add(listener);
    listeners.of(another.signal).add({ abort: () => undefined });
    another.abort();
    expect(listener.abort).not.toHaveBeenCalled();
  });

  it('are called once, however often it is aborted', () => {
    const { signal, abort } = make();
    const listener = { abort: vi.fn<() => void>() };
    new AbortListeners().of(signal).add(listener);
    abort();
    abort();
    expect(listener.abort).toHaveBeenCalledOnce();
  });
});

describe('an AbortSignal', () => {
  it('has one listener on it, however many listen', () => {
    const listeners = new AbortListeners();
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    for (let index = 0; index < 1000; index += 1)
      listeners.of(signal).add({ abort: () => undefined });
    expect(added).toHaveBeenCalledOnce();
  });

  it('is by itself', () => {
    const { signal } = new AbortController();
    expect(asAbortSignal(signal)).toBe(signal);
  });
});

describe('a light signal', () => {
  it('is aborted for its first reason', () => {
    const signal = new LightAbortSignal();
    expect(signal.aborted).toBe(false);
    signal.abort('the first');
    signal.abort('the second');
    expect([signal.aborted, signal.reason]).toEqual([true, 'the first']);
  });

  it.each(['before', 'after'])(
    'aborts the AbortSignal that stands for it: %s that is made',
    (when) => {
      const light = new LightAbortSignal();
      if (when === 'before') light.abort('over');
      const signal = asAbortSignal(light);
      if (when === 'after') light.abort('over');
      expect([signal.aborted, signal.reason]).toEqual([true, 'over']);
    },
  );
});

function controller(): Controller {
  const aborter = new AbortController();
  return { signal: aborter.signal, abort: () => aborter.abort() };
}

function lightController(): Controller {
  const signal = new LightAbortSignal();
  return { signal, abort: () => signal.abort(undefined) };
}
