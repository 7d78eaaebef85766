import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { createRedis } from '../../src/sharedState/redisClient.ts';
import type { Redis, RedisAddress, RedisSettings } from '../../src/sharedState/redis.ts';
import type { Log } from '../../src/log/log.ts';
import { systemClock } from '../../src/system/clock.ts';
import { freePort } from './freePort.ts';
import { silentLog } from './silentLog.ts';
import { temporaryFolder } from './temporary.ts';

const PROGRAM = '/usr/bin/redis-server';

/** Why tests with a Redis are left out; `undefined` where they are not. */
export const NO_REDIS = existsSync(PROGRAM)
  ? undefined
  : `Left out, for there is no ${PROGRAM}; to have them: apt-get install -y redis-server`;

/** A Redis that keeps everything in memory. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** As a machine that fails: nothing is saved, and connections are not closed. */
  kill(): Promise<void>;
  /** Connections stay, and nothing is answered. */
  freeze(): void;
  thaw(): void;
}

/**
 * Starts a Redis on the given port, or one that is free; resolves when it takes connections. It does not outlive the
 * process that started it.
 *
 * @param settings as redis.conf has them
 */
export function startRedis(
  port?: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<RedisServer> {
  const all = Object.entries({ save: '', dir: tmpdir(), ...settings });
  const words = all.flatMap(([name, value]) => [`--${name}`, value]);
  return start(words, port, 'tls-cert-file' in settings ? '--port 0 --tls-port' : '--port');
}

/** Starts sentinels of one master, each in a folder of its own; a silent master is lost after a second. */
export function startSentinels(
  master: RedisServer,
  { count = 3 }: { readonly count?: number } = {},
): Promise<readonly RedisServer[]> {
  const quorum = Math.floor(count / 2) + 1;
  const starting = Array.from({ length: count }, async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'sentinel.conf');
    await writeFile(
      file,
      [
        `sentinel monitor mymaster 127.0.0.1 ${master.port} ${quorum}`,
        'sentinel down-after-milliseconds mymaster 1000',
        'sentinel failover-timeout mymaster 5000',
        `dir ${folder}`,
        '',
      ].join('\n'),
    );
    return start([file, '--sentinel']);
  });
  return allStarted(starting);
}

/** Where one of them does not start, the others are killed. */
export async function allStarted<T extends RedisServer>(
  starting: readonly Promise<T>[],
): Promise<readonly T[]> {
  const ends = await Promise.allSettled(starting);
  const started = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed === undefined) return started;
  await Promise.all(started.map((server) => server.kill()));
  throw failed.reason;
}

const MAX_TRIES = 5;

async function start(
  words: readonly string[],
  port?: number,
  portName = '--port',
): Promise<RedisServer> {
  for (let tries = 1; ; tries += 1) {
    const at = port ?? (await freePort());
    const bound = [...portName.split(' '), String(at), '--bind', '127.0.0.1', '-::1'];
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', PROGRAM, ...words, ...bound], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    const kill = async (): Promise<void> => {
      child.kill('SIGKILL');
      await exited;
    };
    const said = await saidUnlessReady(child.stdout);
    if (said === undefined) {
      child.stdout.resume();
      return {
        url: `redis://127.0.0.1:${at}`,
        port: at,
        pid: child.pid ?? 0,
        kill,
        freeze: () => child.kill('SIGSTOP'),
        thaw: () => child.kill('SIGCONT'),
      };
    }
    await kill();
    // Another program may have taken a port that was free.
    const mayTryAgain = port === undefined && said.includes('Address already in use');
    if (!mayTryAgain || tries === MAX_TRIES) throw new Error(`redis-server ended. ${said}`);
  }
}

/** What it said before it ended; `undefined` once it takes connections. */
async function saidUnlessReady(output: Readable): Promise<string | undefined> {
  const lines: string[] = [];
  for await (const line of createInterface(output)) {
    if (/Ready to accept connections|Sentinel ID is/.test(line)) return undefined;
    lines.push(line);
  }
  return lines.join('\n');
}

export function freshStateKey(): string {
  return randomBytes(32).toString('base64');
}

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

/** A Redis of this topology, without a password and TLS. */
export function openRedis(
  topology: RedisSettings['topology'],
  log: Log = silentLog,
  clock = systemClock,
): Redis {
  const settings = { topology, credentials: undefined, tls: undefined };
  return createRedis(settings, clock, log);
}

/** The single Redis at this address, as the service connects to it. */
export function connectionTo(url: string, log: Log = silentLog, clock = systemClock): Redis {
  return openRedis({ kind: 'single', server: addressOf(url), database: 0 }, log, clock);
}
