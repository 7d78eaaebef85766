import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_NUMBERS } from '../../simulator/testNumbers.ts';
import { IS_LONG } from '../forms.ts';
import { tellAbout } from './answers.ts';
import { startSimulated, type SimulatedService } from '../service.ts';
import { STORES, Stores } from './stores.ts';

const stores = new Stores();
beforeAll(() => stores.start());
afterAll(() => stores.stop());

/** What asking for the date and for ten days, three times, costs: one prompt a consent that is needed. */
type Row = readonly [lastDigits: string, prompts: number, lookups: number, promptsInRow?: number];

const ROWS: readonly Row[] = [
  // The date may be an activation, or is withheld: the window takes a consent of its own.
  ['001', 2, 2],
  ['002', 2, 2],
  ['003', 1, 1],
  ['004', 1, 1],
  ['005', 2, 2],
  ['006', 2, 2],
  ['007', 2, 2],
  ['008', 1, 1],
  ['009', 2, 2],
  // The failure of the date speaks for the number.
  ['010', 1, 1],
  ['011', 1, 1],
  ['012', 1, 1],
  ['013', 1, 1],
  ['014', 1, 1],
  ['015', 1, 1],
  ['016', 1, 1],
  ['017', 1, 1],
  ['018', 2, 2],
  ['019', 1, 1],
  ['020', 2, 2],
  ['021', 1, 1],
  // It speaks for its operation, or for its question: the window is still to be asked.
  ['022', 2, 2],
  ['023', 2, 2],
  ['024', 2, 2],
  ['025', 1, 1],
  ['026', 2, 2],

  ['030', 2, 2],
  ['031', 2, 2],
  ['032', 2, 2],
  ['033', 2, 2],
  ['034', 2, 2],
  ['035', 2, 2],
  ['036', 2, 2],
  ['050', 1, 1],
  ['051', 1, 1],
  ['052', 1, 0],
  ['053', 0, 0],
  ['054', 0, 0],
  // An expiry that was told: the next ask prompts anew.
  ['055', 1, 0, 3],
  ['056', 1, 1],
  ['057', 1, 0, 3],
  ['058', 1, 0],
  ['059', 1, 1],
  ['060', 0, 0],
];

/** More than one caller of one service would be, and one that waits for the owner. */
const SETTINGS = {
  OPERATOR_FLOW: '3-legged',
  REQUEST_TIMEOUT_MS: '25000',
  OPERATOR_TIMEOUT_MS: '3000',
  CONSENT_WAIT_MS: '20000',
};

function ask(service: SimulatedService, lastDigits: string) {
  const number = `+447700900${lastDigits}`;
  return tellAbout(service, number, 'lastSimSwap', 'tenDays: simSwappedWithin');
}

const WAYS = {
  'in a row': async (service: SimulatedService, lastDigits: string): Promise<void> => {
    for (const _ of ['once', 'twice', 'three times']) await ask(service, lastDigits);
  },
  'at once': async (service: SimulatedService, lastDigits: string): Promise<void> => {
    await Promise.all(['one', 'two', 'three'].map(() => ask(service, lastDigits)));
  },
} as const;

/** In the short form a number is asked in one way in one store, and in the other way in the other one. */
const CASES = ROWS.flatMap(([lastDigits, prompts, lookups, promptsInRow = prompts], row) =>
  STORES.flatMap((store, index) =>
    [
      { lastDigits, store, how: 'in a row', prompts: promptsInRow, lookups } as const,
      { lastDigits, store, how: 'at once', prompts, lookups } as const,
    ].filter((_, way) => IS_LONG || (row + index + way) % 2 === 0),
  ),
);

describe.concurrent('asked three times, a test number costs', () => {
  test.each(CASES)(
    '…$lastDigits $how, in $store: $prompts prompts, $lookups lookups',
    async ({ lastDigits, store, how, prompts, lookups }) => {
      // One Redis may be missing; the memory is always there.
      if (stores.whyNot(store) !== undefined) return;
      await using service = await startSimulated({ ...SETTINGS, ...stores.settings(store) });

      await WAYS[how](service, lastDigits);

      const { refusedLookups, ...stats } = service.stats();
      expect({ ...stats, lookups: stats.lookups + refusedLookups }).toMatchObject({
        prompts,
        lookups,
        doublePrompts: 0,
        earlyPolls: 0,
        reusedTokens: 0,
      });
    },
    90_000,
  );
});

test('every test number of the 3-legged flow has its row', () => {
  const numbers = TEST_NUMBERS.filter(({ does }) => !does.startsWith('2-legged:'));
  expect(ROWS.map(([lastDigits]) => `+447700900${lastDigits}`)).toEqual(
    numbers.map(({ number }) => number),
  );
});
