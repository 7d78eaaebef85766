import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { composeServices } from '@theguild/federation-composition';
import { buildSchema, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { publishedSdl } from '../scripts/publishedSdl.ts';
import { startSimulator } from '../simulator/simulator.ts';
import { codeBlocksOf, filesOfProject, ROOT, textOf, type CodeBlock } from './support/documents.ts';
import { startServiceWith, startSimulated } from './support/service.ts';
import { temporaryFolder } from './support/temporary.ts';

/** Drawings and outputs. */
const NO_CODE = new Set(['', 'mermaid', 'text']);

const BLOCKS = [
  ...filesOfProject(/\.md$/, ['.']),
  ...filesOfProject(/\.md$/, ['docs', 'examples', 'bench', 'monitoring']),
]
  .flatMap(codeBlocksOf)
  .filter(({ language }) => !NO_CODE.has(language));

/** Runs a block, or the path of the test that does. */
type Runner = string | ((block: CodeBlock) => void | Promise<void>);

/** By the page and what the block begins with. */
const RUNNERS: readonly (readonly [page: string, begins: string, runner: Runner])[] = [
  ['README.md', "curl -s http://127.0.0.1:4000/graphql -H 'content-type", firstAnswer],
  ['README.md', '{\n  "data": {', firstAnswer],
  ['docs/adopting.md', 'async function sendCode', 'test/library/client.test.ts'],
  ['docs/adopting.md', 'query Checkout', validates],
  ['docs/adopting.md', 'const isSmsTrusted', judgesTheAnswer],
  ['docs/adopting.md', 'async function untilAnswered', 'examples/mobile-bff/test/caches.test.ts'],
  ['docs/adopting.md', 'node --disallow-code-generation', 'test/package/npmStart.check.ts'],
  ['docs/deploying.md', 'upstream sim_swap', 'test/tls/nginx.test.ts'],
  ['docs/diagnostics.md', '// observe.mjs', 'test/diagnostics.test.ts'],
  ['docs/graph.md', 'type PhoneNumber @key', composesWithResult],
  ['docs/mobile-apps.md', 'query MySimSwap', isTheExamples],
  ['docs/operators.md', 'npm run simulator -- --port 4011', twoOperators],
  ['docs/operators.md', '{\n  "$schema"', twoOperators],
  ['docs/operators.md', 'import type { MakeProfile }', 'test/config/ownProfile.test.ts'],
  ['docs/operators.md', 'echo demo-secret', twoOperators],
  ['docs/operators.md', 'curl http://127.0.0.1:4000/graphql', twoOperators],
  ['docs/supergraph.md', 'type PhoneNumber @key', composes],
  ['docs/supergraph.md', 'type Customer @key', composes],
  ['docs/supergraph.md', 'query Checkout', validates],
  ['docs/testing.md', 'config: {', isTheExamplesConfig],
  ['examples/supergraph/README.md', '{\n  customers', validates],
  ['examples/supergraph/README.md', 'type PhoneNumber @key', composes],
];

describe('a block of code in a document', () => {
  test.each(BLOCKS)('$page:$line is run by a test, or marked with the reason', (block) => {
    const runners = runnersOf(block);
    expect(runners.length + Number(block.isMarked)).toBe(1);
  });

  test('that is run exists', () => {
    const idle = RUNNERS.filter(([page, begins]) => blocksOf(page, begins).length !== 1);
    expect(idle.map(([page, begins]) => `${page}: ${begins}`)).toEqual([]);
  });

  test('that another test runs is read by that test', () => {
    const unread = RUNNERS.filter(
      ([page, , runner]) =>
        typeof runner === 'string' && !readFileSync(join(ROOT, runner), 'utf8').includes(page),
    );
    expect(unread).toEqual([]);
  });

  const run = new Map(
    RUNNERS.flatMap(([page, begins, runner]) =>
      typeof runner === 'string'
        ? []
        : blocksOf(page, begins).map(
            (block) => [`${page} ${runner.name}`, { runner, block }] as const,
          ),
    ),
  );
  test.each([...run])('%s', async (_, { runner, block }) => {
    await expect(Promise.resolve(runner(block))).resolves.toBeUndefined();
  });
});

test('each npm script that a document names exists', () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const pages = [
    ...filesOfProject(/^(?:README|CONTRIBUTING)\.md$/, ['.']),
    ...filesOfProject(/\.md$/, ['docs', 'monitoring']),
  ];
  const missing = pages.flatMap((page) =>
    Array.from(textOf(page).matchAll(/\bnpm run ([\w:-]+\w)/g), ([, name = '']) => name)
      .filter((name) => !(name in scripts))
      .map((name) => `${page}: ${name}`),
  );
  expect(missing).toEqual([]);
});

function runnersOf({ page, text }: CodeBlock): readonly Runner[] {
  return RUNNERS.filter(([of, begins]) => of === page && text.startsWith(begins)).map(
    ([, , runner]) => runner,
  );
}

function blocksOf(page: string, begins: string): readonly CodeBlock[] {
  return BLOCKS.filter((block) => block.page === page && block.text.startsWith(begins));
}

function blockOf(page: string, begins: string): string {
  return blocksOf(page, begins)[0]?.text ?? '';
}

const ADDRESS = 'http://127.0.0.1:4000';

