import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

// `runWithPackages.ts [--with FOLDER]… PROGRAM [ARGUMENT]…` runs a program of a folder with packages of its
// own, which are installed the first time: the project's own install leaves them out. So are those of
// other folders that it starts programs of.
const others: string[] = [];
while (process.argv[2] === '--with') others.push(...process.argv.splice(2, 2).slice(1));
const [, , program = ''] = process.argv;
if (!existsSync(program)) fail(`There is no ${program}.`);
const own = folderOf(program);
if (own === undefined)
  fail(`${program} is not a program in a folder with a package.json of its own.`);
for (const directory of [...others, own]) {
  if (!existsSync(`${directory}/package-lock.json`))
    fail(`${directory} has no packages of its own.`);
  if (!isInstalled(directory)) await install(directory);
}
// From here on it looks as if Node had been started with the program itself.
process.argv.splice(1, 1);
await import(pathToFileURL(program).href);

/** Whether the packages are installed, for this version of the project: npm writes its own list last. */
function isInstalled(directory: string): boolean {
  const installed = statSync(`${directory}/node_modules/.package-lock.json`, {
    throwIfNoEntry: false,
  });
  return (
    installed !== undefined &&
    installed.mtimeMs >= statSync(`${directory}/package-lock.json`).mtimeMs
  );
}

/** The folder with a package.json that contains a program, other than the project's own. */
function folderOf(path: string): string | undefined {
  const directory = dirname(path);
  if (directory === '.' || directory === dirname(directory)) return undefined;
  return existsSync(`${directory}/package-lock.json`) ? directory : folderOf(directory);
}

async function install(directory: string): Promise<void> {
  process.stdout.write(`Installing the packages of ${directory} …\n`);
  const npm = spawn('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: directory,
    stdio: 'inherit',
  });
  // An interrupted install counts as none: npm leaves no .package-lock.json behind.
  const stop = (signal: NodeJS.Signals): void => void npm.kill(signal);
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, stop);
  const [code] = await once(npm, 'exit');
  for (const signal of signals) process.off(signal, stop);
  if (code !== 0) fail(`The packages of ${directory} are not installed: npm ci failed.`);
}

/** Prints the message to stderr and exits with status 1. */
function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
