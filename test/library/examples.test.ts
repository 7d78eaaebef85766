import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO_CLIENT, startSimulator } from '../../simulator/simulator.ts';
import { Program } from '../support/program.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { examplesOf, FILES, ROOT } from './examples.ts';

const ENTRIES = ['client', 'subgraph', 'mocks'] as const;
const EXAMPLES = ENTRIES.flatMap((entry) => examplesOf(entry));

/** What each example prints, one after the other in one process. */
const printed = new Map<string, readonly string[]>();

beforeAll(async () => {
  const simulator = await startSimulator({ port: 0 });
  const files = new TemporaryFiles();
  symlinkSync(join(ROOT, 'node_modules'), join(files.folder, 'node_modules'));
  const statements = EXAMPLES.map(({ about, program }, index) => {
    const source = ENTRIES.reduce(
      (text, entry) =>
        text.replaceAll(
          entry === 'mocks' ? `'sim-swap-subgraph-mocks'` : `'sim-swap-subgraph/${entry}'`,
          `'${pathToFileURL(ROOT + FILES[entry]).href}'`,
        ),
      program,
    );
    const file = files.write(`${index}.mts`, source);
    return `console.log('== ${about}'); await import('${pathToFileURL(file).href}');`;
  });
  const run = await Program.runNode(['--input-type=module', '--eval', statements.join('\n')], {
    OPERATOR_AUTH_URL: simulator.authUrl,
    OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
    OPERATOR_CLIENT_ID: DEMO_CLIENT.clientId,
    OPERATOR_CLIENT_SECRET: DEMO_CLIENT.clientSecret,
  });
  await simulator.close();
  if (run.code !== 0 || run.err !== '') throw new Error(run.err);
  for (const part of run.out.split(/^== /m).slice(1)) {
    const [about = '', ...lines] = part.trimEnd().split('\n');
    printed.set(about, lines);
  }
});

describe('the examples in docstrings', () => {
  test('are one for each function that opens or queries, and say what they print', () => {
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

  test.each(EXAMPLES)('$about prints what its comments say', ({ about, prints }) => {
    expect(printed.get(about)).toEqual(prints);
  });
});
