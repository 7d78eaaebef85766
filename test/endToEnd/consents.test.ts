import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { told } from './answers.ts';
import type { Environment } from '../../src/config/environment.ts';
import { HeldClock } from '../heldClock.ts';
import type { SimulatorSettings } from '../../simulator/simulator.ts';
import { startSimulated, type GraphqlReply } from '../service.ts';
import { STORES, Stores } from './stores.ts';

const GRANTED_AFTER_2_S = '+447700900050';
const DECLINED_AFTER_1_S = '+447700900052';
const WITHDRAWN = '+447700900053';
const EXPIRES_AFTER_6_S = '+447700900055';
const REPLY_LOST = '+447700900058';

/** Longer than an owner takes, on a busy machine too. */
const PATIENT = { CONSENT_WAIT_MS: '25000', REQUEST_TIMEOUT_MS: '30000' };

const WITHIN = 'query ($number: ID!) { phoneNumber(e164: $number) { swapped: simSwappedWithin } }';

function codeOf({ errors = [] }: GraphqlReply): string | undefined {
  return errors[0]?.extensions?.code;
}

const stores = new Stores();
beforeAll(() => stores.start());
afterAll(() => stores.stop());

const COVERED = STORES.filter((store) => stores.whyNot(store) === undefined);

describe.concurrent.each(COVERED)('consent over the wire, kept in %s', (store) => {
  const start = (settings: Environment = {}, simulator: Partial<SimulatorSettings> = {}) =>
    startSimulated(
      { OPERATOR_FLOW: '3-legged', ...stores.settings(store), ...settings },
      simulator,
    );

  test('granted while the request waits: one answer, one prompt', async () => {
    await using service = await start({
      ...PATIENT,
    });

    const reply = await service.ask(WITHIN, { number: GRANTED_AFTER_2_S });

    expect(told(reply)).toEqual({ swapped: false });
    expect(service.stats()).toMatchObject({ prompts: 1, tokens: 1, lookups: 1, earlyPolls: 0 });
  });

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

    const reply = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer: `wait=${wait}` },
      body: JSON.stringify({ query: WITHIN, variables: { number: GRANTED_AFTER_2_S } }),
    });

    expect(reply.headers.get('preference-applied')).toBe(applied);
    expect(told((await reply.json()) as GraphqlReply)).toEqual(heard);
  });

  test('requests that come while the owner thinks share one prompt, one token and one lookup', async () => {
    await using service = await start({
      ...PATIENT,
    });

    const replies = await Promise.all(
      Array.from({ length: 20 }, () => service.ask(WITHIN, { number: GRANTED_AFTER_2_S })),
    );

    expect(replies.map(told)).toEqual(Array.from({ length: 20 }, () => ({ swapped: false })));
    expect(service.stats()).toMatchObject({ prompts: 1, tokens: 1, lookups: 1 });
  });

  test('declined: CONSENT_DENIED, remembered without a second prompt', async () => {
    await using service = await start({
      ...PATIENT,
    });

    for (const _ of ['asked', 'asked again']) {
      const reply = await service.ask(WITHIN, { number: DECLINED_AFTER_1_S });
      expect(told(reply)).toEqual({ swapped: 'CONSENT_DENIED' });
    }

    expect(service.stats()).toMatchObject({ prompts: 1, tokens: 0, lookups: 0 });
  });

  test('withdrawn for good: CONSENT_DENIED without a prompt', async () => {
    await using service = await start();

    const reply = await service.ask(WITHIN, { number: WITHDRAWN });

    expect(told(reply)).toEqual({ swapped: 'CONSENT_DENIED' });
    expect(service.stats()).toMatchObject({ prompts: 0, tokens: 0 });
  });

  test('never answered: CONSENT_EXPIRED once, and only then another prompt', async ({
    expect: inTest,
  }) => {
    await using service = await start({
      CONSENT_WAIT_MS: '1000',
    });
    const asking = async () => codeOf(await service.ask(WITHIN, { number: EXPIRES_AFTER_6_S }));

    expect(await asking()).toBe('CONSENT_PENDING');
    await inTest.poll(asking, { timeout: 30_000 }).toBe('CONSENT_EXPIRED');
    expect(service.stats().prompts).toBe(1);

    expect(await asking()).toBe('CONSENT_PENDING');
    expect(service.stats()).toMatchObject({ prompts: 2, doublePrompts: 0, lookups: 0 });
  });

  test('whether the owner was prompted is unknown: pending, and no owner is prompted again', async () => {
    await using service = await start({
      CONSENT_WAIT_MS: '1000',
    });

    for (const _ of ['asked', 'asked again']) {
      const reply = await service.ask(WITHIN, { number: REPLY_LOST });
      expect(told(reply)).toEqual({ swapped: 'CONSENT_PENDING' });
    }

    expect(service.stats()).toMatchObject({ prompts: 1, polls: 0 });
  });
});
