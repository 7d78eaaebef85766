import { setTimeout as sleep } from 'node:timers/promises';
import { texts, type RedisAddress } from '../../src/sharedState/redis.ts';
import { command, NotInTime } from './redisCommands.ts';
import { allStarted, startRedis, type RedisServer } from './redisServer.ts';
import { temporaryFolder } from './temporary.ts';

const LOOK_EVERY_MS = 50;
const READY_WITHIN_MS = 120_000;
const MASTERS = 3;
/** How many a cluster has (Redis Cluster specification). */
const SLOTS = 16_384;
/** A server of a cluster, which can be killed and started again at its port. */
interface ClusterServer extends RedisServer {
  readonly settings: Readonly<Record<string, string>>;
}

export interface ClusterForm {
  readonly replicas: boolean;
  /** After how long a silent master is replaced by its replica. */
  readonly nodeTimeoutMs?: number;
}

/** What a server reports about another, or itself. */
interface Known {
  readonly id: string;
  readonly port: number;
  readonly isMaster: boolean;
  readonly isFailing: boolean;
  readonly masterId: string;
  readonly hasSlots: boolean;
  readonly ranges: readonly (readonly [from: number, to: number])[];
}

/** A Redis Cluster of three masters, with a replica of each or none. */
export class RedisClusterServers {
  readonly #servers = new Map<number, ClusterServer>();

  /** Resolves when every server knows of all, every slot has a master, and every master its replica. */
  static async start(form: ClusterForm): Promise<RedisClusterServers> {
    const cluster = new RedisClusterServers();
    try {
      await cluster.#start(form);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  async #start({ replicas, nodeTimeoutMs = 1000 }: ClusterForm): Promise<void> {
    const common = {
      dir: temporaryFolder(),
      'cluster-enabled': 'yes',
      'cluster-node-timeout': String(nodeTimeoutMs),
      'cluster-require-full-coverage': 'no',
      'cluster-replica-validity-factor': '0',
      'repl-diskless-sync-delay': '0',
      'repl-timeout': '5',
    };
    const servers = await allStarted(
      Array.from({ length: replicas ? 2 * MASTERS : MASTERS }, async (_, n) => {
        const settings = {
          ...common,
          'cluster-config-file': `nodes-${n}.conf`,
          dbfilename: `${n}.rdb`,
        };
        return { ...(await startRedis(undefined, settings)), settings };
      }),
    );
    for (const server of servers) this.#servers.set(server.port, server);
    await this.#join(servers, replicas);
  }

  get addresses(): readonly RedisAddress[] {
    return [...this.#servers.values()].map(({ port }) => ({ host: '127.0.0.1', port }));
  }

  get url(): string {
    const hosts = this.addresses.map(({ host, port }) => `${host}:${port}`);
    return `redis+cluster://${hosts.join(',')}`;
  }

  get ports(): readonly number[] {
    return [...this.#servers.keys()];
  }

  get pids(): readonly number[] {
    return Array.from(this.#servers.values(), ({ pid }) => pid);
  }

  server(port: number): ClusterServer {
    const server = this.#servers.get(port);
    if (server === undefined) throw new Error(`There is no server at ${port}.`);
    return server;
  }

  /** The ports of the masters that hold slots. */
  async masters(): Promise<readonly number[]> {
    const known = await this.#nodes();
    return known.filter(({ isMaster, hasSlots }) => isMaster && hasSlots).map(({ port }) => port);
  }

  /** Which slots a master holds, and the port of its replica, at this moment. */
  async holdingsOf(masterPort: number): Promise<{
    readonly holds: (slot: number) => boolean;
    readonly replicaPort: number | undefined;
  }> {
    const known = await this.#nodes();
    const master = known.find(({ port }) => port === masterPort);
    const ranges = master?.ranges ?? [];
    return {
      holds: (slot) => ranges.some(([from, to]) => from <= slot && slot <= to),
      replicaPort: known.find(({ masterId }) => masterId === master?.id)?.port,
    };
  }

  /** Makes a replica take over from its master without a loss (CLUSTER FAILOVER). */
  async failOver(masterPort: number): Promise<void> {
    const known = await this.#nodes();
    const master = known.find(({ port }) => port === masterPort);
    const replica = known.find(({ masterId, isFailing }) => masterId === master?.id && !isFailing);
    if (replica !== undefined) await command(replica.port, ['CLUSTER', 'FAILOVER']);
  }

  /** Waits until the replica of a master has its slots. */
  isReplaced(masterPort: number): Promise<void> {
    return until('a replica takes over', async () => !(await this.masters()).includes(masterPort));
  }

  /** Moves a slot as redis-cli does, so many keys at a time. */
  async moveSlot(
    slot: number,
    from: number,
    to: number,
    { atOnce = 100, pauseMs = 0 } = {},
  ): Promise<void> {
    const [fromId, toId] = [await idOf(from), await idOf(to)];
    const set = (port: number, ...words: readonly string[]) =>
      command(port, ['CLUSTER', 'SETSLOT', String(slot), ...words]);
    await set(to, 'IMPORTING', fromId);
    await set(from, 'MIGRATING', toId);
    for (;;) {
      const held = ['CLUSTER', 'GETKEYSINSLOT', String(slot), String(atOnce)];
      const keys = texts(await command(from, held));
      if (keys.length === 0) break;
      await sleep(pauseMs);
      const target = ['127.0.0.1', String(to), '', '0', '1000'];
      await command(from, ['MIGRATE', ...target, 'KEYS', ...keys]);
    }
    await set(to, 'NODE', toId);
    await set(from, 'NODE', toId);
  }

  /** Starts a killed server again, empty; it finds the cluster by its file. */
  async restart(port: number): Promise<void> {
    const { settings } = this.server(port);
    this.#servers.set(port, { ...(await startRedis(port, settings)), settings });
  }

  /** Resolves when every slot has a master that answers, with a replica each where there were any. */
  async isHealed(replicas: boolean): Promise<void> {
    await until('the cluster heals', async () => {
      const views = await Promise.all(this.ports.map((port) => nodesBy(port)));
      if (!views.every((known) => isWhole(known, replicas))) return false;
      const [infos, roles] = await Promise.all([
        this.#askAll(['CLUSTER', 'INFO']),
        this.#askAll(['ROLE']),
      ]);
      return (
        infos.every((info) => info.includes('cluster_state:ok')) &&
        roles.every((role) => !role.startsWith('slave') || /,connected,/.test(role))
      );
    });
  }

  /** Each server's reply to a command; empty where there is none. */
  #askAll(words: readonly string[]): Promise<readonly string[]> {
    return Promise.all(this.ports.map((port) => command(port, words).then(String, () => '')));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.kill()));
  }

  async #join(servers: readonly ClusterServer[], replicas: boolean): Promise<void> {
    const [first, ...rest] = servers;
    if (first === undefined) return;
    const share = Math.ceil(SLOTS / MASTERS);
    await Promise.all(
      servers.slice(0, MASTERS).map(async ({ port }, n) => {
        const last = Math.min(SLOTS, (n + 1) * share) - 1;
        await command(port, ['CLUSTER', 'ADDSLOTSRANGE', String(n * share), String(last)]);
        await command(port, ['CLUSTER', 'SET-CONFIG-EPOCH', String(n + 1)]);
      }),
    );
    for (const { port } of rest) {
      await command(first.port, ['CLUSTER', 'MEET', '127.0.0.1', String(port)]);
    }
    await until('all servers meet', async () => {
      const views = await Promise.all(servers.map(({ port }) => nodesBy(port)));
      return views.every((known) => known.length === servers.length);
    });
    if (replicas) {
      await Promise.all(
        servers.slice(MASTERS).map(async ({ port }, n) => {
          await command(port, ['CLUSTER', 'REPLICATE', await idOf(servers[n]?.port ?? 0)]);
        }),
      );
    }
    await this.isHealed(replicas);
  }

