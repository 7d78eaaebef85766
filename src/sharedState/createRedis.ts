import type { Clock } from '../system/clock.ts';
import type { Log } from '../log/log.ts';
import type { Redis } from './redis.ts';
import { RedisClient } from './redisClient.ts';
import type { RedisSettings } from './redisSettings.ts';
import { SharedRedis } from './sharedRedis.ts';

/** Makes what the settings name; it connects to nothing yet. */
export function createRedis(settings: RedisSettings, clock: Clock, log: Log): Redis {
  return new SharedRedis(new RedisClient(settings, clock, log), clock, log);
}
