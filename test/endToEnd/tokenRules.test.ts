import { describe, expect, it } from 'vitest';
import { answerJson } from '../http/recordingServer.ts';
import { TOKENS } from '../operator/camara.ts';
import { operatorNamed, SeveralOperators, window } from '../severalOperators.ts';
import { WiredOperator } from '../wiredOperator.ts';
import { line } from './askedSimSwaps.ts';

const ONE_SCOPE = {
  operations: { 'retrieve-date': 'sim-swap', check: 'sim-swap' },
  openid: false,
  joinedBy: ' ',
} as const;

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
