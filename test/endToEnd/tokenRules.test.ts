import { describe, expect, it } from 'vitest';
import type { OperatorSettings } from '../../src/operator/operatorSettings.ts';
import { answerJson } from '../http/recordingServer.ts';
import { TOKENS, WITHOUT_NUMBER } from '../operator/camara.ts';
import { date, operatorNamed, SeveralOperators, window } from '../severalOperators.ts';
import { WiredOperator, WITHHOLDS_DATES } from '../wiredOperator.ts';
import { line } from './askedSimSwaps.ts';

const ONE_SCOPE = {
  operations: { 'retrieve-date': 'sim-swap', check: 'sim-swap' },
  openid: false,
  joinedBy: ' ',
} as const;

const NUMBERS = 50;

describe(`${NUMBERS} numbers at one scope for both operations, the date and three windows`, () => {
  it.each<[string, Partial<OperatorSettings>, number]>([
    ['per-number', { tokens: { ...TOKENS, use: 'per-number' } }, NUMBERS],
    [
      'any-number',
      {
        flow: '2-legged',
        grant: WITHOUT_NUMBER,
        tokens: { ...TOKENS, use: 'any-number' },
      },
      1,
    ],
  ])('%s: as many tokens as there have to be', async (_, rule, tokens) => {
    await using operator = await WiredOperator.start(WITHHOLDS_DATES);
    const settings = operatorNamed('one', operator.url, {
      scopes: ONE_SCOPE,
      prefixes: ['default'],
      ...rule,
    });
    await using several = new SeveralOperators([settings]);
    const loader = several.request();
    const answers = await Promise.all(
      Array.from({ length: NUMBERS }, (_unused, index) => line(index)).map(async (number) =>
        Promise.all([
          date(loader, number),
          window(loader, number, 24),
          window(loader, number, 72),
          window(loader, number, 240),
        ]),
      ),
    );
    expect(
      answers.filter((all) => String(all) === String([null, false, false, true])),
    ).toHaveLength(NUMBERS);
    expect(operator.count('tokens')).toBe(tokens);
    // The date, the largest window, and the middle one, which answers the smallest.
    expect(operator.count('lookups')).toBe(3 * NUMBERS);
  });
});

describe('a token that is refused with 401', () => {
  const PER_NUMBER = {
    scopes: ONE_SCOPE,
    prefixes: ['default'],
    tokens: { ...TOKENS, use: 'per-number' },
  } as const;

  it('is replaced once, and the new one goes on to be used', async () => {
    const revoked = new Set<string>();
    await using operator = await WiredOperator.start({
      forgives: ['tokensUsedTwice'],
      lookUp: (received, response) => {
        const isRevoked = revoked.has(String(received.headers.authorization));
        if (isRevoked) answerJson(received, response, { code: 'UNAUTHENTICATED' }, 401);
        else answerJson(received, response, { swapped: false });
      },
    });
    await using several = new SeveralOperators([operatorNamed('one', operator.url, PER_NUMBER)]);
    const ask = (): Promise<boolean | string> => window(several.request(), line(1));
    expect(await ask()).toBe(false);
    revoked.add(String(operator.lookups[0]?.headers.authorization));
    expect(await ask()).toBe(false);
    expect(await ask()).toBe(false);
    expect([operator.count('tokens'), operator.count('lookups')]).toEqual([2, 4]);
  });
});
