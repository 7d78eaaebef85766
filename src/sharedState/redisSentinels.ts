import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Redis } from './redis.ts';
import { RedisConnection, type RedisServerSettings } from './redisConnection.ts';
import { textOf, type RedisAddress, type RedisCredentials } from './redisSettings.ts';
import { COMMAND_TIMEOUT_MS, SharedStateLost } from './sharedStateLost.ts';
import { inTime } from './timeLimit.ts';

const ASK_EVERY_MS = 1000;
const SENTINEL_TIMEOUT_MS = 500;

/** A master, and the sentinels that watch over it. */
export interface SentinelSettings extends Omit<RedisServerSettings, 'server' | 'duty'> {
  readonly sentinels: readonly RedisAddress[];
  readonly masterName: string;
  readonly sentinelCredentials: RedisCredentials | undefined;
}

/**
 * A Redis whose master is found by sentinels. They are asked every second where it is; the newest configuration counts,
 * and only a server that says of itself that it is a master. While no sentinel answers the last known master serves.
 */
export class RedisBehindSentinels implements Redis {
  readonly #settings: SentinelSettings;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #sentinels: readonly RedisConnection[];
  readonly #closed = new AbortController();
  #master: RedisConnection | undefined;
  readonly #backListeners: (() => void)[] = [];
  #isWatching = false;
  #asking: Promise<void> | undefined;

  constructor(settings: SentinelSettings, clock: Clock, log: Log) {
    const { sentinels, sentinelCredentials: credentials, tls } = settings;
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
    this.#sentinels = sentinels.map(
      (server) => new RedisConnection({ server, credentials, tls, duty: 'sentinel' }, clock, log),
    );
  }

  async open(): Promise<void> {
    if (!this.#isWatching) void this.#watch();
    this.#isWatching = true;
    await inTime(this.#clock, this.#ask(), COMMAND_TIMEOUT_MS).catch(() => undefined);
  }

  async run(...command: Parameters<Redis['run']>): Promise<unknown> {
    try {
      if (this.#master === undefined) throw new SharedStateLost();
      return await this.#master.run(...command);
    } catch (error) {
      if (error instanceof SharedStateLost) void this.#ask();
      throw error;
    }
  }

  /** It holds everything, whichever it is: another master has what this one had. */
  serverOf(): string {
    return this.#master?.serverOf() ?? 'unknown';
  }

  onBack(listener: () => void): void {
    this.#backListeners.push(listener);
  }

  close(): void {
    this.#closed.abort();
    this.#master?.close();
    for (const sentinel of this.#sentinels) sentinel.close();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      await this.#clock.sleep(ASK_EVERY_MS, signal).catch(() => undefined);
      await this.#ask();
    }
  }

  /** Finds the master; never rejects. Further calls meanwhile are the same one. */
  #ask(): Promise<void> {
    this.#asking ??= this.#findMaster()
      .catch(() => undefined)
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }

  async #findMaster(): Promise<void> {
    const told = await Promise.all(this.#sentinels.map((sentinel) => this.#masterBy(sentinel)));
    const newest = told
      .filter((one) => one !== undefined)
      .toSorted((one, other) => other.epoch - one.epoch)[0];
    if (newest === undefined || this.#closed.signal.aborted) return;
    if (textOf(newest.server) === this.#master?.serverOf()) return;
    const found = new RedisConnection(
      { ...this.#settings, server: newest.server },
      this.#clock,
      this.#log,
    );
    await found.open();
    if (!(await isMaster(found)) || this.#closed.signal.aborted) {
      found.close();
      return;
    }
    this.#log.info('the shared store has a master', { host: found.serverOf() });
    const isAnother = this.#master !== undefined;
    this.#master?.close();
    this.#master = found;
    const tell = (): void => {
      for (const listener of this.#backListeners) listener();
    };
    found.onBack(tell);
    if (isAnother) tell();
  }

  async #masterBy(sentinel: RedisConnection): Promise<KnownMaster | undefined> {
    try {
      if (!sentinel.isReady) await inTime(this.#clock, sentinel.open(), SENTINEL_TIMEOUT_MS);
      const command = ['SENTINEL', 'MASTER', this.#settings.masterName];
      return knownMaster(await sentinel.send(command, SENTINEL_TIMEOUT_MS));
    } catch {
      return undefined;
    }
  }
}

interface KnownMaster {
  readonly server: RedisAddress;
  /** Grows with every failover that the sentinels agreed upon. */
  readonly epoch: number;
}

/** Reads the reply to SENTINEL MASTER: names and values in turn. */
function knownMaster(reply: unknown): KnownMaster | undefined {
  if (!Array.isArray(reply)) return undefined;
  const valueOf = (name: string): string => String(reply[reply.indexOf(name) + 1]);
  const server = { host: valueOf('ip'), port: Number(valueOf('port')) };
  return Number.isInteger(server.port)
    ? { server, epoch: Number(valueOf('config-epoch')) }
    : undefined;
}

async function isMaster(connection: RedisConnection): Promise<boolean> {
  const role = await connection.send(['ROLE'], COMMAND_TIMEOUT_MS).catch(() => undefined);
  return Array.isArray(role) && role[0] === 'master';
}
