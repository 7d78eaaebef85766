import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { generate } from '@graphql-codegen/cli';
import { expect, it } from 'vitest';
import { codeBlocksOf } from '../../../test/support/documents.ts';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import config from '../codegen.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const EXAMPLE = fileURLToPath(new URL('..', import.meta.url));

const BLOCKS = codeBlocksOf('docs/adopting.md').filter(({ isMarked }) => !isMarked);

/** The page's query, in a graph whose customers have numbers. */
const SCHEMA = `${readFileSync(join(ROOT, 'schema/bff.graphql'), 'utf8')}
  extend type Query { customer(id: ID!): Customer }
  type Customer { phoneNumber: PhoneNumber }`;
const DOCUMENT = BLOCKS.find(({ language }) => language === 'graphql')?.text ?? '';

/** What the page says about the names that its TypeScript uses. */
const NAMES = `import type { CheckoutQuery } from './generated/graphql.ts';
import type { SimSwapClient } from '${ROOT}docs/api/client.d.ts';
declare const data: CheckoutQuery | undefined;
declare const simSwaps: SimSwapClient;
declare function sendSms(phoneNumber: string): Promise<void>;
type Customer = NonNullable<CheckoutQuery['customer']>;
type Check = NonNullable<NonNullable<Customer['phoneNumber']>['simSwapCheck']>;
`;

const SWITCH = `export function isTrusted({ result }: Check): boolean {
  switch (result) {
    case 'NOT_SWAPPED': return true;
    case 'SWAPPED': case 'UNKNOWN': return false;
    // default
  }
}`;

const PROGRAMS: Readonly<Record<string, string>> = {
  'page.ts': BLOCKS.filter(({ language }) => language === 'ts')
    .map(({ text }) => text)
    .join('\n'),
  'everyResult.ts': SWITCH.replace('// default', 'default: return false;'),
  'knownResults.ts': SWITCH,
};

/** The files in which the compiler finds errors, with the output of GraphQL Code Generator. */
async function filesWithErrors(): Promise<ReadonlySet<string>> {
  const folder = temporaryFolder();
  symlinkSync(join(EXAMPLE, 'node_modules'), join(folder, 'node_modules'));
  const generated = Object.assign({}, config.generates['generated/'], { documentTransforms: [] });
  const files = await generate(
    { ...config, schema: SCHEMA, documents: DOCUMENT, generates: { 'generated/': generated } },
    false,
  );
  mkdirSync(join(folder, 'generated'));
  for (const { filename, content } of files) writeFileSync(join(folder, filename), content);
  for (const [name, text] of Object.entries(PROGRAMS)) {
    writeFileSync(join(folder, name), `${NAMES}${text}\nexport {};\n`);
  }
  const compilerOptions = { noUnusedLocals: false, noEmit: true, lib: ['es2024', 'dom'] };
  const project = { extends: `${ROOT}tsconfig.json`, compilerOptions, include: ['*.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const said = await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), [], { cwd: folder })
    .then(({ stdout }) => stdout)
    .catch(({ stdout }: { stdout: string }) => stdout);
  return new Set(Array.from(said.matchAll(/^(.+)\(\d+,\d+\): error /gm), ([, file = '']) => file));
}

it('docs/adopting.md compiles with the types of its query; a switch over the results of today does not', async () => {
  expect(PROGRAMS['page.ts']).toMatch(/sendCode[^]*isSmsTrusted[^]*untilAnswered/);
  expect(await filesWithErrors()).toEqual(new Set(['knownResults.ts']));
});
