import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { CodeReply } from '../app/codeReply.ts';
import { screen } from '../app/screen.ts';
import { smsCode, type CodeState } from '../app/smsCode.ts';

const START_MS = Date.UTC(2026, 0, 15, 12);

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS, toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function sleep(ms: number): Promise<void> {
  vi.setSystemTime(Date.now() + ms);
  return Promise.resolve();
}

function statesUntil(
  expiresAt: string | null,
  retryAfterSeconds = 60,
): Promise<readonly CodeState[]> {
  const pending: CodeReply = { kind: 'pending', retryAfterSeconds, expiresAt };
  return Array.fromAsync(smsCode(() => Promise.resolve(pending), sleep));
}

it('ends when the question to the owner does', async () => {
  const states = await statesUntil(new Date(START_MS + 100_000).toISOString());
  expect(states.map(({ kind }) => kind)).toEqual(['pending', 'pending', 'anotherWay']);
  expect(Date.now()).toBe(START_MS + 100_000);
});

it('ends after ten minutes where the reply does not say when the question ends', async () => {
  const states = await statesUntil(null);
  expect(states.at(-1)).toEqual({ kind: 'anotherWay' });
  expect(Date.now()).toBe(START_MS + 600_000);
});

it('offers another way after 30 seconds, and no sooner', async () => {
  const states = await statesUntil(new Date(START_MS + 50_000).toISOString(), 10);
  const offers = states.map((state) => /Or sign in with your passkey/.test(screen(state)));
  expect(offers).toEqual([false, false, false, true, true, false]);
});
