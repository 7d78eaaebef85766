import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readConfig } from '../../src/config.ts';
import { startServer } from '../../src/server.ts';
import { systemClock } from '../../src/systemClock.ts';
import { silentLog } from '../silentLog.ts';
import { OwnDelay } from '../fuzz/ownDelay.ts';
import { GUARDS, judgesWithout } from './guards.ts';

// The server of one stretch of chaos, in a process of its own: how late it answers is then its own doing,
// and not that of the clients and the operator. Its settings are in the environment, the guard that it is
// to go without is its argument.

const config = readConfig();
const without = GUARDS.find((guard) => guard === process.argv[2]);
const server = await startServer({
  config,
  operators: config.operators,
  clock: systemClock,
  log: silentLog,
  judges: judgesWithout(without),
});
/** What the process that serves tells of itself: no answer can come sooner than its longest turn allows. */
export interface ServerFigures {
  /** The longest that a due timer waited, in milliseconds of the wall clock. */
  readonly eventLoopDelayMs: number;
  /** The same, counting only what this process itself computed meanwhile. */
  readonly ownDelayMs: number;
}

const delay = monitorEventLoopDelay({ resolution: 5 });
const ownDelay = new OwnDelay();
delay.enable();
ownDelay.start();

process.on('message', () => {
  const figures: ServerFigures = {
    eventLoopDelayMs: delay.max / 1e6,
    ownDelayMs: ownDelay.longestMs,
  };
  process.send?.(figures);
});
process.send?.({ url: server.url });
process.on('disconnect', () => {
  process.exit(0);
});
