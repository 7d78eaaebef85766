import { describe, expect, test } from 'vitest';
import { TEST_NUMBERS } from '../../simulator/testNumbers.ts';
import { IS_LONG } from '../forms.ts';
import { tellAbout } from './answers.ts';
import { startSimulated, type SimulatedService } from '../service.ts';
import { STORES, useStores } from './stores.ts';

const settingsOf = useStores();

/** What asking for the date and for ten days, three times, costs: one prompt a consent that is needed. */
type Row = readonly [lastDigits: string, prompts: number, lookups: number, promptsInRow?: number];

function each(lastDigits: string, prompts: number, lookups: number): readonly Row[] {
  return lastDigits.split(' ').map((digits) => [digits, prompts, lookups]);
}

const ROWS: readonly Row[] = [
  // The date may be an activation, or is withheld: the window takes a consent of its own.
  ...each('001 002 005 006 007 009', 2, 2),
  ...each('003 004 008', 1, 1),
  // The failure of the date speaks for the number.
  ...each('010 011 012 013 014 015 016 017 019 021 025', 1, 1),
  // It speaks for its operation, or for its question: the window is still to be asked.
  ...each('018 020 022 023 024 026 030 031 032 033 034 035 036', 2, 2),
  ...each('050 051 056 059', 1, 1),
  ...each('052 058', 1, 0),
  ...each('053 054 060', 0, 0),
  // An expiry that was told: the next ask prompts anew.
  ['055', 1, 0, 3],
  ['057', 1, 0, 3],
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
      await using service = await startSimulated({ ...SETTINGS, ...settingsOf(store) });

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
  expect(ROWS.map(([lastDigits]) => `+447700900${lastDigits}`).toSorted()).toEqual(
    numbers.map(({ number }) => number),
  );
});
