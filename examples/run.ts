import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';

// Runs the example of this name. Its packages are its own, and installed the first time: the project's
// own install leaves them out.
const name = process.argv[2] ?? '';
if (!/^[a-z-]+$/.test(name) || !existsSync(new URL(`${name}/demo.ts`, import.meta.url))) {
  throw new Error('node examples/run.ts supergraph, or mobile-bff');
}
const directory = new URL(`${name}/`, import.meta.url);
if (!existsSync(new URL('node_modules/.package-lock.json', directory))) await install();
await import(new URL('demo.ts', directory).href);

async function install(): Promise<void> {
  process.stdout.write(`Installing the packages of examples/${name}, once …\n`);
  const npm = spawn('npm', ['ci', '--no-audit', '--no-fund'], { cwd: directory, stdio: 'inherit' });
  const [code] = await once(npm, 'exit');
  if (code !== 0) throw new Error(`npm ci failed in examples/${name}.`);
}
