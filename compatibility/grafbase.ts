import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/freePort.ts';
import { askAt, type Body } from './answers.ts';
import { judgeGateway } from './gateways.ts';
import { QUERY, type Subgraph } from './graph.ts';
import { versionsOf, type Judge } from './judge.ts';

/** A program for Linux on x64 only, and so an optional dependency. */
const PACKAGE = '@grafbase/cli-x86_64-unknown-linux-musl';
const PROGRAM = fileURLToPath(new URL(`node_modules/${PACKAGE}/grafbase`, import.meta.url));
const IS_HERE = existsSync(PROGRAM);

const MAX_START_MS = 30_000;

/** Its own composer, and its gateway in Rust. */
export const GRAFBASE: Judge = {
  name: 'Grafbase Gateway',
  version: IS_HERE ? versionsOf([PACKAGE]) : PACKAGE,
  form: 'long',
  async judge() {
    if (!IS_HERE) return { notHere: `${PACKAGE} is a program for Linux on x64.` };
    return judgeGateway(askGrafbase);
  },
};

async function askGrafbase(subgraphs: readonly Subgraph[]): Promise<Body> {
  await using deferred = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'grafbase-'));
  deferred.defer(() => rm(folder, { recursive: true }));
  const lines = subgraphs.flatMap(({ name, url }) => [
    `[subgraphs.${name}]`,
    `url = "${url}"`,
    `schema_path = "${name}.graphql"`,
  ]);
  await writeFile(join(folder, 'grafbase.toml'), lines.join('\n'));
  for (const { name, sdl } of subgraphs) await writeFile(join(folder, `${name}.graphql`), sdl);
  const port = await freePort();
  const words = ['--home', folder, 'dev', '--config', 'grafbase.toml', '--port', String(port)];
  const program = spawn(PROGRAM, words, { cwd: folder, stdio: 'ignore' });
  const ended = once(program, 'exit');
  deferred.defer(async () => {
    program.kill();
    await ended;
  });
  for (const startedMs = performance.now(); ;) {
    try {
      return await askAt(`http://127.0.0.1:${port}/graphql`, QUERY);
    } catch (error) {
      // It does not listen yet.
      if (program.exitCode !== null || performance.now() - startedMs > MAX_START_MS) throw error;
      await sleep(200);
    }
  }
}
