import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log/log.ts';
import { startServer } from '../../src/app/server.ts';
import { systemClock } from '../../src/system/clock.ts';
import { expectShortLives } from '../../src/system/garbageCollection.ts';
import { compete } from '../processes/competing.ts';
import { withEntry } from '../../test/support/operatorEntry.ts';

// Ours, as src/main.ts puts it together. Its settings come in BENCH_SETTINGS: the process itself runs as in
// production, which with no issuer configured the settings would refuse.

expectShortLives();
const settings = JSON.parse(process.env['BENCH_SETTINGS'] ?? '{}') as Record<string, string>;
const config = readConfig(withEntry(settings));

const server = await startServer({
  config,
  operators: config.operators,
  clock: systemClock,
  log: createLog(),
});

compete({ url: () => server.url });
