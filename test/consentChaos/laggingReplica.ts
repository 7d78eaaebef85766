import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/redisCluster.ts';
import { command, commands } from '../support/redisCommands.ts';
import { RedisProxy } from '../support/redisProxy.ts';
import { allStarted, startRedis, type RedisServer } from '../support/redisServer.ts';

/** By the key of each bucket's memory, how many writes it counts, and until when it is in doubt, on the server's clock. */
type Memories = ReadonlyMap<string, { readonly writes: number; readonly doubtUntilMs: number }>;

/** What was acknowledged is on its way to the processes for less. */
const ON_THE_WAY_MS = 50;
const PAUSED_MS = 60_000;
const NOTICED_WITHIN_MS = 3000;
const LOOK_EVERY_MS = 50;

/** A master and its replica at one address, which leads to the other one once it is promoted by hand. */
export class LaggingReplica {
  readonly #proxy: RedisProxy;
  readonly #servers: readonly RedisServer[];
  #master: number;
  #replica: number;

  private constructor(proxy: RedisProxy, servers: readonly RedisServer[]) {
    const [master, replica] = servers.map(({ port }) => port);
    [this.#master, this.#replica] = [master ?? 0, replica ?? 0];
    this.#proxy = proxy;
    this.#servers = servers;
  }

  static async start(): Promise<LaggingReplica> {
    const settings = { 'repl-diskless-sync-delay': '0' };
    const starting = [startRedis(undefined, settings), startRedis(undefined, settings)];
    const servers = await allStarted(starting);
    const pair = new LaggingReplica(await RedisProxy.before(servers[0]?.port ?? 0), servers);
    await pair.#follow();
    return pair;
  }

  get url(): string {
    return this.#proxy.url;
  }

  /** From now on the replica gets no write of its master. */
  async fallBehind(): Promise<void> {
    await command(this.#replica, ['REPLICAOF', 'NO', 'ONE']);
  }

  /** Gives the address to the replica. Returns the memory keys of the buckets that lose writes by it. */
  async promote(): Promise<readonly string[]> {
    // What is written by now is known to the processes that wrote it.
    await command(this.#master, ['CLIENT', 'PAUSE', String(PAUSED_MS), 'WRITE']);
    await sleep(ON_THE_WAY_MS);
    const [written, kept] = [await memoriesOf(this.#master), await memoriesOf(this.#replica)];
    [this.#master, this.#replica] = [this.#replica, this.#master];
    this.#proxy.targetPort = this.#master;
    this.#proxy.cut();
    return [...written.keys()].filter((key) => {
      const [before, after] = [written, kept].map((memories) => memories.get(key)?.writes ?? 0);
      return (before ?? 0) > (after ?? 0);
    });
  }

  /**
   * Waits until all these buckets are in doubt until then, three seconds at most. Returns of how many the loss was not
   * noticed.
   */
  async noticed(lost: readonly string[], doubtUntilMs: number): Promise<number> {
    const endsAtMs = Date.now() + NOTICED_WITHIN_MS;
    for (;;) {
      const now = await memoriesOf(this.#master);
      const untilMs = (key: string): number => now.get(key)?.doubtUntilMs ?? 0;
      const left = lost.filter((key) => untilMs(key) < doubtUntilMs).length;
      if (left === 0 || Date.now() > endsAtMs) return left;
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** The former master becomes the replica. */
  async heal(): Promise<void> {
    await command(this.#replica, ['CLIENT', 'UNPAUSE']);
    await this.#follow();
  }

  async stop(): Promise<void> {
    await this.#proxy.close();
    await Promise.all(this.#servers.map((server) => server.kill()));
  }

  async #follow(): Promise<void> {
    await command(this.#replica, ['REPLICAOF', '127.0.0.1', String(this.#master)]);
    await until('the replica has what its master has', async () => {
      const info = String(await command(this.#replica, ['INFO', 'replication']));
      return info.includes('master_link_status:up');
    });
  }
}

async function memoriesOf(port: number): Promise<Memories> {
  const keys = await command(port, ['KEYS', 'sim-swap:*:memory-2:*']);
  const names = Array.isArray(keys) ? keys.map(String) : [];
  const reading = names.map((name) => ['HMGET', name, 'writes', 'doubtUntilMs']);
  const read = await commands(port, reading);
  return new Map(
    names.map((name, n) => {
      const [writes, doubtUntilMs] = [read[n]].flat().map(Number);
      return [name, { writes: writes ?? 0, doubtUntilMs: doubtUntilMs ?? 0 }];
    }),
  );
}
