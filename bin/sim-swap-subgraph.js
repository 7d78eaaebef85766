#!/usr/bin/env node
// `sim-swap-subgraph …`, the command of the package. Plain JavaScript, so that an older Node can say what is needed.
import { existsSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

await import('../dist/src/requireNode.js');

/** The programs of the package, by the word that names each. */
const PROGRAMS = {
  start: '../dist/src/main.js',
  simulator: '../dist/simulator/main.js',
  'dev-token': '../dist/src/commands/devToken.js',
  audit: '../dist/src/commands/auditSearch.js',
  usage: '../dist/src/commands/usageReport.js',
  operators: '../dist/src/commands/operatorsCommand.js',
};

const USAGE = `sim-swap-subgraph [start]        serves; without settings from the built-in simulator
sim-swap-subgraph simulator …    serves the operator's side, to try and test against
sim-swap-subgraph dev-token …    signs an access token for a rehearsal with the simulator
sim-swap-subgraph audit …        searches the audit log
sim-swap-subgraph usage …        sums up what was looked up, and its price
sim-swap-subgraph operators check …  tests operators without a lookup
Settings are environment variables, or lines of a file .env in this folder.
`;

const [word = 'start', ...words] = process.argv.slice(2);
if (!Object.hasOwn(PROGRAMS, word)) {
  const isAsked = word === '--help' || word === '-h';
  (isAsked ? process.stdout : process.stderr).write(USAGE);
  process.exit(isAsked ? 0 : 1);
}

// Whether strings may become code, and whether SIGUSR1 opens a debugger, is settled when Node starts: start it again.
const options = [
  '--disallow-code-generation-from-strings',
  '--disable-sigusr1',
  // npx that is killed, rather than asked to end, tells its programs nothing.
  ...(process.env.npm_lifecycle_event === 'npx'
    ? [`--import=${urlOf('../dist/src/endWithParent.js')}`]
    : []),
  ...(existsSync('.env') ? ['--env-file=.env'] : []),
  fileURLToPath(urlOf(PROGRAMS[word])),
  ...words,
];
if (process.platform === 'win32') {
  spawn(process.execPath, options, { stdio: 'inherit' }).once('exit', (code) => {
    process.exitCode = code ?? 1;
  });
} else {
  // In this process: signals and the exit code are those of the program.
  process.execve(process.execPath, [process.execPath, ...options], process.env);
}

function urlOf(name) {
  return new URL(name, import.meta.url).href;
}
