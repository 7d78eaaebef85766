import type { ApolloClient } from '@apollo/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { simSwapCheck } from '../app/simSwapCheck.ts';
import type { Verdict } from '../app/verdict.ts';

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

/** The verdicts of an app whose BFF says for ever that the owner has not answered. */
async function verdictsUntil(expiresAt: string | null): Promise<readonly Verdict[]> {
  const simSwapCheckData = {
    result: 'UNKNOWN',
    reason: 'CONSENT_PENDING',
    retryAfterSeconds: 60,
    expiresAt,
  };
  const query = () =>
    Promise.resolve({ data: { myPhoneNumber: { simSwapCheck: simSwapCheckData } } });
  return Array.fromAsync(simSwapCheck({ query } as unknown as ApolloClient, sleep));
}

it('ends when the question to the owner does', async () => {
  const verdicts = await verdictsUntil(new Date(START_MS + 100_000).toISOString());
  expect(verdicts.map(({ kind }) => kind)).toEqual(['pending', 'pending', 'unanswered']);
  expect(Date.now()).toBe(START_MS + 100_000);
});

it('ends after ten minutes where it is not told when the question does', async () => {
  const verdicts = await verdictsUntil(null);
  expect(verdicts.at(-1)).toEqual({ kind: 'unanswered' });
  expect(Date.now()).toBe(START_MS + 600_000);
});
