import { describe, expect, test } from 'vitest';
import { TEST_NUMBERS } from '../../simulator/testNumbers.ts';
import { IS_LONG } from '../support/forms.ts';
import { startSimulated, type SimulatedService } from '../support/service.ts';
import { tellAbout } from './answers.ts';
import { STORES, useStores } from './stores.ts';
import { ROWS } from './testNumberRows.ts';

const settingsOf = useStores();

const PATIENT = {
  REQUEST_TIMEOUT_MS: '30000',
  OPERATOR_TIMEOUT_MS: '10000',
  CONSENT_WAIT_MS: '25000',
};
const CLEAN = { reusedTokens: 0, misusedTokens: 0, earlyPolls: 0, doublePrompts: 0 };

function ask(service: SimulatedService, lastDigits: string) {
  const number = `+447700900${lastDigits}`;
  return tellAbout(service, number, 'lastSimSwap', 'tenDays: simSwappedWithin');
}

const rowsOf = (flow: string) => ROWS.filter(([ofRow]) => ofRow === flow);

describe.concurrent('a test number through GraphQL', () => {
  test.each(rowsOf('2-legged'))(
    '%s: …%s is %j, within ten days %j',
    async (_flow, lastDigits, lastSimSwap, tenDays, settings) => {
      await using service = await startSimulated({ ...PATIENT, ...settings });
      expect(await ask(service, lastDigits)).toEqual({ lastSimSwap, tenDays });
      expect(service.stats()).toMatchObject(CLEAN);
    },
  );
});

/** By its last digits, what querying the date and ten days costs, three times: one prompt for each consent. */
const COSTS = new Map([
  // The date may be an activation, or is withheld: the window takes a consent of its own.
  ...each('001 002 005 006 007 009', { prompts: 2, lookups: 2 }),
  ...each('003 004 008', { prompts: 1, lookups: 1 }),
  // The failure of the date applies to the number.
  ...each('010 011 012 013 014 015 016 017 019 021 025', { prompts: 1, lookups: 1 }),
  // It applies to its operation, or to its question: the window is still open.
  ...each('018 020 022 023 024 026 030 031 032 033 034 035 036', { prompts: 2, lookups: 2 }),
  ...each('050 051 056 059', { prompts: 1, lookups: 1 }),
  ...each('052 058', { prompts: 1, lookups: 0 }),
  ...each('053 054 060', { prompts: 0, lookups: 0 }),
  // After an expiry that was returned, the next query prompts again.
  ...each('055 057', { prompts: 1, lookups: 0, promptsInRow: 3 }),
]);

interface Costs {
  readonly prompts: number;
  readonly lookups: number;
  readonly promptsInRow?: number;
}

function each(lastDigits: string, costs: Costs) {
  return lastDigits.split(' ').map((digits) => [digits, costs] as const);
}

/** In the short form a number is queried in one of these four ways, and its neighbours in the others. */
const CASES = rowsOf('3-legged').flatMap(([, lastDigits, date, tenDays, settings], row) =>
  STORES.flatMap((store, index) =>
    ['in a row', 'at once']
      .map((how) => ({ lastDigits, how, store, date, tenDays, settings }))
      .filter((_, way) => IS_LONG || (row + 1) % 4 === 2 * index + way),
  ),
);

/** A Redis that does not get the processor for a second is lost to a service, and its answers are others. */
const STORE_LOST = 'The shared store is lost.';
const AGAIN_WHERE_LOST = { retry: { count: 3, condition: new RegExp(STORE_LOST) } };

/** Beside each other, since they wait for owners; more at a time would keep each other's commands to Redis from their second. */
const AT_A_TIME = 5;
const GROUPS = Array.from({ length: Math.ceil(CASES.length / AT_A_TIME) }, (_, group) =>
  CASES.slice(group * AT_A_TIME, (group + 1) * AT_A_TIME),
);

describe.each(GROUPS.map((cases) => ({ cases })))('a test number with consent', ({ cases }) => {
  test.concurrent.for(cases)(
    '…$lastDigits, three times $how, in $store: $date, within ten days $tenDays',
    AGAIN_WHERE_LOST,
    async ({ lastDigits, how, store, date, tenDays, settings }, { expect: expectHere }) => {
      await using service = await startSimulated({
        OPERATOR_FLOW: '3-legged',
        ...PATIENT,
        ...settingsOf(store),
        ...settings,
      });
      const asked = [];
      for (const _ of ['one', 'two', 'three']) {
        asked.push(ask(service, lastDigits));
        if (how === 'in a row') await asked.at(-1);
      }
      // A doubt or an expiry is returned otherwise the next time.
      const [first] = await Promise.all(asked);
      if (service.logged.some((line) => line.includes(STORE_LOST))) throw new Error(STORE_LOST);
      expect(first).toEqual({ lastSimSwap: date, tenDays });

      const { prompts = NaN, lookups = NaN, promptsInRow = prompts } = COSTS.get(lastDigits) ?? {};
      // An answer that no longer waits may be there before its prompt is.
      await expectHere
        .poll(() => {
          const { refusedLookups, ...stats } = service.stats();
          return { ...stats, lookups: stats.lookups + refusedLookups };
        })
        .toMatchObject({
          ...CLEAN,
          prompts: how === 'in a row' ? promptsInRow : prompts,
          lookups,
        });
    },
  );
});

test.each([
  ['2-legged', '3-legged'],
  ['3-legged', '2-legged'],
])('every test number for the %s flow has its row', (flow, otherFlow) => {
  const numbers = TEST_NUMBERS.filter(({ does }) => !does.startsWith(`${otherFlow}:`));
  expect(rowsOf(flow).map(([, lastDigits]) => `+447700900${lastDigits}`)).toEqual(
    numbers.map(({ number }) => number),
  );
});
