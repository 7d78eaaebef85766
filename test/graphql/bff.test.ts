import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { costs, startSimulated } from '../support/service.ts';

const service = await startSimulated({ ROLE: 'bff' });
beforeEach(() => service.simulator.resetStats());
afterAll(() => service.stop());

const ONE = 'query ($e164: ID!) { phoneNumber(e164: $e164) { e164 simSwappedWithin } }';
const SEVERAL = 'query ($e164s: [ID!]!) { phoneNumbers(e164s: $e164s) { e164 simSwappedWithin } }';

const STARTS_WITH_PLUS = 'A phone number starts with + and the country code.';

// Which texts are numbers: domain/phoneNumber.test.ts.
describe('a phone number', () => {
  it.each(['+447700900004', 'tel:+44-7700 900004'])(
    'written as %s is answered in E.164 form',
    async (e164) => {
      const reply = await service.ask(ONE, { e164 });
      expect(reply.body).toEqual({
        data: { phoneNumber: { e164: '+447700900004', simSwappedWithin: false } },
      });
      expect(costs(service)).toEqual({ tokens: 1, lookups: 1 });
    },
  );

  it.each([
    ['a national number', '"07700 900004"'],
    ['a whole number', '447700900004'],
  ])('is refused with the reason, which quotes nothing of it: %s', async (_, e164) => {
    const reply = await service.ask(`{ phoneNumber(e164: ${e164}) { e164 simSwappedWithin } }`);
    expect(reply.body).toEqual({
      data: { phoneNumber: null },
      errors: [
        {
          message: STARTS_WITH_PLUS,
          path: ['phoneNumber'],
          locations: [{ line: 1, column: 3 }],
          extensions: { code: 'BAD_USER_INPUT' },
        },
      ],
    });
    expect(costs(service)).toEqual({ tokens: 0, lookups: 0 });
  });
});

describe('a list of phone numbers', () => {
  it('is answered in its order; an invalid one is null with one error', async () => {
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
    const extensions = { code: 'BAD_USER_INPUT' };
    expect(reply.errors).toMatchObject([
      { message: STARTS_WITH_PLUS, path: ['phoneNumbers', 1], extensions },
    ]);
    expect(reply.text).not.toContain('07700900001');
    expect(costs(service).lookups).toBe(2);
  });

  it('may be empty', async () => {
    const reply = await service.ask(SEVERAL, { e164s: [] });
    expect(reply.body).toEqual({ data: { phoneNumbers: [] } });
  });

  it('looks up a number once that it holds twice', async () => {
    const reply = await service.ask(SEVERAL, { e164s: ['+447700900001', 'tel:+44 7700 900001'] });
    const answer = { e164: '+447700900001', simSwappedWithin: true };
    expect(reply.data).toEqual({ phoneNumbers: [answer, answer] });
    expect(costs(service)).toEqual({ tokens: 1, lookups: 1 });
  });

  it('keeps its answers beside a number that the operator does not know', async () => {
    const reply = await service.ask(SEVERAL, { e164s: ['+447700900010', '+447700900001'] });
    expect(reply.data).toEqual({
      phoneNumbers: [
        { e164: '+447700900010', simSwappedWithin: null },
        { e164: '+447700900001', simSwappedWithin: true },
      ],
    });
    const path = ['phoneNumbers', 0, 'simSwappedWithin'];
    expect(reply.errors).toMatchObject([
      {
        path,
        locations: [{ line: 1, column: 61 }],
        extensions: { code: 'NUMBER_NOT_SERVED' },
      },
    ]);
  });
});

it('an invalid maxAgeHours fails its own field only', async () => {
  const { data, errors } = await service.ask(
    '{ phoneNumber(e164: "+447700900001") { bad: simSwappedWithin(maxAgeHours: 2401) good: simSwappedWithin(maxAgeHours: 2400) } }',
  );
  expect(data).toEqual({ phoneNumber: { bad: null, good: true } });
  expect(errors).toMatchObject([
    {
      message: 'maxAgeHours is a whole number from 1 to 2400.',
      path: ['phoneNumber', 'bad'],
      extensions: { code: 'BAD_USER_INPUT' },
    },
  ]);
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