  async #nodes(): Promise<readonly Known[]> {
    const views = await Promise.all(this.ports.map((port) => nodesBy(port)));
    return views.find((known) => known.length > 0) ?? [];
  }
}

async function idOf(port: number): Promise<string> {
  return String(await command(port, ['CLUSTER', 'MYID']));
}

function isWhole(known: readonly Known[], replicas: boolean): boolean {
  const masters = known.filter(
    ({ isMaster, hasSlots, isFailing }) => isMaster && hasSlots && !isFailing,
  );
  if (masters.length !== MASTERS) return false;
  return (
    !replicas ||
    masters.every(({ id }) =>
      known.some(({ masterId, isFailing }) => masterId === id && !isFailing),
    )
  );
}

/** What a server reports about all servers; nothing where it does not reply. */
async function nodesBy(port: number): Promise<readonly Known[]> {
  const reply = await command(port, ['CLUSTER', 'NODES']).catch(() => '');
  return String(reply)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [id = '', address = '', flags = '', masterId = '', , , , link = '', ...slots] =
        line.split(' ');
      return {
        id,
        port: Number(/:(\d+)@/.exec(address)?.[1]),
        isMaster: flags.includes('master'),
        isFailing: flags.includes('fail') || link !== 'connected',
        masterId,
        hasSlots: slots.length > 0,
        ranges: slots
          .filter((range) => /^\d/.test(range))
          .map((range) => {
            const [from = '', to = from] = range.split('-');
            return [Number(from), Number(to)] as const;
          }),
      };
    });
}

/** @throws {NotInTime} */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const endsAtMs = Date.now() + READY_WITHIN_MS;
  while (!(await isSo())) {
    if (Date.now() > endsAtMs) throw new NotInTime(`It took too long until ${what}.`);
    await sleep(LOOK_EVERY_MS);
  }
}
