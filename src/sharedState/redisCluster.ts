import { ErrorReply } from '@redis/client';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { slotOf, SLOTS } from './keySlot.ts';
import type { Redis } from './redis.ts';
import {
  asOutcome,
  evalCommand,
  RedisConnection,
  type RedisServerSettings,
} from './redisConnection.ts';
import { textOf, type RedisAddress } from './redisSettings.ts';
import { COMMAND_TIMEOUT_MS, SharedStateLost } from './sharedStateLost.ts';
import { inTime } from './timeLimit.ts';

/** How long a server may take to tell which holds what; then another is asked. */
const MAP_TIMEOUT_MS = 400;
/** While masters are away the map is asked for again and again, and no more often than this. */
const MAP_INTERVAL_MS = 200;
/** A command that was sent on so often is lost: servers contradict each other. */
const MAX_REDIRECTIONS = 5;

/** What the servers of a cluster have in common. */
export interface RedisClusterSettings extends Omit<
  RedisServerSettings,
  'server' | 'database' | 'duty'
> {
  /** Some of them, to begin with. */
  readonly servers: readonly RedisAddress[];
}

/**
 * A Redis Cluster: a connection to each master, and a map of what each holds (Redis Cluster specification). The map is
 * asked for again when a master is lost, and corrected by what servers reply. A command that was lost is not sent again,
 * since it may have been done; one that a server sent on is.
 */
