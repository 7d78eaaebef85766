import { ConfigError } from './config/environment.ts';
import { readConfig, type Config } from './config.ts';
import { createLog } from './log.ts';
import { startServer, type RunningServer } from './server.ts';
import { systemClock } from './systemClock.ts';
