import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

// `runWithPackages.ts PROGRAM [ARGUMENT]…` runs a program of a folder with packages of its own, which are
// installed the first time: the project's own install leaves them out.
const [, , program = ''] = process.argv;
const directory = dirname(program);
if (!existsSync(program) || !existsSync(`${directory}/package-lock.json`)) {
  throw new Error(`${program} is no program beside a package.json of its own.`);
}
if (!existsSync(`${directory}/node_modules/.package-lock.json`)) await install();
// From here on it looks as if Node had been started with the program itself.
process.argv.splice(1, 1);
await import(pathToFileURL(program).href);

async function install(): Promise<void> {
  process.stdout.write(`Installing the packages of ${directory}, once …\n`);
  const npm = spawn('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], {
    cwd: directory,
    stdio: 'inherit',
  });
  const [code] = await once(npm, 'exit');
  if (code !== 0) throw new Error(`npm ci failed in ${directory}.`);
}
