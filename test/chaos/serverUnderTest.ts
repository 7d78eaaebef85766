import { readConfig } from '../../src/config/config.ts';
import { startServer } from '../../src/app/server.ts';
import { systemClock } from '../../src/system/clock.ts';
import { silentLog } from '../silentLog.ts';
import { GUARDS, judgesWithout } from './guards.ts';
import { LoopWatch } from './loopWatch.ts';
import { withEntry } from '../operatorEntry.ts';

// The server of one stretch of chaos, in a process of its own: how late it answers is then its own doing,
// and not that of the clients and the operator. Its settings are in the environment, the guard that it is
// to go without is its argument.

const config = readConfig(withEntry(process.env));
const without = GUARDS.find((guard) => guard === process.argv[2]);
const server = await startServer({
  config,
  operators: config.operators,
  clock: systemClock,
  log: silentLog,
  judges: judgesWithout(without),
});
const watch = new LoopWatch();

process.on('message', () => {
  process.send?.(watch.figures);
});
process.send?.({ url: server.url });
process.on('disconnect', () => {
  process.exit(0);
});
