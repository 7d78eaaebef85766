import { createHash } from 'node:crypto';
import { Cluster, Redis as Client } from 'ioredis';
import slotOf from 'cluster-key-slot';
import { slept, type Clock } from '../system/clock.ts';
import { storeChannel } from '../log/diagnostics.ts';
import type { Log } from '../log/log.ts';
import {
  COMMAND_TIMEOUT_MS,
  hostAndPort,
  OutOfMemory,
  SharedStateLost,
  type PlainRedis,
  type RedisSettings,
  type ScriptValues,
} from './redis.ts';
import { clientOptions, inTime, retryDelayMs } from './redisConnector.ts';
import { Sentinels } from './redisSentinels.ts';
import { perScript, SharedRedis } from './sharedRedis.ts';

const BEAT_MS = 1000;
/** How long a server of a cluster may take to return the slots before another server is tried. */
const MAP_TIMEOUT_MS = 400;
/** The pause between tries of a command whose master is being replaced, or whose slot is being moved. */
const TRY_AGAIN_MS = 50;
/** A change of the eviction policy is noticed after this many beats. */
const BEATS_BETWEEN_LOOKS = 5;

const UNKNOWN = 'unknown';

const SHARED_STORE = 'The shared store';

const UNKNOWN_POLICY =
  'It is not known what the shared store does when its memory is full: its user may not run INFO. Make sure that maxmemory-policy is noeviction.';
const FORGETFUL_POLICY =
  'The shared store may forget consents when its memory is full. Set its maxmemory-policy to noeviction.';

const nameOf = perScript((script) => createHash('sha1').update(script).digest('hex'));

/** Does not connect yet. */
export function createRedis(settings: RedisSettings, clock: Clock, log: Log): SharedRedis {
  return new SharedRedis(new RedisClient(settings, clock, log), clock, log);
}

/**
 * One Redis in any topology: ioredis, and what it leaves to us. It may send commands again, which scripts must tolerate
 * ({@link SharedRedis}). Here each command has a time limit, servers are pinged every second, and the log says which
 * server is lost, why, and when it is back.
 */
export class RedisClient implements PlainRedis {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #client: Client | Cluster;
  readonly #sentinels: Readonly<Sentinels> | undefined;
  readonly #closing = new AbortController();
  readonly #recoveryListeners: (() => void)[] = [];
  /** Servers that were logged as lost, and since when. */
  readonly #lostSinceMs = new Map<string, number>();
  /** By server, the eviction policy that was last logged. */
  readonly #evictionPolicies = new Map<string, string>();
  /** The master of each slot of a cluster, by the last map. */
  #masters: readonly (string | undefined)[] = [];
  #isUnmapped = false;
  #opening: Promise<void> | undefined;
  #corked: Client['stream'] | undefined;

