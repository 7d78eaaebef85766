import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_NUMBERS } from '../../src/simulator/testNumbers.ts';
import { tellAbout, type Told } from './answers.ts';
import { startSimulated } from '../service.ts';
import { STORES, Stores } from './stores.ts';

const QUICK = { OPERATOR_TIMEOUT_MS: '300' };
const PATIENT = { CONSENT_WAIT_MS: '9500' };
const IMPATIENT = { CONSENT_WAIT_MS: '200' };

/** The last digits of a number, what `lastSimSwap` tells of it, and what `simSwappedWithin` does. */
type Row = readonly [
  lastDigits: string,
  date: Told,
  tenDays: Told,
  settings?: Readonly<Record<string, string>>,
];

/** Failing the same way for the date and for the window. */
function failing(lastDigits: string, code: string, settings: Row[3] = {}): Row {
  return [lastDigits, code, code, settings];
}

const LINES: readonly Row[] = [
  ['001', '2 h ago', true],
  ['002', '72 h ago', true],
  ['003', '960 h ago', false],
  ['004', '87600 h ago', false],
  ['005', '24 h ago', false],
  ['006', null, true],
  ['007', null, false],
  ['008', null, false],
  ['009', '72 h ago', 'PERIOD_NOT_SUPPORTED'],
];

const LOOKUPS: readonly Row[] = [
  failing('010', 'NUMBER_NOT_SERVED'),
  failing('011', 'NUMBER_NOT_SERVED'),
  failing('012', 'OPERATOR_RATE_LIMITED'),
  failing('013', 'OPERATOR_UNAVAILABLE'),
  failing('014', 'OPERATOR_UNAVAILABLE'),
  ['015', '87600 h ago', false],
  failing('016', 'OPERATOR_TIMEOUT', QUICK),
  failing('017', 'OPERATOR_UNAVAILABLE'),
  failing('018', 'OPERATOR_INVALID_REPLY'),
  failing('019', 'OPERATOR_REFUSED'),
  failing('020', 'OPERATOR_REFUSED'),
  ['021', '87600 h ago', false],
  ['022', 'OPERATION_NOT_OFFERED', false],
  failing('023', 'OPERATOR_REFUSED'),
  failing('024', 'OPERATOR_REFUSED'),
  failing('025', 'NUMBER_NOT_SERVED'),
  failing('026', 'OPERATOR_REFUSED'),
  failing('030', 'OPERATOR_INVALID_REPLY'),
  failing('031', 'OPERATOR_INVALID_REPLY'),
  ['032', 'OPERATOR_INVALID_REPLY', false],
  ['033', 'OPERATOR_INVALID_REPLY', false],
  ['034', 'OPERATOR_INVALID_REPLY', false],
  failing('035', 'OPERATOR_INVALID_REPLY'),
  failing('036', 'OPERATOR_INVALID_REPLY'),
];

const TOKENS: readonly Row[] = [
  failing('040', 'OPERATOR_REFUSED'),
  failing('041', 'OPERATOR_RATE_LIMITED'),
  failing('042', 'OPERATOR_UNAVAILABLE'),
  failing('043', 'OPERATOR_INVALID_REPLY'),
  failing('044', 'OPERATOR_TIMEOUT', QUICK),
];

const CONSENTS: readonly Row[] = [
  ['050', '87600 h ago', false, PATIENT],
  ['051', '87600 h ago', false, PATIENT],
  failing('052', 'CONSENT_DENIED', PATIENT),
  failing('053', 'CONSENT_DENIED'),
  failing('054', 'NUMBER_NOT_SERVED'),
  failing('055', 'CONSENT_EXPIRED', PATIENT),
  ['056', '87600 h ago', false, PATIENT],
  failing('057', 'CONSENT_EXPIRED'),
  failing('058', 'CONSENT_PENDING', IMPATIENT),
  ['059', '87600 h ago', false],
  failing('060', 'OPERATOR_UNAVAILABLE'),
];

const IN_THE_FLOW_IT_IS_FOR = [
  ...[...LINES, ...LOOKUPS, ...TOKENS].map((row) => ['2-legged', ...row] as const),
  ...[...LINES, ...LOOKUPS, ...CONSENTS].map((row) => ['3-legged', ...row] as const),
].map(
  ([flow, lastDigits, date, tenDays, settings = {}]) =>
    [flow, lastDigits, date, tenDays, settings] as const,
);

const stores = new Stores();
beforeAll(() => stores.start());
afterAll(() => stores.stop());

const COVERED = STORES.filter((store) => stores.whyNot(store) === undefined);

describe.concurrent.each(COVERED)('what a test number comes to through GraphQL, in %s', (store) => {
  test.each(IN_THE_FLOW_IT_IS_FOR)(
    '%s: …%s tells %j, within ten days %j',
    async (flow, lastDigits, date, tenDays, settings) => {
      await using service = await startSimulated({
        OPERATOR_FLOW: flow,
        REQUEST_TIMEOUT_MS: '15000',
        OPERATOR_TIMEOUT_MS: '10000',
        ...stores.settings(store),
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

  test('…021: a window alone cannot be checked, and no date is looked up in its place', async () => {
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

    const { errors } = await service.ask(
      `{ phoneNumber(e164: "+447700900${lastDigits}") { simSwappedWithin } }`,
    );

    expect(errors?.[0]?.extensions).toEqual({
      code: 'OPERATOR_RATE_LIMITED',
      retryAfterSeconds: 30,
    });
  });
});

test.each([
  ['2-legged', '3-legged'],
  ['3-legged', '2-legged'],
])('every test number for the %s flow has its row', (flow, otherFlow) => {
  const rows = IN_THE_FLOW_IT_IS_FOR.filter(([ofRow]) => ofRow === flow);
  const numbers = TEST_NUMBERS.filter(({ does }) => !does.startsWith(`${otherFlow}:`));

  expect(rows.map(([, lastDigits]) => `+447700900${lastDigits}`)).toEqual(
    numbers.map(({ number }) => number),
  );
});
