import { readConfig } from '../../src/config/config.ts';
import { startServer } from '../../src/app/server.ts';
import { systemClock } from '../../src/system/clock.ts';
import { GUARDS, judgesWithout } from '../chaos/guards.ts';
import { withEntry } from '../operatorEntry.ts';
import { silentLog } from '../silentLog.ts';
import { defects } from './probe.ts';

// The server of a long run, in a process of its own: how late it answers, and what it holds, is then its own doing.
// Its settings are in the environment; its argument is the guard of chaos that it is to go without, or that it is to
// live on after what it did not catch, and tell.

const [word] = process.argv.slice(2);
const without = GUARDS.find((guard) => guard === word);

if (word === 'live on') {
  process.on('uncaughtException', note('uncaught exception'));
  process.on('unhandledRejection', note('unhandled rejection'));
}

function note(what: string) {
  return (defect: unknown): void => {
    defects.push(`${what}: ${defect instanceof Error ? defect.stack : String(defect)}`);
  };
}

const config = readConfig(withEntry(process.env));
const server = await startServer({
  config,
  operators: config.operators,
  clock: systemClock,
  log: {
    ...silentLog,
    error: (message, details) => {
      if (message === 'a request broke') defects.push(`${message}: ${JSON.stringify(details)}`);
    },
  },
  judges: judgesWithout(without),
});
process.send?.({ url: server.url });
process.on('disconnect', () => {
  if (without === undefined) void server.stop();
  else process.exit(0);
});
