import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { costs, startSimulated } from '../service.ts';

const service = await startSimulated({ ROLE: 'bff' });
beforeEach(() => service.simulator.resetStats());
afterAll(() => service.stop());

const ONE = 'query ($e164: ID!) { phoneNumber(e164: $e164) { e164 simSwappedWithin } }';
const SEVERAL = 'query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { e164 simSwappedWithin } }';

const STARTS_WITH_PLUS = 'A phone number starts with + and the country code.';
const NO_LEADING_00 =
  'A phone number starts with + and the country code; write + in place of the leading 00.';
const NO_TRUNK_ZERO = 'Leave out the (0): it is not dialled from abroad.';
const DIGITS =
  'A phone number is a + followed by 5 to 15 digits, the first of them not 0; spaces and hyphens between them are allowed.';

describe('a phone number', () => {
  it.each(['+447700900004', 'tel:+44-7700 900004'])(
    'written as %s is taken, and answered in E.164 form',
    async (e164) => {
      const reply = await service.ask(ONE, { e164 });
      expect(reply.data).toEqual({
        phoneNumber: { e164: '+447700900004', simSwappedWithin: false },
      });
      expect(reply.errors).toEqual([]);
      expect(costs(service)).toEqual({ tokens: 1, lookups: 1 });
    },
  );

  it.each([
    ['07700 900004', STARTS_WITH_PLUS],
    ['00447700900004', NO_LEADING_00],
    ['+44 (0)7700 900004', NO_TRUNK_ZERO],
    ['+447700900004;ext=1', DIGITS],
  ])('written as %j is refused with the reason, without a word of it', async (e164, reason) => {
    const reply = await service.ask(ONE, { e164 });
    expect(reply.data).toEqual({ phoneNumber: null });
    expect(reply.errors).toEqual([
      {
        message: reason,
        path: ['phoneNumber'],
        locations: [{ line: 1, column: 22 }],
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
    expect(costs(service)).toEqual({ tokens: 0, lookups: 0 });
  });

  it('given as a whole number is a number without its plus', async () => {
    const reply = await service.ask('{ phoneNumber(e164: 447700900004) { e164 } }');
    expect(reply.data).toEqual({ phoneNumber: null });
    expect(reply.errors.map((error) => error.message)).toEqual([STARTS_WITH_PLUS]);
  });
});

describe('a list of phone numbers', () => {
  it('is answered in its order, and a bad one fails by itself with one error', async () => {
    const reply = await service.ask(SEVERAL, {
      e164s: ['+447700900004', '07700900001', '+447700900001'],
    });
    expect(reply.data).toEqual({
      phoneNumbers: [
        { e164: '+447700900004', simSwappedWithin: false },
        null,
        { e164: '+447700900001', simSwappedWithin: true },
      ],
    });
    expect(reply.errors).toHaveLength(1);
    expect(reply.errors[0]).toMatchObject({
      message: STARTS_WITH_PLUS,
      path: ['phoneNumbers', 1],
      extensions: { code: 'BAD_USER_INPUT' },
    });
    expect(reply.text).not.toContain('07700900001');
    expect(costs(service).lookups).toBe(2);
  });

  it('may be empty', async () => {
    const reply = await service.ask(SEVERAL, { e164s: [] });
    expect(reply.data).toEqual({ phoneNumbers: [] });
    expect(reply.errors).toEqual([]);
  });

  it('may hold one number twice, which is asked once', async () => {
    const reply = await service.ask(SEVERAL, { e164s: ['+447700900001', 'tel:+44 7700 900001'] });
    const answer = { e164: '+447700900001', simSwappedWithin: true };
    expect(reply.data).toEqual({ phoneNumbers: [answer, answer] });
    expect(costs(service)).toEqual({ tokens: 1, lookups: 1 });
  });

  it('keeps what was answered beside a number that the operator does not know', async () => {
    const reply = await service.ask(SEVERAL, { e164s: ['+447700900010', '+447700900001'] });
    expect(reply.data).toEqual({
      phoneNumbers: [
        { e164: '+447700900010', simSwappedWithin: null },
        { e164: '+447700900001', simSwappedWithin: true },
      ],
    });
    expect(reply.errors).toHaveLength(1);
    expect(reply.errors[0]).toMatchObject({
      path: ['phoneNumbers', 0, 'simSwappedWithin'],
      locations: [{ line: 1, column: 61 }],
      extensions: { code: 'NUMBER_NOT_SERVED' },
    });
  });
});

describe('maxAgeHours', () => {
  const WITHIN =
    'query ($h: Int!) { phoneNumber(e164: "+447700900004") { simSwappedWithin(maxAgeHours: $h) } }';

  it.each([1, 240, 2400])('%i is asked', async (h) => {
    const reply = await service.ask(WITHIN, { h });
    expect(reply.data).toEqual({ phoneNumber: { simSwappedWithin: false } });
    expect(reply.errors).toEqual([]);
  });

  it.each([0, -1, 2401, 1_000_000_000, -2_147_483_648])(
    '%i is refused, and nothing is asked',
    async (h) => {
      const reply = await service.ask(WITHIN, { h });
      expect(reply.data).toEqual({ phoneNumber: { simSwappedWithin: null } });
      expect(reply.errors).toHaveLength(1);
      expect(reply.errors[0]).toMatchObject({
        message: 'maxAgeHours is a whole number from 1 to 2400.',
        path: ['phoneNumber', 'simSwappedWithin'],
        extensions: { code: 'BAD_USER_INPUT' },
      });
      expect(costs(service)).toEqual({ tokens: 0, lookups: 0 });
    },
  );

  it('that is bad takes no other question down with it', async () => {
    const reply = await service.ask(
      '{ phoneNumber(e164: "+447700900001") { bad: simSwappedWithin(maxAgeHours: 0) good: simSwappedWithin } }',
    );
    expect(reply.data).toEqual({ phoneNumber: { bad: null, good: true } });
    expect(reply.codes).toEqual(['BAD_USER_INPUT']);
  });
});

describe('the schema of the BFF', () => {
  it.each(['{ _service { sdl } }', '{ _entities(representations: []) { __typename } }'])(
    'has nothing for a router: %s',
    async (query) => {
      const reply = await service.ask(query);
      expect(reply.status).toBe(400);
      expect(reply.codes).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    },
  );
});
