import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Redis } from './redis.ts';
import { RedisCluster } from './redisCluster.ts';
import { RedisConnection } from './redisConnection.ts';
import { RedisBehindSentinels } from './redisSentinels.ts';
import type { RedisSettings } from './redisSettings.ts';

/** Makes what the settings name; it connects to nothing yet. */
export function createRedis(settings: RedisSettings, clock: Clock, log: Log): Redis {
  const { topology, ...access } = settings;
  switch (topology.kind) {
    case 'single':
      return new RedisConnection({ ...access, ...topology }, clock, log);
    case 'cluster':
      return new RedisCluster({ ...access, ...topology }, clock, log);
    case 'sentinel':
      return new RedisBehindSentinels({ ...access, ...topology }, clock, log);
  }
}
