import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSubgraphs, type Subgraph } from './graph.ts';
import { finding, type Finding, type Judge } from './judge.ts';

const VERSION = '0.112.7';

/** Of 255 MB and 524 packages, and so no dependency. */
const HOW_TO =
  `Set WGC to the folder of the package: npm i wgc@${VERSION} in a folder of its own, ` +
  'then WGC=that-folder/node_modules/wgc.';

/** Cosmo's own program, as a pipeline without a registry runs it. */
export const WGC: Judge = {
  name: 'wgc router compose',
  version: `wgc ${VERSION}`,
  form: 'long',
  async judge() {
    const { WGC: folder } = process.env;
    if (folder === undefined || (await versionIn(folder)) !== VERSION) return { notHere: HOW_TO };
    await using subgraphs = await startSubgraphs();
    const findings: Finding[] = [];
    for (const version of ['2.3', '2.9', '2.12'] as const) {
      const failure = await compose(join(folder, 'dist/src/index.js'), subgraphs.of(version));
      findings.push(finding(`with Federation ${version}`, failure === '', failure));
    }
    return findings;
  },
};

async function versionIn(folder: string): Promise<string | undefined> {
  const file = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}');
  return (JSON.parse(file) as { version?: string }).version;
}

/** Why it writes no configuration of a router with both subgraphs; empty where it does. */
async function compose(program: string, subgraphs: readonly Subgraph[]): Promise<string> {
  await using deferred = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'wgc-'));
  deferred.defer(() => rm(folder, { recursive: true }));
  for (const { name, sdl } of subgraphs) await writeFile(join(folder, `${name}.graphql`), sdl);
  const entries = subgraphs.map(({ name, url }) => ({
    name,
    routing_url: url,
    schema: { file: `${name}.graphql` },
  }));
  const input = join(folder, 'graph.yaml');
  const out = join(folder, 'router.json');
  // JSON is YAML.
  await writeFile(input, JSON.stringify({ version: 1, subgraphs: entries }));
  const words = [program, 'router', 'compose', '--input', input, '--out', out];
  const { promise, resolve } = Promise.withResolvers<string>();
  execFile(process.execPath, words, { cwd: folder }, (error, said, problems) =>
    resolve(error === null ? '' : `${problems}${said}` || error.message),
  );
  const failure = await promise;
  if (failure !== '') return failure;
  const config = await readFile(out, 'utf8').catch(() => '');
  const missing = subgraphs.filter(({ url }) => !config.includes(url));
  return missing.map(({ name }) => `The router's configuration lacks ${name}.`).join(' ');
}
