import { describe, expect, it } from 'vitest';
import type { SilentReplies } from '../../src/http/echo.ts';
import { ENDPOINT_NAMES } from '../../src/http/wireSettings.ts';
import { silentReplies } from '../../src/simSwaps/operatorEndpoints.ts';
import { operatorNamed, type OperatorChanges } from '../severalOperators.ts';
import { TOKENS, WITHOUT_NUMBER } from './camara.ts';

const NAMES_NO_NUMBER: OperatorChanges = {
  flow: '2-legged',
  grant: WITHOUT_NUMBER,
};

function settingsWith(changes: OperatorChanges, environment: Record<string, string> = {}) {
  return operatorNamed('one', 'https://operator.invalid', changes, environment);
}

describe('replies of a token endpoint that echoes nothing', () => {
  it.each<[string, Record<string, string>, OperatorChanges, SilentReplies]>([
    ['the token names the number', {}, {}, 'fresh'],
    ['mismatches are refused', { OPERATOR_TOKEN_MISMATCH: 'refused' }, {}, 'checked'],
    [
      'mismatches are refused, but no lookup names the number',
      { OPERATOR_TOKEN_MISMATCH: 'refused', OPERATOR_SEND_PHONE_NUMBER: 'never' },
      {},
      'fresh',
    ],
    [
      'mismatches are refused, but a token is used again',
      { OPERATOR_TOKEN_MISMATCH: 'refused' },
      { tokens: { ...TOKENS, use: 'per-number' } },
      'fresh',
    ],
    ['the token names no number', {}, NAMES_NO_NUMBER, 'alike'],
  ])('%s', (_, environment, changes, expected) => {
    expect(silentReplies(settingsWith(changes, environment), 'token')).toBe(expected);
  });
});

it('replies of all other endpoints come on fresh connections where nothing is echoed', () => {
  const settings = settingsWith(NAMES_NO_NUMBER, { OPERATOR_TOKEN_MISMATCH: 'refused' });
  const others = ENDPOINT_NAMES.filter((name) => name !== 'token');
  expect(others.map((name) => silentReplies(settings, name))).toEqual(others.map(() => 'fresh'));
});
