import { describe, expect, it, vi } from 'vitest';
import { AbortListeners } from '../../src/http/abortListeners.ts';

describe('the listeners of a signal', () => {
  it('are all called when it is aborted, in their order', () => {
    const listeners = new AbortListeners();
    const { signal, abort } = controller();
    const called: string[] = [];
    listeners.of(signal).add({ abort: () => called.push('first') });
    listeners.of(signal).add({ abort: () => called.push('second') });
    abort();
    expect(called).toEqual(['first', 'second']);
  });

  it('hear nothing once they are removed, even by one that is called before them', () => {
    const listeners = new AbortListeners();
    const { signal, abort } = controller();
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

  it('put one listener on the signal, however many they are', () => {
    const listeners = new AbortListeners();
    const { signal } = controller();
    const added = vi.spyOn(signal, 'addEventListener');
    for (let index = 0; index < 1000; index += 1)
      listeners.of(signal).add({ abort: () => undefined });
    expect(added).toHaveBeenCalledOnce();
  });

  it('of one signal hear nothing of another', () => {
    const listeners = new AbortListeners();
    const [one, another] = [controller(), controller()];
    const listener = { abort: vi.fn<() => void>() };
    listeners.of(one.signal).add(listener);
    listeners.of(another.signal).add({ abort: () => undefined });
    another.abort();
    expect(listener.abort).not.toHaveBeenCalled();
  });
});

function controller() {
  const aborter = new AbortController();
  return { signal: aborter.signal, abort: () => aborter.abort() };
}
