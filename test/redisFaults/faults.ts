import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisSettings } from '../../src/sharedState/redis.ts';
import { until, type RedisClusterServers } from '../support/redisCluster.ts';
import { command, commands } from '../support/redisCommands.ts';
import type { RedisProxy } from '../support/redisProxy.ts';

/** A cluster, and the proxies before it. */
export interface Stage {
  readonly servers: RedisClusterServers;
  readonly proxies: readonly RedisProxy[];
  /** Applies changed settings, as the service does. */
  readonly renew: (change: Partial<RedisSettings>) => Promise<void>;
}

/** A fault, and what the service promises meanwhile. */
export interface Fault {
  readonly name: string;
  readonly about: string;
  /** Resolves when the fault itself is over. */
  readonly befall: (stage: Stage) => Promise<void>;
  /** Restores the servers. */
  readonly mend?: (stage: Stage) => Promise<void>;
  /** What `backMs` counts from: the begin or the end of the fault. */
  readonly backMs: number;
  readonly from: 'begin' | 'end';
  /** Whether no command may fail. */
  readonly isSilent?: boolean;
  /** Whether connections use TLS. */
  readonly isBehindTls?: boolean;
  /** Why owners may be prompted twice by it. */
  readonly mayPromptTwice?: string;
}

/** After how long a silent master is replaced, as the cluster is set up. */
export const NODE_TIMEOUT_MS = 1000;
/** As of a server that is silent (docs/reliability.md). */
const BACK_WITHIN_MS = 5000;
/** Until a replica is master, and known as one. */
const REPLACED_WITHIN_MS = 4000;
const HELD_MS = 3000;
const PASSWORD = 'another';
const EVERY_MS = 50;
const SLOTS = 16_384;
const MOVED_SLOTS = 20;
const FILLER_BYTES = 4096;

const LOST_WITH_ITS_MASTER = 'what a master acknowledged and its replica lacks is lost';

