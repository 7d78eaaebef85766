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

it('forgets the oldest of twenty thousand', () => {
  const seen = new SeenTokens();
  seen.see('first');
  for (let index = 0; index < 20_000; index += 1) seen.see(`token-${index}`);
  expect(seen.see('token-19999')).toBe(true);
  expect(seen.see('first')).toBe(false);
});
