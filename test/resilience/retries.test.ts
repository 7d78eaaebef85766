import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, test } from 'vitest';
import type { Exchange, FaultCause } from '../../src/wire/exchange.ts';
import {
  decideRetry,
  RetryBudget,
  type ExchangeKind,
  type RetryRules,
} from '../../src/resilience/retries.ts';
import { TestClock } from '../support/testClock.ts';

const DOCS = readFileSync(new URL('../../docs/design.md', import.meta.url), 'utf8');
const SECTION = /^### Retries$[^]*?(?=^### )/m.exec(DOCS)?.[0] ?? '';

function fault(cause: FaultCause, sent: boolean): Exchange {
  return { kind: 'fault', fault: { cause, sent, detail: 'test' } };
}

function replies(...statuses: readonly number[]): readonly Exchange[] {
  return statuses.map((status) => ({
    kind: 'reply',
    reply: { status, headers: {}, body: '' },
    sentAtMs: 0,
    leftAtMs: 0,
  }));
}

/** Exchanges of the first cells. */
const EXCHANGES: Readonly<Record<string, readonly Exchange[]>> = {
  'no connection, or proven that no byte left': [
    fault('connection', false),
    fault('timeout', false),
  ],
  'lost or timed out after it left': [fault('connection', true), fault('timeout', true)],
  '5xx but 501, 408': replies(500, 502, 503, 504, 599, 408),
  '401': replies(401),
  // Sent once more with its nonce before it is judged.
  'a challenge: `use_dpop_nonce`': replies(400, 401).map((one) => ({
    ...one,
    challenge: { nonce: 'next' },
  })),
  '429': replies(429),
  'any other reply': replies(200, 204, 302, 307, 400, 403, 404, 409, 415, 422, 501),
};

/** Exchanges of the columns; a token request and one to the directory neither bill nor prompt. */
const COLUMNS: readonly (readonly ExchangeKind[])[] = [
  ['backchannel-authentication'],
  ['token-poll'],
  ['client-credentials', 'directory'],
  ['lookup'],
];

interface Circumstances extends RetryRules {
  readonly retryAfterSeconds: number | undefined;
}

/** The decision that a cell means; the next poll follows its interval, and is not a retry. */
function said(cell: string, { canTakeNewToken, ...circumstances }: Circumstances): string {
  if (cell.startsWith('again')) return 'same';
  if (cell.startsWith('with a new token')) return canTakeNewToken ? 'new-token' : 'none';
  if (cell === 'if `Retry-After` fits') {
    return circumstances.retryAfterSeconds === undefined ? 'none' : 'same';
  }
  if (cell === 'no, unless `retryLookups`') {
    return circumstances.retriesDoubtfulLookups && canTakeNewToken ? 'new-token' : 'none';
  }
  return 'none';
}

const CIRCUMSTANCES: readonly Circumstances[] = [true, false].flatMap((canTakeNewToken) =>
  [true, false].flatMap((retriesDoubtfulLookups) =>
    [undefined, 1].map((retryAfterSeconds) => ({
      canTakeNewToken,
      retriesDoubtfulLookups,
      retryAfterSeconds,
    })),
  ),
);

const CELLS = SECTION.split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:-|what happened)/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  .flatMap(([what = '', ...cells]) =>
    cells.flatMap((cell, column) => (COLUMNS[column] ?? []).map((kind) => ({ what, kind, cell }))),
  );

describe('the table of retries in docs/design.md', () => {
  test('has its rows', () => {
    expect(new Set(CELLS.map(({ what }) => what))).toEqual(new Set(Object.keys(EXCHANGES)));
    expect(CELLS).toHaveLength(COLUMNS.flat().length * Object.keys(EXCHANGES).length);
  });

  test.each(CELLS)('$what, $kind: $cell', ({ what, kind, cell }) => {
    for (const exchange of EXCHANGES[what] ?? []) {
      for (const circumstances of CIRCUMSTANCES) {
        const { retryAfterSeconds } = circumstances;
        const finished = { kind, exchange, retryAfterSeconds, timeLeftMs: 5000 };
        expect(decideRetry(finished, circumstances).retry).toBe(said(cell, circumstances));
        expect(decideRetry({ ...finished, timeLeftMs: 0 }, circumstances).retry).toBe('none');
      }
    }
  });
});

