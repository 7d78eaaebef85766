import { expect, it } from 'vitest';
import { SeenTokens } from '../../src/tokens/seenTokens.ts';

it('knows a token that came before', () => {
  const seen = new SeenTokens();
  expect([seen.see('one'), seen.see('two'), seen.see('one'), seen.see('two')]).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

function tenThousandsOf(count: number): SeenTokens {
  const seen = new SeenTokens();
  for (let index = 0; index < count; index += 1) seen.see(`token-${index}`);
  return seen;
}

it.each([10_000, 12_345, 19_999, 40_000])('of %i, knows the latest ten thousand', (count) => {
  const seen = tenThousandsOf(count);
  for (let index = count - 10_000; index < count; index += 1) {
    expect(seen.see(`token-${index}`)).toBe(true);
  }
});

it('knows no more than twice as many', () => {
  expect(tenThousandsOf(40_000).see(`token-${40_000 - 20_001}`)).toBe(false);
});