/** Each begins with a whole cluster. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'killed',
    about: 'a master is killed',
    from: 'begin',
    backMs: REPLACED_WITHIN_MS,
    mayPromptTwice: LOST_WITH_ITS_MASTER,
    async befall({ servers }) {
      const port = await aMaster(servers);
      await servers.server(port).kill();
      await servers.isReplaced(port);
    },
    mend: restartTheDead,
  },
  {
    name: 'frozen',
    about: 'a master is frozen until its replica takes over',
    from: 'begin',
    backMs: REPLACED_WITHIN_MS,
    mayPromptTwice: LOST_WITH_ITS_MASTER,
    async befall({ servers }) {
      const port = await aMaster(servers);
      servers.server(port).freeze();
      await servers.isReplaced(port);
      servers.server(port).thaw();
    },
  },
  {
    name: 'held',
    about: 'a master is frozen, and not replaced',
    from: 'end',
    backMs: BACK_WITHIN_MS,
    async befall({ servers }) {
      const port = await aMaster(servers);
      const { replicaPort = 0 } = await servers.holdingsOf(port);
      await command(replicaPort, ['CONFIG', 'SET', 'cluster-replica-no-failover', 'yes']);
      servers.server(port).freeze();
      await sleep(HELD_MS);
      servers.server(port).thaw();
      await command(replicaPort, ['CONFIG', 'SET', 'cluster-replica-no-failover', 'no']);
      await servers.isHealed(true);
    },
  },
  {
    name: 'cut',
    about: 'each connection is cut every 50 ms',
    from: 'end',
    backMs: BACK_WITHIN_MS,
    async befall({ proxies }) {
      for (let n = 0; n < HELD_MS / EVERY_MS; n += 1) {
        for (const proxy of proxies) proxy.cut();
        await sleep(EVERY_MS);
      }
    },
  },
  {
    name: 'moved',
    about: 'slots are moved',
    from: 'begin',
    backMs: 0,
    isSilent: true,
    befall: ({ servers }) => moveThereAndBack(servers),
  },
  {
    name: 'handed-over',
    about: 'a master is handed over',
    from: 'begin',
    backMs: 0,
    isSilent: true,
    async befall({ servers }) {
      const port = await aMaster(servers);
      await servers.failOver(port);
      await servers.isReplaced(port);
    },
  },
  {
    name: 'flushed',
    about: 'FLUSHALL',
    from: 'begin',
    backMs: BACK_WITHIN_MS,
    async befall({ servers }) {
      await command(await aMaster(servers), ['FLUSHALL']);
    },
  },
  {
    name: 'full',
    about: 'full (noeviction)',
    from: 'end',
    backMs: BACK_WITHIN_MS,
    async befall({ servers }) {
      await onMasters(servers, ['CONFIG', 'SET', 'maxmemory', '1']);
      await sleep(HELD_MS);
      await onMasters(servers, ['CONFIG', 'SET', 'maxmemory', '0']);
    },
  },
  {
    name: 'evicting',
    about: 'full, and evicting (allkeys-lru)',
    from: 'end',
    backMs: BACK_WITHIN_MS,
    mayPromptTwice: 'records are evicted: the log warns of the policy',
    async befall({ servers }) {
      await onMasters(servers, ['CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru']);
      const port = await aMaster(servers);
      const info = String(await command(port, ['INFO', 'memory']));
      const used = Number(/used_memory:(\d+)/.exec(info)?.[1]);
      await command(port, ['CONFIG', 'SET', 'maxmemory', String(used)]);
      const filler = 'x'.repeat(FILLER_BYTES);
      for (let n = 0; n < HELD_MS / EVERY_MS; n += 1) {
        const keys = Array.from({ length: 64 }, (_, i) => `{${n % 256}}:filler:${n}:${i}`);
        // Those of other masters are refused.
        await commands(
          port,
          keys.map((key) => ['SET', key, filler, 'PX', '3000']),
        ).catch(() => undefined);
        await sleep(EVERY_MS);
      }
      await onMasters(servers, ['CONFIG', 'SET', 'maxmemory', '0']);
      await onMasters(servers, ['CONFIG', 'SET', 'maxmemory-policy', 'noeviction']);
    },
  },
  {
    name: 'behind',
    about: 'a replica that is behind takes over',
    from: 'begin',
    backMs: REPLACED_WITHIN_MS + HELD_MS,
    mayPromptTwice: LOST_WITH_ITS_MASTER,
    async befall({ servers }) {
      const port = await aMaster(servers);
      const { replicaPort = 0 } = await servers.holdingsOf(port);
      servers.server(replicaPort).freeze();
      await sleep(HELD_MS / 3);
      await servers.server(port).kill();
      servers.server(replicaPort).thaw();
      await servers.isReplaced(port);
    },
    mend: restartTheDead,
  },
  {
    name: 'silent',
    about: 'all connections die in silence',
    from: 'begin',
    backMs: BACK_WITHIN_MS,
    befall({ proxies }) {
      for (const proxy of proxies) proxy.silence();
      return Promise.resolve();
    },
  },
  {
    name: 'password',
    about: 'the password is changed',
    from: 'end',
    backMs: BACK_WITHIN_MS,
    async befall({ servers, renew }) {
      await Promise.all(
        servers.ports.map((port) =>
          commands(port, [
            ['CONFIG', 'SET', 'masterauth', PASSWORD],
            ['CONFIG', 'SET', 'requirepass', PASSWORD],
            ['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'],
          ]),
        ),
      );
      await sleep(HELD_MS);
      await renew({ credentials: { username: undefined, password: PASSWORD } });
    },
    async mend({ servers }) {
      for (const port of servers.ports) {
        await command(port, ['CONFIG', 'SET', 'requirepass', ''], PASSWORD);
      }
    },
  },
  {
    name: 'no-tls',
    about: 'no TLS for a while',
    from: 'end',
    backMs: BACK_WITHIN_MS,
    isBehindTls: true,
    async befall({ proxies }) {
      const [certificate] = proxies.map((proxy) => proxy.certificate);
      for (const proxy of proxies) {
        proxy.certificate = undefined;
        proxy.cut();
      }
      await sleep(HELD_MS);
      for (const proxy of proxies) {
        proxy.certificate = certificate;
        proxy.cut();
      }
    },
  },
  {
    name: 'ipv6',
    about: 'servers announce IPv6, and slots are moved',
    from: 'begin',
    backMs: 0,
    isSilent: true,
    async befall({ servers }) {
      await announce(servers, '::1');
      await moveThereAndBack(servers);
    },
    mend: ({ servers }) => announce(servers, '127.0.0.1'),
  },
];

/** Makes servers announce an address, and waits until each knows it of all. */
async function announce(servers: RedisClusterServers, address: string): Promise<void> {
  const words = ['CONFIG', 'SET', 'cluster-announce-ip', address];
  await Promise.all(servers.ports.map((port) => command(port, words)));
  await until('servers are known by another address', async () => {
    const views = await Promise.all(
      servers.ports.map((port) => command(port, ['CLUSTER', 'NODES'])),
    );
    const known = views.flatMap((view) => String(view).trim().split('\n'));
    return known.every((line) => line.includes(` ${address}:`));
  });
}

async function aMaster(servers: RedisClusterServers): Promise<number> {
  return (await servers.masters())[0] ?? 0;
}

async function onMasters(servers: RedisClusterServers, words: readonly string[]): Promise<void> {
  await Promise.all((await servers.masters()).map((port) => command(port, words)));
}

async function restartTheDead({ servers }: Stage): Promise<void> {
  for (const port of servers.ports) {
    const isUp = await command(port, ['PING']).then(Boolean, () => false);
    if (!isUp) await servers.restart(port);
  }
}

async function moveThereAndBack(servers: RedisClusterServers): Promise<void> {
  const [from = 0, to = 0] = await servers.masters();
  await moveHeldSlots(servers, from, to);
  await moveHeldSlots(servers, to, from);
}

/** Moves slots of a master that hold something. */
async function moveHeldSlots(
  servers: RedisClusterServers,
  from: number,
  to: number,
): Promise<void> {
  const { holds } = await servers.holdingsOf(from);
  const slots = Array.from({ length: SLOTS }, (_, slot) => slot).filter(holds);
  const counting = slots.map((slot) => ['CLUSTER', 'COUNTKEYSINSLOT', String(slot)]);
  const counts = await commands(from, counting);
  const held = slots.filter((_, n) => counts[n] !== 0).slice(0, MOVED_SLOTS);
  for (const slot of held) await servers.moveSlot(slot, from, to);
}
