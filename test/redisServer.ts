import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { RedisConnection, type RedisServerSettings } from '../src/sharedState/redisConnection.ts';
import { systemClock } from '../src/systemClock.ts';
import { freePort } from './freePort.ts';
import { silentLog } from './silentLog.ts';

const PROGRAM = '/usr/bin/redis-server';

/** Why tests with a Redis are left out; `undefined` where they are not. */
export const NO_REDIS = existsSync(PROGRAM)
  ? undefined
  : `Left out, for there is no ${PROGRAM}; to have them: apt-get install -y redis-server`;

/** A Redis of a test's own, that keeps everything in memory. */
export interface RedisServer {
  readonly url: string;
  /** As when the machine fails: nothing is saved, nobody is told. */
  kill(): Promise<void>;
  /** Stops it without ending it: connections stay, and nothing is answered. */
  freeze(): void;
  thaw(): void;
}

/** Starts a Redis on the given port, or one that is free; resolves when it takes connections. */
export async function startRedis(port?: number): Promise<RedisServer> {
  const at = port ?? (await freePort());
  const settings = ['--port', String(at), '--bind', '127.0.0.1', '--save', '', '--dir', '/tmp'];
  const child = spawn(PROGRAM, settings, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const isReady = await Promise.race([
    (async () => {
      for await (const line of createInterface(child.stdout)) {
        if (line.includes('Ready to accept connections')) return true;
      }
      return false;
    })(),
    exited.then(() => false),
  ]);
  if (!isReady) throw new Error('redis-server ended before it listened.');
  child.stdout.resume();
  return {
    url: `redis://127.0.0.1:${at}`,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
  };
}

export function freshStateKey(): string {
  return randomBytes(32).toString('base64');
}

/** How to reach a Redis of a test's own. */
export function redisAt(url: string): RedisServerSettings {
  const { hostname: host, port } = new URL(url);
  return { server: { host, port: Number(port) }, credentials: undefined, tls: undefined };
}

/** A connection as the service has it. */
export function connectionTo(url: string): RedisConnection {
  return new RedisConnection(redisAt(url), systemClock, silentLog);
}
