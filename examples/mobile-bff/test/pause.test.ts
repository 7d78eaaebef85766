import { expect, it } from 'vitest';
import { pause } from '../app/pause.ts';

it('ends early when the screen is left', async () => {
  const leaving = new AbortController();
  const paused = pause(leaving.signal)(2_000_000_000);
  leaving.abort();
  await expect(paused).rejects.toThrow('left');
});

it('does not begin when the screen has been left', async () => {
  await expect(pause(AbortSignal.abort())(2_000_000_000)).rejects.toThrow('left');
});

it('ends in time', async () => {
  await expect(pause(new AbortController().signal)(1)).resolves.toBeUndefined();
});
