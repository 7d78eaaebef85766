import { Redis as Client } from 'ioredis';
import type { Clock } from '../system/clock.ts';
import { hostAndPort, type RedisAddress } from './redis.ts';
import { inTime, RedisConnector, type ClientOptions } from './redisConnector.ts';

const SENTINEL_TIMEOUT_MS = 500;
const RETRY_AFTER_MS = 250;

export interface SentinelParts {
  readonly sentinels: readonly RedisAddress[];
  /** The master's name at the sentinels. */
  readonly masterName: string;
  /** For connections to sentinels, and for those to servers that hold data. */
  readonly options: { readonly sentinel: ClientOptions; readonly data: ClientOptions };
  readonly clock: Clock;
  /** Called with the reason when a sentinel is lost, and with `undefined` when it is back. */
  readonly onSentinel: (server: string, reason: unknown) => void;
}

/**
 * Finds the master. All sentinels are queried, and the newest configuration counts: a sentinel that is cut off from the
 * others does not know of their failovers. The library takes the first reply.
 */
export class Sentinels {
  readonly #parts: SentinelParts;
  readonly #clients: readonly Client[];
  /** The address of the latest connection to a master. */
  found: RedisAddress | undefined;
  #known: RedisAddress | undefined;

  constructor(parts: SentinelParts) {
    this.#parts = parts;
    this.#clients = parts.sentinels.map((address) => {
      const client = clientOf(parts.options.sentinel, address);
      client.on('error', (error) => parts.onSentinel(hostAndPort(address), error));
      client.on('ready', () => parts.onSentinel(hostAndPort(address), undefined));
      return client;
    });
  }

  /** The master's address by the newest configuration, or the last known one while no sentinel answers. */
  async newest(): Promise<RedisAddress | undefined> {
    const { clock, masterName } = this.#parts;
    const masters = await Promise.all(
      this.#clients.map((client) => {
        const replying = client.call('SENTINEL', 'MASTER', masterName);
        return inTime(clock, replying, SENTINEL_TIMEOUT_MS).then(knownMaster, () => undefined);
      }),
    );
    const [newest] = masters
      .filter((one) => one !== undefined)
      .toSorted((one, other) => other.epoch - one.epoch);
    this.#known = newest?.server ?? this.#known;
    return this.#known;
  }

  close(): void {
    for (const client of this.#clients) client.disconnect();
  }

  /** Connects to the master, and only to a server that says that it is one. */
  get connector(): new (options: unknown) => RedisConnector {
    const findMaster = (isWanted: () => boolean) => this.#findMaster(isWanted);
    return class extends RedisConnector {
      protected override address(): Promise<RedisAddress> {
        return findMaster(() => this.connecting);
      }
    };
  }

  /** A connector that rejects ends its client permanently. */
  async #findMaster(isWanted: () => boolean): Promise<RedisAddress> {
    while (isWanted()) {
      const address = await this.newest();
      if (address !== undefined && (await this.#isMaster(address))) {
        this.found = address;
        return address;
      }
      await this.#parts.clock.sleep(RETRY_AFTER_MS);
    }
    throw new Error('The master is no longer wanted.');
  }

  async #isMaster(address: RedisAddress): Promise<boolean> {
    const { options, clock } = this.#parts;
    const client = clientOf(options.data, address);
    client.on('error', () => client.disconnect());
    try {
      const role: unknown = await inTime(clock, client.call('ROLE'), SENTINEL_TIMEOUT_MS);
      return Array.isArray(role) && role[0] === 'master';
    } catch {
      return false;
    } finally {
      client.disconnect();
    }
  }
}

function clientOf(options: ClientOptions, address: RedisAddress): Client {
  return new Client({ ...options, ...address, enableOfflineQueue: true });
}

/** Reads the reply to SENTINEL MASTER: names and values in turn. The epoch grows with every agreed failover. */
function knownMaster(reply: unknown): { server: RedisAddress; epoch: number } | undefined {
  if (!Array.isArray(reply)) return undefined;
  const valueOf = (name: string): string => String(reply[reply.indexOf(name) + 1]);
  const server = { host: valueOf('ip'), port: Number(valueOf('port')) };
  const epoch = Number(valueOf('config-epoch'));
  return Number.isInteger(server.port) ? { server, epoch } : undefined;
}
