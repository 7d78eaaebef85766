import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { onTermination } from '../src/system/termination.ts';

// `npm run dev`: the service with its simulator, restarted when one of its files changes. Not `node --watch`:
// it does not see the schema, and Node 24.21.0 aborts on Ctrl-C in it (an assertion in FSWatcher.close).

/** What the service reads at its start. */
const WATCHED = ['src', 'simulator', 'schema', '.env'];

/** Editors write a file in several steps, and a checkout many files: changes this close together count as one. */
const SETTLED_AFTER_MS = 200;

const ending = new AbortController();
let service = start();

onTermination(() => {
  ending.abort();
  service.kill('SIGTERM');
});

for await (const path of changes()) {
  process.stdout.write(`\n${path} has changed: starting again.\n`);
  await stop();
  service = start();
}
await stop();
// The watchers would keep it alive.
process.exit();

/** The service, with the options that this program was started with; .env is read again each time. */
function start() {
  const settings = existsSync('.env') ? ['--env-file=.env'] : [];
  const options = [...process.execArgv, ...settings, 'src/main.ts'];
  const child = spawn(process.execPath, options, { stdio: 'inherit' });
  child.once('exit', (code) => {
    if (!ending.signal.aborted && code !== null && code !== 0)
      process.stdout.write(
        'The service ended. It starts again when a file changes; Ctrl-C ends this.\n',
      );
  });
  return child;
}

/** Drains and ends the service. */
async function stop(): Promise<void> {
  if (service.exitCode !== null || service.signalCode !== null) return;
  service.kill('SIGTERM');
  await once(service, 'exit');
}

/** Yields a changed file whenever files have changed, until the program is to end. */
async function* changes(): AsyncGenerator<string> {
  let changed: string | undefined;
  let notify = Promise.withResolvers<void>();
  for (const path of WATCHED.filter((one) => existsSync(one))) {
    watch(path, { recursive: true }, (_, name) => {
      changed = name === null || name === path ? path : `${path}/${name}`;
      notify.resolve();
    });
  }
  ending.signal.addEventListener('abort', () => notify.resolve());
  while (!ending.signal.aborted) {
    await notify.promise;
    await new Promise((resolve) => setTimeout(resolve, SETTLED_AFTER_MS));
    notify = Promise.withResolvers<void>();
    if (changed !== undefined && !ending.signal.aborted) yield changed;
    changed = undefined;
  }
}
