import { describe, expect, test } from 'vitest';
import { startSimulated } from '../service.ts';

const WINDOWS =
  'e164 day: simSwappedWithin(maxAgeHours: 24) tenDays: simSwappedWithin ' +
  'all: simSwappedWithin(maxAgeHours: 2400)';
const DATE_AND_WINDOWS = `lastSimSwap ${WINDOWS}`;

function neverSwapped(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `+447700900${500 + index}`);
}

function aboutAll(fields: string): string {
  return `query ($numbers: [ID!]!) { phoneNumbers(e164s: $numbers) { ${fields} } }`;
}

const SPELLINGS = ['+447700900500', 'tel:+44 7700-900500', '+44 7700 900500', '+44-7700-900500'];

describe('what a query costs, 2-legged', () => {
  test.each([
    ['50 numbers, the date and three windows', neverSwapped(50), DATE_AND_WINDOWS, 50],
    ['one number fifty times', Array<string>(50).fill('+447700900500'), DATE_AND_WINDOWS, 1],
    ['one number in four spellings', SPELLINGS, WINDOWS, 1],
  ])('%s', async (_name, numbers, fields, lookups) => {
    await using service = await startSimulated();

    const { data, errors } = await service.ask(aboutAll(fields), { numbers });

    expect(errors).toEqual([]);
    const never = { day: false, tenDays: false, all: false };
    expect(data.phoneNumbers).toMatchObject(numbers.map(() => never));
    expect(service.stats()).toMatchObject({
      lookups,
      tokens: lookups,
      refusedLookups: 0,
      reusedTokens: 0,
      misusedTokens: 0,
    });
  });

  test('twenty numbers with three windows, 3-legged: a prompt, a token and a lookup each', async () => {
    await using service = await startSimulated({ OPERATOR_FLOW: '3-legged' });

    const { codes } = await service.ask(aboutAll(WINDOWS), { numbers: neverSwapped(20) });

    expect(codes).toEqual([]);
    expect(service.stats()).toMatchObject({ lookups: 20, tokens: 20, prompts: 20 });
  });
});
