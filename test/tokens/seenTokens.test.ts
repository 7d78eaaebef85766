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

it.each([10_000, 12_345, 19_999, 40_000])(
  'of %i, knows the latest ten thousand, and no more than twice as many',
  (count) => {
    const seen = new SeenTokens();
    for (let index = 0; index < count; index += 1) seen.see(`token-${index}`);
    for (let index = count - 10_000; index < count; index += 1) {
      expect(seen.see(`token-${index}`)).toBe(true);
    }
    if (count > 20_000) expect(seen.see(`token-${count - 20_001}`)).toBe(false);
  },
);
