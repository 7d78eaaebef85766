import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEMO_CLIENT, startSimulator, type Simulator } from '../../simulator/simulator.ts';
import { Program } from '../program.ts';
import { examplesOf, FILES } from './examples.ts';

const ENTRIES = ['client', 'subgraph', 'mocks'] as const;
const EXAMPLES = ENTRIES.flatMap((entry) => examplesOf(entry));

/** What the examples of a method begin with. */
const OPENED = `import { createSimSwapClient } from 'sim-swap-subgraph/client';
await using simSwaps = await createSimSwapClient({ settings: process.env });
`;

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ port: 0 });
});
afterAll(async () => {
  await simulator.close();
});

describe('the examples in docstrings', () => {
  test('are one for each function that opens or asks, and say what they print', () => {
    expect(EXAMPLES.map(({ about }) => about)).toEqual([
      'lastSimSwap',
      'simSwappedWithin',
      'simSwapConsent',
      'request',
      'createSimSwapClient',
      'context',
      'createSimSwapSubgraph',
      'maskError',
      'simSwapMocks',
      'simSwapFixture',
    ]);
    expect(EXAMPLES.filter(({ prints }) => prints.length === 0)).toEqual([]);
  });

  test.concurrent.each(EXAMPLES)(
    '$about prints what its comments say',
    async ({ program, prints }) => {
      const source = ENTRIES.reduce(
        (text, entry) => text.replaceAll(`'sim-swap-subgraph/${entry}'`, `'./${FILES[entry]}'`),
        program.includes('import ') ? program : OPENED + program,
      );
      const run = Program.node(['--input-type=module-typescript', '--eval', source], {
        OPERATOR_AUTH_URL: simulator.authUrl,
        OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
        OPERATOR_CLIENT_ID: DEMO_CLIENT.clientId,
        OPERATOR_CLIENT_SECRET: DEMO_CLIENT.clientSecret,
      });
      expect({ ...(await run.ended), err: run.err }).toEqual({ code: 0, signal: null, err: '' });
      expect(run.out.trimEnd().split('\n')).toEqual(prints);
    },
  );
});
