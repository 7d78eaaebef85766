import { describe, expect, test } from 'vitest';
import { told } from './answers.ts';
import type { Environment } from '../../src/config/environment.ts';
import { HeldClock } from '../heldClock.ts';
import type { SimulatorSettings } from '../../simulator/simulator.ts';
import { startSimulated } from '../service.ts';
import { STORES, useStores } from './stores.ts';

const GRANTED_AFTER_2_S = '+447700900050';
const EXPIRES_AFTER_6_S = '+447700900055';

const WITHIN = 'query ($number: ID!) { phoneNumber(e164: $number) { swapped: simSwappedWithin } }';

const settingsOf = useStores();

describe.concurrent.each(STORES)('consent over the wire, kept in %s', (store) => {
  const start = (settings: Environment = {}, simulator: Partial<SimulatorSettings> = {}) =>
    startSimulated({ OPERATOR_FLOW: '3-legged', ...settingsOf(store), ...settings }, simulator);

  test('longer than the patience: CONSENT_PENDING, and asking again resumes the same consent', async ({
    expect: inTest,
  }) => {
    const owner = new HeldClock(1000);
    await using service = await start({ CONSENT_WAIT_MS: '1000' }, { nowMs: owner.nowMs });

    const first = await service.ask(WITHIN, { number: GRANTED_AFTER_2_S });
    expect(told(first)).toEqual({ swapped: 'CONSENT_PENDING' });
    expect(first.errors?.[0]?.extensions?.retryAfterSeconds).toBeGreaterThanOrEqual(1);
    // The exchange that prompts may outlive the request.
    await inTest.poll(() => service.stats().prompts).toBe(1);
    expect(service.stats()).toMatchObject({ tokens: 0, lookups: 0 });

    owner.letGo();
    const asking = async () => told(await service.ask(WITHIN, { number: GRANTED_AFTER_2_S }));
    await inTest.poll(asking, { timeout: 30_000 }).toEqual({ swapped: false });

    expect(service.stats()).toMatchObject({
      prompts: 1,
      doublePrompts: 0,
      tokens: 1,
      lookups: 1,
      earlyPolls: 0,
      overlappingPolls: 0,
    });
  });

  test.each([
    ['60', 'wait=30', { swapped: false }],
    ['0', 'wait=0', { swapped: 'CONSENT_PENDING' }],
  ])('waits as long as the request prefers (Prefer: wait=%s)', async (wait, applied, heard) => {
    await using service = await start({
      CONSENT_WAIT_MS: '1000',
      REQUEST_TIMEOUT_MS: '30000',
    });

    const prefer = `wait=${wait}`;
    const reply = await service.ask(WITHIN, { number: GRANTED_AFTER_2_S }, { prefer });

    expect(reply.headers.get('preference-applied')).toBe(applied);
    expect(told(reply)).toEqual(heard);
  });

  test('never answered: CONSENT_EXPIRED once, and only then another prompt', async ({
    expect: inTest,
  }) => {
    await using service = await start({ CONSENT_WAIT_MS: '1000' });
    const asking = async () => (await service.ask(WITHIN, { number: EXPIRES_AFTER_6_S })).codes[0];

    expect(await asking()).toBe('CONSENT_PENDING');
    await inTest.poll(asking, { timeout: 30_000 }).toBe('CONSENT_EXPIRED');
    expect(service.stats().prompts).toBe(1);

    expect(await asking()).toBe('CONSENT_PENDING');
    expect(service.stats()).toMatchObject({ prompts: 2, doublePrompts: 0, lookups: 0 });
  });
});
