import { describe, expect, it } from 'vitest';
import type { Exchange, FaultCause } from '../../../src/http/exchange.ts';
import { decideRetry, type ExchangeKind } from '../../../src/http/resilience/retryDecision.ts';

function fault(cause: FaultCause, sent: boolean): Exchange {
  return { kind: 'fault', fault: { cause, sent, detail: 'test' } };
}

function reply(status: number): Exchange {
  return { kind: 'reply', reply: { status, headers: {}, body: '' }, sentAtMs: 0, leftAtMs: 0 };
}

type Row = 'none' | 'same' | 'new-token';

interface Case {
  readonly failure: string;
  readonly exchange: Exchange;
  readonly retryAfterSeconds?: number;
  readonly 'backchannel-authentication': Row;
  readonly 'token-poll': Row;
  readonly 'client-credentials': Row;
  readonly lookup: Row;
  /** As a token request: neither is billed, and neither prompts. */
  readonly directory: Row;
  /** With `OPERATOR_RETRY_LOOKUPS=true`. */
  readonly lookupRetried?: Row;
}

const rows = (
  backchannel: Row,
  poll: Row,
  token: Row,
  lookup: Row,
  lookupRetried: Row = lookup,
) => ({
  'backchannel-authentication': backchannel,
  'token-poll': poll,
  'client-credentials': token,
  directory: token,
  lookup,
  lookupRetried,
});

// The columns: bc-authorize, token poll, 2-legged token, lookup, lookup when doubtful ones are repeated.
const TABLE: readonly Case[] = [
  {
    failure: 'connection refused, DNS, connect timeout, proven unsent',
    exchange: fault('connection', false),
    ...rows('same', 'none', 'same', 'same'),
  },
  {
    failure: 'timeout before a byte left',
    exchange: fault('timeout', false),
    ...rows('same', 'none', 'same', 'same'),
  },
  {
    failure: 'reset after bytes left',
    exchange: fault('connection', true),
    ...rows('none', 'none', 'same', 'none', 'new-token'),
  },
  {
    failure: 'timeout after bytes left',
    exchange: fault('timeout', true),
    ...rows('none', 'none', 'same', 'none', 'new-token'),
  },
  { failure: '500', exchange: reply(500), ...rows('none', 'none', 'same', 'none', 'new-token') },
  { failure: '503', exchange: reply(503), ...rows('none', 'none', 'same', 'none', 'new-token') },
  {
    failure: '503 with Retry-After',
    exchange: reply(503),
    retryAfterSeconds: 1,
    ...rows('none', 'none', 'same', 'none', 'new-token'),
  },
  { failure: '408', exchange: reply(408), ...rows('none', 'none', 'same', 'none', 'new-token') },
  { failure: '409', exchange: reply(409), ...rows('none', 'none', 'none', 'none') },
  { failure: '501', exchange: reply(501), ...rows('none', 'none', 'none', 'none') },
  { failure: '401', exchange: reply(401), ...rows('none', 'none', 'none', 'new-token') },
  { failure: '429', exchange: reply(429), ...rows('none', 'none', 'none', 'none') },
  {
    failure: '429 with Retry-After',
    exchange: reply(429),
    retryAfterSeconds: 1,
    ...rows('none', 'none', 'same', 'none'),
  },
  {
    failure: '429 with a Retry-After past the deadline',
    exchange: reply(429),
    retryAfterSeconds: 10,
    ...rows('none', 'none', 'none', 'none'),
  },
  { failure: '400', exchange: reply(400), ...rows('none', 'none', 'none', 'none') },
  { failure: '403', exchange: reply(403), ...rows('none', 'none', 'none', 'none') },
  { failure: '307', exchange: reply(307), ...rows('none', 'none', 'none', 'none') },
  {
    failure: 'a body that cannot be read',
    exchange: fault('invalid-reply', true),
    ...rows('none', 'none', 'none', 'none'),
  },
  {
    failure: 'the request ended',
    exchange: fault('cancelled', false),
    ...rows('none', 'none', 'none', 'none'),
  },
  { failure: 'success', exchange: reply(200), ...rows('none', 'none', 'none', 'none') },
];

const KINDS: readonly ExchangeKind[] = [
  'backchannel-authentication',
  'token-poll',
  'client-credentials',
  'lookup',
  'directory',
];

describe.each(TABLE)('after $failure', (row) => {
  const finished = {
    exchange: row.exchange,
    retryAfterSeconds: row.retryAfterSeconds,
    timeLeftMs: 5000,
  };

  it.each(KINDS)('%s follows the table', (kind) => {
    const rules = { canTakeNewToken: true, retriesDoubtfulLookups: false };
    expect(decideRetry({ kind, ...finished }, rules).retry).toBe(row[kind]);
  });

  it('repeats a doubtful lookup only where the setting allows a second bill', () => {
    const rules = { canTakeNewToken: true, retriesDoubtfulLookups: true };
    expect(decideRetry({ kind: 'lookup', ...finished }, rules).retry).toBe(row.lookupRetried);
  });

  it('never takes a new token where a person would be asked for it', () => {
    const rules = { canTakeNewToken: false, retriesDoubtfulLookups: true };
    expect(decideRetry({ kind: 'lookup', ...finished }, rules).retry).not.toBe('new-token');
  });

  it('does nothing when no time is left', () => {
    const rules = { canTakeNewToken: true, retriesDoubtfulLookups: true };
    for (const kind of KINDS) {
      expect(decideRetry({ kind, ...finished, timeLeftMs: 0 }, rules).retry).toBe('none');
    }
  });
});

describe('the wait before a retry', () => {
  it('is at least what the operator asks for', () => {
    expect(
      decideRetry(
        {
          kind: 'client-credentials',
          exchange: reply(429),
          retryAfterSeconds: 2,
          timeLeftMs: 5000,
        },
        { canTakeNewToken: true, retriesDoubtfulLookups: false },
      ),
    ).toEqual({ retry: 'same', atLeastMs: 2000 });
  });
});
