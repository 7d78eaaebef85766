import { expect, it } from 'vitest';
import type { SilentReplies } from '../../src/wire/echo.ts';
import { ENDPOINT_NAMES } from '../../src/operator/operatorSettings.ts';
import { silentReplies } from '../../src/simSwaps/operatorEndpoints.ts';
import { operatorNamed, type OperatorChanges } from '../support/severalOperators.ts';
import { TOKENS, WITHOUT_NUMBER } from './camara.ts';

const WITHOUT: OperatorChanges = { flow: '2-legged', grant: WITHOUT_NUMBER };
const REFUSED: OperatorChanges = { tokenMismatch: 'refused' };

it.each<[string, OperatorChanges, SilentReplies]>([
  ['the token names the number', {}, 'fresh'],
  ['mismatches are refused', REFUSED, 'checked'],
  ['… but lookups do not name the number', { ...REFUSED, sendPhoneNumber: 'never' }, 'fresh'],
  ['… but tokens are reused', { ...REFUSED, tokens: { ...TOKENS, use: 'per-number' } }, 'fresh'],
  ['the token names no number', WITHOUT, 'alike'],
])('the token endpoint of an operator without an echo, where %s: %s', (_, changes, expected) => {
  const settings = operatorNamed('one', 'https://operator.invalid', changes);
  expect(silentReplies(settings, 'token')).toBe(expected);
  const others = ENDPOINT_NAMES.filter((name) => name !== 'token');
  expect(new Set(others.map((name) => silentReplies(settings, name)))).toEqual(new Set(['fresh']));
});
