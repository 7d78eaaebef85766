import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../src/config.ts';
import { bucketOf, keyIn } from '../../src/sharedState/buckets.ts';
import { slotOf } from '../../src/sharedState/keySlot.ts';
import { storeNameOf } from '../../src/operator/storeName.ts';
import type { RedisClusterServers } from '../redisCluster.ts';
import type { Holds, LostWrites } from './lostWrites.ts';

/** Long enough for its replica to take over. */
const FREEZE_MS = 4000;
/** Long enough for a master that was frozen to hear that it is one no more. */
const AWAKE_WITHIN_MS = 1000;
const LOOK_EVERY_MS = 50;

/** What can become of a master. */
type Act = 'killed' | 'handedOver' | 'frozen' | 'forgotten';

/** In turn; what is forgotten casts a doubt that keeps a third of the numbers waiting, so it comes once in seven. */
const ACTS: readonly Act[] = [
  'killed',
  'handedOver',
  'frozen',
  'forgotten',
  'killed',
  'handedOver',
  'frozen',
];

/** Kills, freezes and replaces masters of a cluster, one after the other; each is whole again before the next. */
export class ClusterTrouble {
  /** How often each was done. */
  readonly counts: Record<Act, number> = { killed: 0, handedOver: 0, frozen: 0, forgotten: 0 };
  readonly #servers: RedisClusterServers;
  readonly #lostWrites: LostWrites;
  readonly #operator: string;

  /** @param settings those of the service, which name its keys */
  constructor(
    servers: RedisClusterServers,
    lostWrites: LostWrites,
    settings: Readonly<Record<string, string>>,
  ) {
    this.#servers = servers;
    this.#lostWrites = lostWrites;
    this.#operator = readConfig(settings).operators.map(storeNameOf).join('');
  }

  /** Does the next of them to any master. */
  async once(): Promise<void> {
    const done = Object.values(this.counts).reduce((sum, count) => sum + count, 0);
    const act = ACTS[done % ACTS.length] ?? 'killed';
    this.counts[act] += 1;
    const masters = await this.#servers.masters();
    const port = masters[Math.floor(Math.random() * masters.length)] ?? 0;
    await this.#do(act, port);
    await this.#servers.isHealed(true);
  }

  async #do(act: Act, port: number): Promise<void> {
    const { holds, replicaPort = 0 } = await this.#servers.holdingsOf(port);
    const holdsNumber: Holds = (number) =>
      holds(slotOf(keyIn(bucketOf(this.#operator, number), 'consent', '')));
    const atMs = Date.now();
    switch (act) {
      case 'handedOver':
        await this.#servers.failOver(port);
        return this.#isReplaced(port);
      case 'killed':
        await this.#servers.server(port).kill();
        this.#lostWrites.failedOver(holdsNumber, atMs, Date.now());
        await this.#isReplaced(port);
        return this.#servers.restart(port);
      case 'frozen': {
        const server = this.#servers.server(port);
        server.freeze();
        await sleep(FREEZE_MS);
        server.thaw();
        this.#lostWrites.failedOver(holdsNumber, atMs, Date.now() + AWAKE_WITHIN_MS);
        return;
      }
      case 'forgotten': {
        const both = [port, replicaPort];
        await Promise.all(both.map((one) => this.#servers.server(one).kill()));
        this.#lostWrites.forgot(holdsNumber, Date.now());
        await Promise.all(both.map((one) => this.#servers.restart(one)));
        return;
      }
    }
  }

  async #isReplaced(port: number): Promise<void> {
    while ((await this.#servers.masters()).includes(port)) await sleep(LOOK_EVERY_MS);
  }
}
