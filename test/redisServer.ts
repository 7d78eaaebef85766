import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createRedis } from '../src/sharedState/redisClient.ts';
import type { Redis, RedisAddress, RedisSettings } from '../src/sharedState/redis.ts';
import type { Log } from '../src/log/log.ts';
import { systemClock } from '../src/system/clock.ts';
import { freePort } from './freePort.ts';
import { silentLog } from './silentLog.ts';
import { temporaryFolder } from './temporary.ts';

const PROGRAM = '/usr/bin/redis-server';

/** Why tests with a Redis are left out; `undefined` where they are not. */
export const NO_REDIS = existsSync(PROGRAM)
  ? undefined
  : `Left out, for there is no ${PROGRAM}; to have them: apt-get install -y redis-server`;

/** A Redis of a test's own, that keeps everything in memory. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** As when the machine fails: nothing is saved, and connections are not closed. */
  kill(): Promise<void>;
  /** Stops it without ending it: connections stay, and nothing is answered. */
  freeze(): void;
  thaw(): void;
}

/**
 * Starts a Redis on the given port, or one that is free; resolves when it takes connections.
 *
 * @param settings as redis.conf has them
 */
export function startRedis(
  port?: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<RedisServer> {
  const all = Object.entries({ save: '', dir: tmpdir(), ...settings });
  return start(
    port,
    all.flatMap(([name, value]) => [`--${name}`, value]),
  );
}

/**
 * Starts sentinels that watch over one master, each in a folder of its own.
 *
 * @param downAfterMs after how long a master that says nothing counts as lost
 */
export async function startSentinels(
  master: RedisServer,
  {
    count = 3,
    downAfterMs = 1000,
  }: { readonly count?: number; readonly downAfterMs?: number } = {},
): Promise<readonly RedisServer[]> {
  const quorum = Math.floor(count / 2) + 1;
  return Promise.all(
    Array.from({ length: count }, async () => {
      const folder = temporaryFolder();
      const file = join(folder, 'sentinel.conf');
      await writeFile(
        file,
        [
          `sentinel monitor mymaster 127.0.0.1 ${master.port} ${quorum}`,
          `sentinel down-after-milliseconds mymaster ${downAfterMs}`,
          'sentinel failover-timeout mymaster 5000',
          `dir ${folder}`,
          '',
        ].join('\n'),
      );
      return start(undefined, ['--sentinel'], file);
    }),
  );
}

async function start(
  port: number | undefined,
  settings: readonly string[],
  ...file: readonly string[]
): Promise<RedisServer> {
  const at = port ?? (await freePort());
  const bound = ['--port', String(at), '--bind', '127.0.0.1', '-::1'];
  const child = spawn(PROGRAM, [...file, ...bound, ...settings], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  if (!(await isReady(child, exited))) throw new Error('redis-server ended before it listened.');
  child.stdout.resume();
  return {
    url: `redis://127.0.0.1:${at}`,
    port: at,
    pid: child.pid ?? 0,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
  };
}

function isReady(child: ChildProcess, exited: Promise<unknown>): Promise<boolean> {
  const said = async (): Promise<boolean> => {
    if (child.stdout === null) return false;
    for await (const line of createInterface(child.stdout)) {
      if (/Ready to accept connections|Sentinel ID is/.test(line)) return true;
    }
    return false;
  };
  return Promise.race([said(), exited.then(() => false)]);
}

export function freshStateKey(): string {
  return randomBytes(32).toString('base64');
}

/** Where a Redis of a test's own listens. */
export function addressOf(url: string): RedisAddress {
  const { hostname: host, port } = new URL(url);
  return { host, port: Number(port) };
}

/** How to reach the master that these sentinels watch over. */
export function behind(sentinels: readonly RedisServer[]): RedisSettings['topology'] {
  return {
    kind: 'sentinel',
    sentinels: sentinels.map(({ url }) => addressOf(url)),
    masterName: 'mymaster',
    sentinelCredentials: undefined,
    database: 0,
  };
}

/** How to reach one that is run in some way, without a password and TLS. */
export function openRedis(
  topology: RedisSettings['topology'],
  log: Log = silentLog,
  clock = systemClock,
): Redis {
  const settings = { topology, credentials: undefined, tls: undefined };
  return createRedis(settings, clock, log);
}

/** The Redis of a test's own, as the service has it. */
export function connectionTo(url: string, log: Log = silentLog, clock = systemClock): Redis {
  return openRedis({ kind: 'single', server: addressOf(url), database: 0 }, log, clock);
}
