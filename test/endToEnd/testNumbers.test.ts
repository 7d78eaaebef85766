import { describe, expect, test } from 'vitest';
import { TEST_NUMBERS } from '../../simulator/testNumbers.ts';
import { tellAbout } from './answers.ts';
import { startSimulated } from '../service.ts';
import { STORES, useStores } from './stores.ts';
import { ROWS } from './testNumberRows.ts';

const settingsOf = useStores();

describe.concurrent.each(STORES)('what a test number comes to through GraphQL, in %s', (store) => {
  test.each(ROWS)(
    '%s: …%s tells %j, within ten days %j',
    async (flow, lastDigits, date, tenDays, settings) => {
      await using service = await startSimulated({
        OPERATOR_FLOW: flow,
        REQUEST_TIMEOUT_MS: '30000',
        OPERATOR_TIMEOUT_MS: '10000',
        CONSENT_WAIT_MS: '25000',
        ...settingsOf(store),
        ...settings,
      });

      const heard = await tellAbout(
        service,
        `+447700900${lastDigits}`,
        'lastSimSwap',
        'tenDays: simSwappedWithin',
      );

      expect(heard).toEqual({ lastSimSwap: date, tenDays });
      expect(service.stats()).toMatchObject({ reusedTokens: 0, misusedTokens: 0, earlyPolls: 0 });
    },
  );
});

test('…021: only a window cannot be checked, and no date is looked up in its place', async () => {
  await using service = await startSimulated();

  const heard = await tellAbout(service, '+447700900021', 'tenDays: simSwappedWithin');

  expect(heard).toEqual({ tenDays: 'OPERATION_NOT_OFFERED' });
  expect(service.stats()).toMatchObject({ lookups: 0, refusedLookups: 1 });
});

test.each([
  ['012', 'lookups'],
  ['041', 'tokens'],
])('…%s: %s are rate limited, and the caller hears for how long', async (lastDigits) => {
  await using service = await startSimulated();

  const query = `{ phoneNumber(e164: "+447700900${lastDigits}") { simSwappedWithin } }`;
  const { errors } = await service.ask(query);

  const told = { code: 'OPERATOR_RATE_LIMITED', retryAfterSeconds: 30 };
  expect(errors[0]?.extensions).toEqual(told);
});

test.each([
  ['2-legged', '3-legged'],
  ['3-legged', '2-legged'],
])('every test number for the %s flow has its row', (flow, otherFlow) => {
  const rows = ROWS.filter(([ofRow]) => ofRow === flow);
  const numbers = TEST_NUMBERS.filter(({ does }) => !does.startsWith(`${otherFlow}:`));

  expect(rows.map(([, lastDigits]) => `+447700900${lastDigits}`)).toEqual(
    numbers.map(({ number }) => number),
  );
});
