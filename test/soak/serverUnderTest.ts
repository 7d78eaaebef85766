import { setImmediate as nextTurn } from 'node:timers/promises';
import { readConfig } from '../../src/config/config.ts';
import { startServer } from '../../src/app/server.ts';
import { systemClock } from '../../src/system/clock.ts';
import { silentLog } from '../silentLog.ts';
import { withEntry } from '../operatorEntry.ts';

/** What the process that serves holds at a moment, garbage aside. */
export interface Held {
  readonly heapBytes: number;
  readonly externalBytes: number;
  readonly residentBytes: number;
  readonly sockets: number;
  readonly timers: number;
}

const { gc } = globalThis;
if (gc === undefined) throw new Error('Start this with --expose-gc.');

const config = readConfig(withEntry(process.env));
const server = await startServer({
  config,
  operators: config.operators,
  clock: systemClock,
  log: silentLog,
});

process.on('message', () => {
  void measure();
});
process.on('disconnect', () => {
  void server.stop();
});
process.send?.({ url: server.url });

/** What finalizers let go of is garbage a turn later. */
async function measure(): Promise<void> {
  for (let left = 3; left > 0; left -= 1) {
    gc?.();
    await nextTurn();
  }
  const memory = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  const held: Held = {
    heapBytes: memory.heapUsed,
    externalBytes: memory.external,
    residentBytes: memory.rss,
    sockets: resources.filter((one) => one === 'TCPSocketWrap').length,
    timers: resources.filter((one) => one === 'Timeout').length,
  };
  process.send?.(held);
}
