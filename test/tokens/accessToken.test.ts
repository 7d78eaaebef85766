import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  AccessToken,
  type Redacted,
  SeenTokens,
  TokenMisused,
  type TokenSubject,
} from '../../src/tokens/accessToken.ts';
import { ReusableToken } from '../../src/tokens/reusedTokens.ts';
import { ALICE, BOB } from '../support/values.ts';

const SUBJECT: TokenSubject = {
  number: ALICE,
  operation: 'check',
  purpose: 'dpv:FraudPreventionAndDetection',
};
const SECRET = 'secret-value';

describe('an access token', () => {
  it('returns its value once', () => {
    const token = new AccessToken(SUBJECT, SECRET, undefined);
    expect(token.spend(SUBJECT)).toBe('secret-value');
    expect(() => token.spend(SUBJECT)).toThrow(
      new TokenMisused('An access token may not be used twice.'),
    );
  });

  it.each<[string, TokenSubject]>([
    ['another number', { ...SUBJECT, number: BOB }],
    ['another operation', { ...SUBJECT, operation: 'retrieve-date' }],
  ])('does not return its value for %s, and is not spent by it', (_, subject) => {
    const token = new AccessToken(SUBJECT, SECRET, undefined);
    expect(() => token.spend(subject)).toThrow(
      new TokenMisused('An access token may not be used for another number or operation.'),
    );
    expect(token.spend(SUBJECT)).toBe('secret-value');
  });

  const REUSABLE = new ReusableToken(SECRET, 1_000, SUBJECT, () => 'all');

  it.each<[string, (token: Redacted) => string]>([
    ['String()', (token) => String(token)],
    ['JSON of what holds it', (token) => JSON.stringify({ acquired: [token] })],
    ['inspect, all shown', (token) => inspect({ token }, { depth: 9, showHidden: true })],
  ])('is redacted in %s', (_, show) => {
    for (const token of [new AccessToken(SUBJECT, SECRET, 1_000), REUSABLE]) {
      expect(show(token)).toContain(`${token.constructor.name}(redacted)`);
      expect(show(token) + JSON.stringify(Object.entries(token))).not.toContain(SECRET);
    }
  });

  it.each<[number | undefined, number, boolean]>([
    [1_000, 999, false],
    [1_000, 1_000, true],
    [1_000, 1_001, true],
    [undefined, Number.MAX_SAFE_INTEGER, false],
  ])('that expires at %s is expired at %d: %s', (expiresAtMs, nowMs, isExpired) => {
    expect(new AccessToken(SUBJECT, SECRET, expiresAtMs).isExpired(nowMs)).toBe(isExpired);
  });
});

function tenThousandsOf(count: number): SeenTokens {
  const seen = new SeenTokens();
  for (let index = 0; index < count; index += 1) seen.see(`token-${index}`);
  return seen;
}

describe('SeenTokens', () => {
  it('recognises a token that came before', () => {
    const seen = new SeenTokens();
    expect([seen.see('one'), seen.see('two'), seen.see('one'), seen.see('two')]).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it.each([10_000, 12_345, 19_999, 40_000])('of %i, recognises the latest 10,000', (count) => {
    const seen = tenThousandsOf(count);
    for (let index = count - 10_000; index < count; index += 1) {
      expect(seen.see(`token-${index}`)).toBe(true);
    }
  });

  it('holds no more than twice as many', () => {
    expect(tenThousandsOf(40_000).see(`token-${40_000 - 20_001}`)).toBe(false);
  });
});
