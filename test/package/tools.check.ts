import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { Program, type Run } from '../support/program.ts';
import { freePort } from '../support/freePort.ts';
import { OWN_HEADER, writeOwnProfile } from '../support/ownProfile.ts';
import { WiredOperator } from '../support/wiredOperator.ts';
import { ask, FOR_NPM } from './ask.ts';

function npx(...words: readonly string[]): Promise<Run> {
  return Program.run('npx', ['--yes', ...words], FOR_NPM, { folder: inject('empty') });
}

test('npx in an empty folder starts the service with the simulator, and ends both', async () => {
  await using service = new Program(
    'npx',
    ['--yes', inject('npxName')],
    { ...FOR_NPM, PORT: '0' },
    { folder: inject('empty'), hasOwnGroup: true },
  );
  await service.written(/Ctrl-C ends both/);
  const [url] = /http:\S+\/graphql/.exec(service.out) ?? [''];
  const [simulator] = /http:\S+\/stats/.exec(service.out) ?? [''];
  const query = '{ phoneNumber(e164: "+447700900002") { simSwappedWithin } }';
  expect((await ask(url, { query })).data).toEqual({ phoneNumber: { simSwappedWithin: true } });

  service.signalGroup('SIGINT');

  await service.ended;
  await expect(fetch(url)).rejects.toThrow('fetch failed');
  await expect(fetch(simulator)).rejects.toThrow('fetch failed');
});

test('npx calls an operator by a profile of one’s own, beside the file that names it', async () => {
  await using operator = await WiredOperator.start();
  const named = await writeOwnProfile(inject('empty'), operator.url);
  const port = await freePort();
  await using service = new Program(
    'npx',
    ['--yes', inject('npxName')],
    { ...FOR_NPM, PORT: String(port), OPERATORS_FILE: 'operators.json' },
    { folder: inject('empty'), hasOwnGroup: true },
  );
  await service.written(/"msg":"Ready."/);
  const url = `http://127.0.0.1:${port}/graphql`;
  const query = '{ phoneNumber(e164: "+447700900002") { simSwappedWithin } }';
  expect((await ask(url, { query })).data).toEqual({ phoneNumber: { simSwappedWithin: false } });
  expect(operator.lookups.map(({ headers }) => headers[OWN_HEADER])).toEqual(['ours']);
  expect(service.out).toContain(named.sha256);
});

test('the command has its other programs', async () => {
  const { code, out } = await npx(inject('npxName'), '--help');
  expect(code).toBe(0);
  expect(out).toContain('sim-swap-subgraph simulator');
  const token = await npx(inject('npxName'), 'dev-token', '--scope', 'sim-swap:read');
  expect(token.out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const operators = await npx(inject('npxName'), 'operators', 'check', '--help');
  expect(operators.out + operators.err).toContain('operators -- check');
  expect((await npx(inject('npxName'), 'nonsense')).code).toBe(1);
});

const OPENS_CLIENT = `import { createSimSwapClient } from 'sim-swap-subgraph/client';
const client = await createSimSwapClient({ settings: { SIMULATOR: 'http://127.0.0.1:9' } });
const { kind } = await client.simSwappedWithin('+447700900001', 24);
await client.close();
`;
const REQUIRE = `import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);`;

test.each([
  ['with packages outside', ['--packages=external']],
  ['with the client in the bundle', ['--main-fields=module,main', `--banner:js=${REQUIRE}`]],
])('esbuild, %s', async (_name, flags) => {
  const folder = inject('mounted');
  await writeFile(join(folder, 'opensClient.mjs'), `${OPENS_CLIENT}console.log(kind);`);
  const words = ['--yes', 'esbuild@0.28.2', 'opensClient.mjs', '--bundle', '--platform=node'];
  const bundled = [...words, '--format=esm', '--outfile=bundled.mjs', ...flags];
  expect(await Program.run('npx', bundled, FOR_NPM, { folder })).toMatchObject({ code: 0 });
  expect(await Program.run('node', ['bundled.mjs'], {}, { folder })).toMatchObject({
    code: 0,
    out: 'unknown\n',
  });
});

test('Jest, with ES modules', async () => {
  const folder = inject('mounted');
  const check = `test('opens', async () => { ${OPENS_CLIENT.split('\n').slice(1).join('\n')}
    expect(kind).toBe('unknown'); });`;
  const [imports] = OPENS_CLIENT.split('\n');
  await writeFile(join(folder, 'client.test.mjs'), `${imports}\n${check}`);
  const config = JSON.stringify({ testMatch: ['**/*.test.mjs'], transform: {} });
  const { code, err } = await Program.run(
    'npx',
    ['--yes', 'jest@30.5.2', '--config', config, 'client.test.mjs'],
    { ...FOR_NPM, NODE_OPTIONS: '--experimental-vm-modules' },
    { folder },
  );
  expect(code).toBe(0);
  expect(err).toContain('1 passed');
});

test('MSW answers as docs/testing.md says', async () => {
  const folder = inject('mounted');
  const page = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8');
  const blocks = Array.from(page.matchAll(/```ts\n([\s\S]*?)```/g), ([, block = '']) => block);
  const block = blocks.find((one) => one.includes('setupServer')) ?? '';
  const asking = `
    server.listen();
    const body = JSON.stringify({ query: \`{ swapped: phoneNumber(e164: "+447700900001") { simSwappedWithin }
      other: phoneNumber(e164: "+447700900009") { simSwapCheck { result } } }\` });
    const reply = await fetch('http://localhost/graphql', { method: 'POST', body });
    console.log(JSON.stringify((await reply.json()).data));
    server.close();`;
  await writeFile(join(folder, 'mocking.mjs'), block + asking);
  const words = ['install', '--no-save', '--no-audit', '--no-fund', 'msw@3.0.5'];
  expect(await Program.run('npm', words, FOR_NPM, { folder })).toMatchObject({ code: 0 });
  const { code, out } = await Program.run('node', ['mocking.mjs'], {}, { folder });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({
    swapped: { simSwappedWithin: true },
    other: { simSwapCheck: { result: 'UNKNOWN' } },
  });
});

test('the examples of servers are well typed against the package', async () => {
  const run = await Program.run('npx', ['tsc'], FOR_NPM, { folder: inject('mounted') });
  expect(run).toMatchObject({ code: 0, out: '' });
});