export class RedisCluster implements Redis {
  readonly #settings: RedisClusterSettings;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #connections = new Map<string, RedisConnection>();
  /** Of each slot, the address of its master. */
  #masters = noMasters();
  /** Every server that the last map named, replicas included. */
  #servers = new Map<string, RedisAddress>();
  readonly #backListeners: (() => void)[] = [];
  #mapping: Promise<void> | undefined;
  /** Whether there was a map when one was asked for last; so that its lack is told once. */
  #isMapped = true;
  #mappedAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(settings: RedisClusterSettings, clock: Clock, log: Log) {
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
  }

  async open(): Promise<void> {
    await inTime(this.#clock, this.#map(), COMMAND_TIMEOUT_MS).catch(() => undefined);
    await Promise.all(Array.from(this.#connections.values(), (connection) => connection.open()));
  }

  async run(
    script: string,
    keys: readonly string[],
    values: readonly (string | number)[] = [],
    timeoutMs = COMMAND_TIMEOUT_MS,
  ): Promise<unknown> {
    try {
      const command = evalCommand(script, keys, values);
      return await this.#send(slotOf(keys[0] ?? ''), command, timeoutMs);
    } catch (error) {
      const outcome = asOutcome(error);
      if (outcome instanceof SharedStateLost) void this.#map();
      throw outcome;
    }
  }

  serverOf(key: string): string {
    return this.#masters[slotOf(key)] ?? 'unknown';
  }

  onBack(listener: () => void): void {
    this.#backListeners.push(listener);
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections.values()) connection.close();
    this.#connections.clear();
  }

  async #send(slot: number, command: readonly string[], timeoutMs: number): Promise<unknown> {
    const endsAtMs = this.#clock.monotonicMs() + timeoutMs;
    if (this.#masters[slot] === undefined) await inTime(this.#clock, this.#map(), timeoutMs);
    let address = this.#masters[slot];
    let before: readonly string[] = [];
    for (let sentOn = 0; sentOn <= MAX_REDIRECTIONS; sentOn += 1) {
      const leftMs = endsAtMs - this.#clock.monotonicMs();
      if (address === undefined || leftMs <= 0) throw new SharedStateLost();
      const connection = this.#connectionTo(address);
      try {
        if (!connection.isReady) await inTime(this.#clock, connection.open(), leftMs);
        return await connection.send(command, leftMs, before);
      } catch (error) {
        const redirection =
          error instanceof ErrorReply ? redirectionOf(error.message, address) : undefined;
        if (redirection === undefined) throw error;
        address = textOf(redirection.server);
        this.#servers.set(address, redirection.server);
        before = redirection.isForOnce ? ['ASKING'] : [];
        if (!redirection.isForOnce) {
          this.#masters[slot] = address;
          void this.#map();
        }
      }
    }
    throw new SharedStateLost();
  }

  #connectionTo(address: string): RedisConnection {
    const known = this.#connections.get(address);
    if (known !== undefined) return known;
    const server = this.#servers.get(address);
    if (server === undefined || this.#isClosed) throw new SharedStateLost();
    const connection = new RedisConnection({ ...this.#settings, server }, this.#clock, this.#log);
    connection.onBack(() => this.#tellBack());
    this.#connections.set(address, connection);
    return connection;
  }

  /** Also of a server that took over from another. */
  #tellBack(): void {
    for (const listener of this.#backListeners) listener();
  }

  /** Asks which server holds what; never rejects. Further calls meanwhile are the same one. */
  #map(): Promise<void> {
    this.#mapping ??= this.#askForMap()
      .catch(() => undefined)
      .finally(() => {
        this.#mapping = undefined;
      });
    return this.#mapping;
  }

  async #askForMap(): Promise<void> {
    const waitMs = this.#mappedAtMs + MAP_INTERVAL_MS - this.#clock.monotonicMs();
    if (waitMs > 0) await this.#clock.sleep(waitMs);
    const asked = this.#whomToAsk();
    let isMapped = false;
    for (const server of asked) {
      if (this.#isClosed) return;
      const ranges = await this.#mapOf(server);
      if (ranges.length === 0) continue;
      this.#take(ranges);
      isMapped = true;
      break;
    }
    this.#mappedAtMs = this.#clock.monotonicMs();
    if (!isMapped && this.#isMapped && !this.#isClosed) {
      this.#log.warn(
        'the shared store is lost: none of its servers says which of them holds what. See REDIS_URL, its password and REDIS_TOPOLOGY',
        { servers: asked.map(textOf).join(', ') },
      );
    }
    this.#isMapped = isMapped;
  }

  /** Those that answer first; in any order, so that one with an old map is not asked each time. */
  #whomToAsk(): readonly RedisAddress[] {
    const known = [...this.#servers.values(), ...this.#settings.servers]
      .map((server) => ({ server, place: Math.random() - (this.#isReady(server) ? 1 : 0) }))
      .toSorted((one, other) => one.place - other.place)
      .map(({ server }) => [textOf(server), server] as const);
    return [...new Map(known).values()];
  }

  #isReady(server: RedisAddress): boolean {
    return this.#connections.get(textOf(server))?.isReady ?? false;
  }

  async #mapOf(server: RedisAddress): Promise<readonly SlotRange[]> {
    const kept = this.#connections.get(textOf(server));
    const connection =
      kept ??
      new RedisConnection({ ...this.#settings, server, duty: 'map' }, this.#clock, this.#log);
    try {
      if (!connection.isReady) await inTime(this.#clock, connection.open(), MAP_TIMEOUT_MS);
      return rangesOf(await connection.send(['CLUSTER', 'SLOTS'], MAP_TIMEOUT_MS), server);
    } catch {
      return [];
    } finally {
      if (kept === undefined) connection.close();
    }
  }

  #take(ranges: readonly SlotRange[]): void {
    const masters = noMasters();
    this.#servers = new Map(
      ranges.flatMap(({ servers }) => servers.map((server) => [textOf(server), server] as const)),
    );
    const inUse = new Set<string>();
    for (const { from, to, master } of ranges) {
      const address = textOf(master);
      masters.fill(address, from, to + 1);
      inUse.add(address);
    }
    const before = this.#masters;
    this.#masters = masters;
    for (const [address, connection] of this.#connections) {
      if (inUse.has(address)) continue;
      connection.close();
      this.#connections.delete(address);
    }
    // The first command to each need not wait for a connection.
    for (const address of inUse) void this.#connectionTo(address).open();
    if (before.some((address, slot) => address !== undefined && address !== masters[slot])) {
      this.#tellBack();
    }
  }
}

function noMasters(): (string | undefined)[] {
  return Array.from({ length: SLOTS });
}

interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly master: RedisAddress;
  /** The master and its replicas. */
  readonly servers: readonly RedisAddress[];
}

/** Reads the reply to CLUSTER SLOTS. A server that does not know its own host is the one that was asked. */
function rangesOf(reply: unknown, asked: RedisAddress): readonly SlotRange[] {
  return listOf(reply).flatMap((range) => {
    const [from, to, ...rest] = listOf(range);
    const servers = rest.map((one) => {
      const [host, port] = listOf(one);
      const named = typeof host === 'string' && host !== '' && host !== '?';
      return { host: named ? host : asked.host, port: Number(port) };
    });
    const [master] = servers;
    return master === undefined ? [] : [{ from: Number(from), to: Number(to), master, servers }];
  });
}

function listOf(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : [];
}

/** Another server to send a command to: `MOVED 3999 127.0.0.1:6381`, from now on, or `ASK …`, this once. */
function redirectionOf(
  message: string,
  askedAddress: string,
): { readonly isForOnce: boolean; readonly server: RedisAddress } | undefined {
  const { kind, host, port } =
    /^(?<kind>MOVED|ASK) \d+ (?<host>\S*):(?<port>\d+)$/.exec(message)?.groups ?? {};
  if (port === undefined) return undefined;
  const known = host === undefined || host === '' || host === '?' ? undefined : host;
  const askedHost = askedAddress.slice(0, askedAddress.lastIndexOf(':'));
  return { isForOnce: kind === 'ASK', server: { host: known ?? askedHost, port: Number(port) } };
}