test('a shared token that was refused is replaced for all who have it, where the refusal is proven', () => {
  const rules = { canTakeNewToken: true, retriesDoubtfulLookups: false };
  const shared = { kind: 'lookup', retryAfterSeconds: undefined, isTokenShared: true } as const;
  for (const exchange of EXCHANGES['401'] ?? []) {
    const decided = (one: Exchange) =>
      decideRetry({ ...shared, exchange: one, timeLeftMs: 5000 }, rules).retry;
    expect(decided(exchange)).toBe('refresh');
    expect(decided({ ...exchange, isUnproven: true } as Exchange)).toBe('new-token');
  }
});

test.each(COLUMNS.flat())('%s is not retried in vain, or too early', (kind) => {
  const rules = { canTakeNewToken: true, retriesDoubtfulLookups: true };
  const decided = (exchange: Exchange | undefined, retryAfterSeconds?: number) =>
    exchange && decideRetry({ kind, exchange, retryAfterSeconds, timeLeftMs: 5000 }, rules);
  const none = { retry: 'none' };
  expect(decided(fault('invalid-reply', true))).toEqual(none);
  expect(decided(fault('cancelled', false))).toEqual(none);
  const [tooMany] = replies(429);
  expect(decided(tooMany, 10)).toEqual(none);
  const isToken = kind === 'client-credentials' || kind === 'directory';
  expect(decided(tooMany, 2)).toEqual(isToken ? { retry: 'same', atLeastMs: 2000 } : none);
});

describe('the retry budget', () => {
  let clock: TestClock;
  let budget: RetryBudget;

  beforeEach(() => {
    clock = new TestClock();
    budget = new RetryBudget(clock);
  });

  function count(exchanges: number): void {
    for (let counted = 0; counted < exchanges; counted += 1) budget.count();
  }

  function takeAll(): number {
    let taken = 0;
    while (taken < 1000 && budget.take()) taken += 1;
    return taken;
  }

  it.each([
    { exchanges: 0, retries: 10 },
    { exchanges: 109, retries: 10 },
    { exchanges: 110, retries: 11 },
    { exchanges: 100_000, retries: 100 },
  ])('holds $retries retries after $exchanges exchanges', ({ exchanges, retries }) => {
    count(exchanges);
    expect(takeAll()).toBe(retries);
  });

  it('allows a tenth of many exchanges that all fail at once', () => {
    let taken = 0;
    for (let exchange = 0; exchange < 1000; exchange += 1) {
      budget.count();
      if (budget.take()) taken += 1;
    }
    expect(taken).toBe(100);
  });

  it.each([
    { ms: 5900, retries: 0 },
    { ms: 6000, retries: 1 },
    { ms: 3_600_000, retries: 10 },
  ])('grants $retries retries in $ms ms without exchanges', async ({ ms, retries }) => {
    takeAll();
    await clock.advance(ms);
    expect(takeAll()).toBe(retries);
  });

  it.each([
    { perMinute: 60, retries: 10 },
    { perMinute: 6000, retries: 600 },
  ])(
    'allows about $retries retries a minute at $perMinute exchanges',
    async ({ perMinute, retries }) => {
      takeAll();
      let taken = 0;
      for (let exchange = 0; exchange < 10 * perMinute; exchange += 1) {
        budget.count();
        await clock.advance(60_000 / perMinute);
        if (budget.take()) taken += 1;
      }
      expect(taken / 10).toBeGreaterThan(0.9 * retries);
      expect(taken / 10).toBeLessThanOrEqual(1.1 * retries);
    },
  );

  it('takes all the retries of a call, or none', () => {
    expect(budget.take(11)).toBe(false);
    expect(budget.take(8)).toBe(true);
    expect(budget.take(3)).toBe(false);
    expect(budget.take(2)).toBe(true);
  });
});
