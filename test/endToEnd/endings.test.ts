import { describe, expect, test } from 'vitest';
import { tellAbout } from './answers.ts';
import { startWired } from '../support/service.ts';

const NUMBER = '+447700900004';

/** Later than anything under test. */
const UNHURRIED = { OPERATOR_TIMEOUT_MS: '60000', REQUEST_TIMEOUT_MS: '60000' };

describe('a caller that hangs up, 2-legged', () => {
  test.each(['tokens', 'lookups'] as const)(
    'ends the %s about all of its numbers',
    async (kind) => {
      const script = { [kind === 'tokens' ? 'token' : 'lookUp']: () => undefined };
      await using service = await startWired(script, UNHURRIED);
      const caller = new AbortController();
      const numbers = Array.from({ length: 50 }, (_, index) => `+447700900${500 + index}`);
      const query = 'query ($n: [ID!]!) { phoneNumbers(e164s: $n) { simSwappedWithin } }';
      const hungUp = service
        .ask(query, { n: numbers }, {}, caller.signal)
        .catch((error: unknown) => error);
      await expect.poll(() => service.operator[kind].length, { timeout: 10_000 }).toBe(50);

      caller.abort();

      expect(await hungUp).toMatchObject({ name: 'AbortError' });
      await Promise.all(service.operator[kind].map(({ connection }) => connection.closed));
      expect(service.operator.received).toHaveLength(kind === 'tokens' ? 50 : 100);
    },
  );
});

describe('a time limit that passes', () => {
  test.each([
    ['the request', { REQUEST_TIMEOUT_MS: '300', OPERATOR_TIMEOUT_MS: '60000' }],
    ['one exchange', { REQUEST_TIMEOUT_MS: '60000', OPERATOR_TIMEOUT_MS: '300' }],
  ])('of %s: OPERATOR_TIMEOUT, and the lookup is ended', async (_name, limits) => {
    await using service = await startWired({ lookUp: () => undefined }, limits);

    const heard = await tellAbout(service, NUMBER, 'swapped: simSwappedWithin');

    expect(heard).toEqual({ swapped: 'OPERATOR_TIMEOUT' });
    await service.operator.lookups[0]?.connection.closed;
    expect(service.operator.lookups).toHaveLength(1);
  });
});
