import { describe, expect, test } from 'vitest';
import { deadUrl } from '../http/recordingServer.ts';
import { tellAbout } from './answers.ts';
import { startService, startWired } from '../service.ts';

const NUMBER = '+447700900004';
const WITHIN = 'query ($number: ID!) { phoneNumber(e164: $number) { swapped: simSwappedWithin } }';

/** Time enough for whatever is under test to happen first. */
const UNHURRIED = { OPERATOR_TIMEOUT_MS: '60000', REQUEST_TIMEOUT_MS: '60000' };

describe('a caller that hangs up, 2-legged', () => {
  test('ends the token request that it waits for', async () => {
    await using service = await startWired({ token: () => undefined }, UNHURRIED);
    const caller = new AbortController();
    const hungUp = service
      .ask(WITHIN, { number: NUMBER }, {}, caller.signal)
      .catch((error: unknown) => error);
    await expect.poll(() => service.operator.received.length, { timeout: 10_000 }).toBe(1);

    caller.abort();

    expect(await hungUp).toMatchObject({ name: 'AbortError' });
    await service.operator.received[0]?.connection.closed;
    expect(service.operator.received).toHaveLength(1);
  });

  test('ends the calls about all of its numbers', async () => {
    await using service = await startWired({ lookUp: () => undefined }, UNHURRIED);
    const caller = new AbortController();
    const numbers = Array.from({ length: 50 }, (_, index) => `+447700900${500 + index}`);
    const hungUp = service
      .ask(
        'query ($numbers: [ID!]!) { phoneNumbers(e164s: $numbers) { simSwappedWithin } }',
        { numbers },
        {},
        caller.signal,
      )
      .catch((error: unknown) => error);
    await expect.poll(() => service.operator.lookups.length, { timeout: 10_000 }).toBe(50);

    caller.abort();

    expect(await hungUp).toMatchObject({ name: 'AbortError' });
    await Promise.all(service.operator.lookups.map(({ connection }) => connection.closed));
    expect(service.operator.received).toHaveLength(100);
  });
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

describe('an operator at whose address no server listens', () => {
  test.each(['2-legged', '3-legged'])('%s: OPERATOR_UNAVAILABLE, and on it goes', async (flow) => {
    await using service = await startService(await deadUrl(), { OPERATOR_FLOW: flow });

    for (const _ of ['asked', 'asked again']) {
      const heard = await tellAbout(service, NUMBER, 'lastSimSwap', 'swapped: simSwappedWithin');
      expect(heard).toEqual({
        lastSimSwap: 'OPERATOR_UNAVAILABLE',
        swapped: 'OPERATOR_UNAVAILABLE',
      });
    }

    for (const path of ['/livez', '/readyz']) {
      expect((await fetch(service.url + path)).status).toBe(200);
    }
  });
});