  constructor({ topology, credentials, tls }: RedisSettings, clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
    const options = clientOptions(credentials, tls);
    if (topology.kind === 'cluster') {
      this.#client = new Cluster([...topology.servers], {
        lazyConnect: true,
        enableOfflineQueue: false,
        enableReadyCheck: false,
        // Certificates have the names that servers are known by.
        dnsLookup: (host, done) => done(null, host),
        clusterRetryStrategy: retryDelayMs,
        slotsRefreshTimeout: MAP_TIMEOUT_MS,
        retryDelayOnFailover: TRY_AGAIN_MS,
        retryDelayOnClusterDown: TRY_AGAIN_MS,
        retryDelayOnTryAgain: TRY_AGAIN_MS,
        redisOptions: options,
      });
      this.#listenTo(this.#client);
      return;
    }
    const data = { ...options, db: topology.database };
    let client: Client;
    if (topology.kind === 'sentinel') {
      const sentinel = clientOptions(topology.sentinelCredentials, tls);
      this.#sentinels = new Sentinels({
        sentinels: topology.sentinels,
        masterName: topology.masterName,
        options: { sentinel, data },
        clock,
        onSentinel: (server, error) => {
          const name = 'A sentinel of the shared store';
          if (error === undefined) this.#noteBack(server, name);
          else this.#noteLost(server, error, name);
        },
      });
      client = new Client({ ...data, Connector: this.#sentinels.connector });
    } else {
      client = new Client({ ...data, ...topology.server });
    }
    client.on('error', (error) => this.#noteLost(this.#serverAt(client), error));
    // A connection that closes is no error, and the next one may lead to another server. Nothing is known before the first.
    client.once('ready', () => client.on('ready', () => this.#reportBack()));
    this.#client = client;
  }

  /** Each store in it calls this. */
  open(): Promise<void> {
    return (this.#opening ??= this.#open());
  }

  async #open(): Promise<void> {
    const connecting = this.#client.connect().catch(() => undefined);
    await inTime(this.#clock, connecting, COMMAND_TIMEOUT_MS).catch(() => undefined);
    await this.#beat(true);
    void this.#beatOn();
  }

  async run(
    script: string,
    keys: readonly string[],
    values: ScriptValues = [],
    timeoutMs = COMMAND_TIMEOUT_MS,
  ): Promise<unknown> {
    const server = this.serverOf(keys[0] ?? '');
    const endsAtMs = this.#clock.monotonicMs() + timeoutMs;
    try {
      const running = this.#evaluate(script, [keys.length, ...keys, ...values], endsAtMs);
      const reply: unknown = await inTime(this.#clock, running, timeoutMs);
      if (this.#lostSinceMs.size > 0) this.#noteBack(server);
      return reply;
    } catch (error) {
      if (isReply(error) && /\bOOM\b/.test(error.message)) throw new OutOfMemory();
      if (this.#client instanceof Cluster) this.#client.refreshSlotsCache();
      throw new SharedStateLost();
    }
  }

  /** By hash, and by text where the server does not know the script: it has done nothing then. */
  async #evaluate(
    script: string,
    keysAndValues: readonly [keys: number, ...(string | number)[]],
    endsAtMs: number,
  ): Promise<unknown> {
    this.#writeOncePerTick();
    try {
      return await this.#client.evalsha(nameOf(script), ...keysAndValues);
    } catch (error) {
      const isUnknown = isReply(error) && error.message.startsWith('NOSCRIPT');
      if (!isUnknown || this.#clock.monotonicMs() >= endsAtMs) throw error;
      return this.#client.eval(script, ...keysAndValues);
    }
  }

  /** Each write is a system call, which takes longer than the command: the commands of a list leave together. */
  #writeOncePerTick(): void {
    if (this.#client instanceof Cluster || this.#corked !== undefined) return;
    // `undefined` before it first connects.
    const stream: Client['stream'] | undefined = this.#client.stream;
    if (stream === undefined) return;
    this.#corked = stream;
    stream.cork();
    process.nextTick(() => {
      this.#corked = undefined;
      stream.uncork();
    });
  }

  serverOf(key: string): string {
    if (this.#client instanceof Cluster) return this.#client.slots[slotOf(key)]?.[0] ?? UNKNOWN;
    return this.#serverAt(this.#client);
  }

  onBack(listener: () => void): void {
    this.#recoveryListeners.push(listener);
  }

  close(): void {
    this.#closing.abort();
    for (const server of this.#lostSinceMs.keys()) this.#forget(server);
    this.#client.disconnect();
    this.#sentinels?.close();
  }

  #serverAt(client: Client): string {
    if (this.#sentinels === undefined) return serverOfNode(client);
    const { found } = this.#sentinels;
    return found === undefined ? UNKNOWN : hostAndPort(found);
  }

  #listenTo(cluster: Cluster): void {
    cluster.on('node error', (error: unknown, server: string) => {
      if (this.#masters.includes(server)) this.#noteLost(server, error);
    });
    cluster.on('refresh', () => this.#takeMap(cluster));
    cluster.on('error', () => {
      if (this.#isUnmapped) return;
      this.#isUnmapped = true;
      this.#log.warn(
        `${SHARED_STORE} is lost: none of its servers returns the slots. Check REDIS_URL and its password.`,
        { servers: cluster.nodes().map(serverOfNode).join(', ') },
      );
    });
  }

  #takeMap(cluster: Cluster): void {
    const before = this.#masters;
    this.#isUnmapped = false;
    this.#masters = Array.from(cluster.slots, (servers) => servers?.[0]);
    for (const server of this.#lostSinceMs.keys()) {
      if (!this.#masters.includes(server)) this.#forget(server);
    }
    const isMoved = before.some(
      (master, slot) => master !== undefined && master !== this.#masters[slot],
    );
    if (isMoved) this.#reportBack();
  }

  async #beatOn(): Promise<void> {
    const { signal } = this.#closing;
    for (let beat = 1; await slept(this.#clock, BEAT_MS, signal); beat += 1) {
      await this.#beat(beat % BEATS_BETWEEN_LOOKS === 0);
    }
  }

  /** Pings every server that holds data, and sometimes reads its eviction policy. Never rejects. */
  async #beat(readsPolicy: boolean): Promise<void> {
    const client = this.#client;
    if (this.#sentinels !== undefined && !(client instanceof Cluster)) {
      const master = await this.#sentinels.newest();
      const isElsewhere = master !== undefined && hostAndPort(master) !== this.#serverAt(client);
      if (isElsewhere && client.status === 'ready') client.disconnect(true);
    }
    const nodes = client instanceof Cluster ? client.nodes('master') : [client];
    await Promise.all(
      nodes.map(async (node) => {
        const server = this.#serverAt(node);
        const isNew = !this.#evictionPolicies.has(server);
        try {
          await inTime(this.#clock, node.ping(), COMMAND_TIMEOUT_MS);
          this.#noteBack(server);
          if (readsPolicy || isNew) await this.#lookAtEviction(node, server);
        } catch (error) {
          if (error instanceof SharedStateLost) this.#noteLost(server, NO_REPLY);
        }
      }),
    );
  }

  #noteLost(server: string, error: unknown, name: string = SHARED_STORE): void {
    if (this.#lostSinceMs.has(server) || this.#closing.signal.aborted) return;
    this.#lostSinceMs.set(server, this.#clock.monotonicMs());
    if (name === SHARED_STORE) storeChannel.publish({ event: 'away', host: server });
    this.#log.warn(`${name} is lost.`, { host: server, reason: reasonOf(error) });
  }

  #noteBack(server: string, name: string = SHARED_STORE): void {
    const sinceMs = this.#lostSinceMs.get(server);
    if (sinceMs === undefined) return;
    this.#forget(server);
    const awaySeconds = Math.round((this.#clock.monotonicMs() - sinceMs) / 1000);
    this.#log.info(`${name} is back.`, { host: server, awaySeconds });
    if (name === SHARED_STORE) this.#reportBack();
  }

  #forget(server: string): void {
    if (this.#lostSinceMs.delete(server)) storeChannel.publish({ event: 'back', host: server });
  }

  #reportBack(): void {
    for (const listener of this.#recoveryListeners) listener();
  }

  /** A server that evicts keys loses consents without a trace. */
  async #lookAtEviction(node: Client, server: string): Promise<void> {
    let policy = UNKNOWN;
    try {
      // It is usually allowed where CONFIG is not.
      const info = await inTime(this.#clock, node.info('memory'), COMMAND_TIMEOUT_MS);
      policy = /^maxmemory_policy:([a-z-]{1,40})\s*$/m.exec(info)?.[1] ?? UNKNOWN;
    } catch (error) {
      if (!isReply(error)) return;
    }
    if (policy === this.#evictionPolicies.get(server)) return;
    this.#evictionPolicies.set(server, policy);
    const message = policy === UNKNOWN ? UNKNOWN_POLICY : FORGETFUL_POLICY;
    if (policy !== 'noeviction') this.#log.warn(message, { host: server, maxmemoryPolicy: policy });
  }
}

const NO_REPLY = Object.assign(new Error(), { code: 'NO_REPLY' });

function serverOfNode({ options: { host = '', port = 0 } }: Client): string {
  return hostAndPort({ host, port });
}

/** Whether an error is a reply: a server has not carried out a command that it refuses. */
function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** One word for the reason, such as WRONGPASS or ECONNREFUSED. */
function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return /^[A-Z][A-Z_]{2,40}\b/.exec(error.message)?.[0] ?? error.name;
}