async function ask(commands: string, url: string): Promise<unknown> {
  const text = commands.replaceAll(ADDRESS, url);
  const { stdout } = await promisify(execFile)('bash', ['-c', text.replace(/^curl /, 'curl -s ')]);
  return JSON.parse(stdout);
}

function undated(answer: unknown): string {
  return JSON.stringify(answer).replace(/(?<="lastSimSwap":")[\d-]{10}T[\d:.]+Z/, 'three days ago');
}

/** The first query of the README has the answer below it, except for the day. */
async function firstAnswer(): Promise<void> {
  await using service = await startSimulated();
  const answer = await ask(blockOf('README.md', 'curl -s'), service.url);
  const shown: unknown = JSON.parse(blockOf('README.md', '{\n  "data"'));
  expect(undated(shown)).toContain('three days ago');
  expect(undated(answer)).toBe(undated(shown));
  expect(service.simulator.stats()).toMatchObject({ lookups: 3, tokens: 3 });
  await ask(blockOf('README.md', 'curl -s').replace('900002', '900004'), service.url);
  expect(service.stats().lookups, 'a number whose SIM never changed takes one').toBe(4);
}

/** Two simulators, the file and the query of docs/operators.md, and its answer. */
async function twoOperators(): Promise<void> {
  const page = 'docs/operators.md';
  const simulators = blockOf(page, 'npm run simulator').trim().split('\n');
  expect(simulators).toEqual([
    'npm run simulator -- --port 4011 --dialect 1.0',
    'npm run simulator -- --port 4012',
  ]);
  const northern = await startSimulator({ port: 0, dialect: '1.0' });
  const southern = await startSimulator({ port: 0 });
  const folder = temporaryFolder();
  try {
    const file = blockOf(page, '{\n  "$schema"')
      .replaceAll('http://127.0.0.1:4011', northern.authUrl)
      .replaceAll('http://127.0.0.1:4012', southern.authUrl);
    writeFileSync(join(folder, 'operators.jsonc'), file);
    const [secret = '', start = ''] = blockOf(page, 'echo').trim().split('\n');
    await promisify(execFile)('bash', ['-c', secret], { cwd: folder });
    const { variable, value } = /^(?<variable>\w+)=(?<value>\S+) /.exec(start)?.groups ?? {};
    await using service = await startServiceWith({
      PORT: '0',
      // Not a second of waiting for the owner.
      CONSENT_WAIT_MS: '0',
      [variable ?? '']: value,
      OPERATORS_FILE: join(folder, 'operators.jsonc'),
    });
    expect(await ask(blockOf(page, 'curl'), service.url)).toMatchObject({
      data: {
        phoneNumbers: [
          { simSwapCheck: { result: 'SWAPPED', reason: null } },
          { simSwapCheck: { result: 'UNKNOWN', reason: 'CONSENT_PENDING' } },
          { simSwapCheck: { result: 'UNKNOWN', reason: 'NUMBER_NOT_SERVED' } },
        ],
      },
    });
    expect([northern.stats().lookups, southern.stats().prompts]).toEqual([1, 1]);
  } finally {
    await Promise.all([northern.close(), southern.close()]);
  }
}

function composed(name: string, typeDefs: string): string {
  const { supergraphSdl, publicSdl, errors } = composeServices([
    { name: 'sim-swap', typeDefs: parse(publishedSdl('subgraph')), url: 'http://sim-swap.example' },
    { name, typeDefs: parse(typeDefs), url: 'http://other.example' },
  ]);
  expect(errors ?? []).toEqual([]);
  expect(supergraphSdl).toBeDefined();
  return publicSdl ?? '';
}

/** A query of the example's graph. */
function validates({ text }: CodeBlock): void {
  const accounts = textOf('examples/supergraph/accounts/schema.graphql');
  const schema = buildSchema(composed('accounts', accounts));
  expect(validate(schema, parse(text))).toEqual([]);
}

/** The document of the mobile example, whose tests send it. */
function isTheExamples({ text }: CodeBlock): void {
  expect(text.trim()).toBe(textOf('examples/mobile-bff/server/mySimSwap.graphql').trim());
}

/** The settings of codegen with which the mobile example, and the loop of docs/adopting.md, compile. */
function isTheExamplesConfig({ text }: CodeBlock): void {
  const indented = text.trimEnd().replaceAll(/^/gm, '      ');
  expect(textOf('examples/mobile-bff/codegen.ts')).toContain(indented);
}

const FEDERATION = `extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@external", "@requires", "@shareable"])
type Query { yours: [PhoneNumber!]! }
`;

/** A declaration for another subgraph. */
function composes({ text }: CodeBlock): void {
  composed('yours', FEDERATION + text);
}

function composesWithResult({ text }: CodeBlock): void {
  composed('yours', `${FEDERATION}${text}\nenum SimSwapResult { SWAPPED NOT_SWAPPED UNKNOWN }`);
}

/** Only `NOT_SWAPPED` is good. */
function judgesTheAnswer({ text }: CodeBlock): void {
  const judge = (simSwapCheck: unknown): unknown => {
    const data = { customer: { phoneNumber: { simSwapCheck } } };
    return runInNewContext(`${text}\nisSmsTrusted`, { data });
  };
  expect(judge({ result: 'NOT_SWAPPED' })).toBe(true);
  for (const check of [{ result: 'SWAPPED' }, { result: 'UNKNOWN' }, { result: 'NEW' }, null]) {
    expect(judge(check)).toBe(false);
  }
}
