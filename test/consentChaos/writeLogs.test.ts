import { afterEach, describe, expect, it } from 'vitest';
import slotOf from 'cluster-key-slot';
import { inForm } from '../forms.ts';
import { RedisClusterServers, until } from '../redisCluster.ts';
import { command } from '../redisCommands.ts';
import { NO_REDIS } from '../redisServer.ts';
import { WriteLogs } from './writeLogs.ts';

const KEPT = 'sim-swap:{17}:consent-2:kept';
const LOST = 'sim-swap:{17}:consent-2:lost';

let servers: RedisClusterServers | undefined;

afterEach(async () => {
  await servers?.stop();
});

/** A failover takes its time: only in the long form. */
const IS_LEFT_OUT = NO_REDIS !== undefined || inForm({ short: 0, long: 1 }) === 0;

describe.skipIf(IS_LEFT_OUT)('what a cluster is proven to have lost', () => {
  it('is what a master acknowledged, and the replica that took over never had', async () => {
    servers = await RedisClusterServers.start({ replicas: true });
    const cluster = servers;
    const lostSince = await new WriteLogs(cluster).begin();
    const { master, replica } = await holderOf(cluster, slotOf(LOST));
    await command(master, ['HSET', KEPT, 'version', '101', 'sealed', 'one']);
    await until('the replica has the first write', async () =>
      String(await command(replica, ['INFO', 'keyspace'])).includes('keys=1'),
    );
    // What is sent to a frozen replica waits in its socket: it must have none.
    cluster.server(replica).freeze();
    await command(master, ['CLIENT', 'KILL', 'TYPE', 'replica']);
    await command(master, ['HSET', LOST, 'version', '102', 'sealed', 'two']);
    await cluster.server(master).kill();
    cluster.server(replica).thaw();
    await until('the replica takes over', async () => (await cluster.masters()).includes(replica));
    await cluster.restart(master);
    await cluster.isHealed(true);
    expect([...(await lostSince())]).toEqual([LOST]);
  }, 60_000);
});

async function holderOf(cluster: RedisClusterServers, slot: number) {
  for (const pair of await cluster.pairs()) {
    const { holds } = await cluster.holdingsOf(pair.master);
    if (holds(slot)) return pair;
  }
  throw new Error('No master holds the slot.');
}
