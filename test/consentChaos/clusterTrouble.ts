import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../random.ts';
import type { RedisClusterServers } from '../redisCluster.ts';
import type { Chronicle, Holds } from './chronicle.ts';
import type { LostWrites } from './lostWrites.ts';
import { WriteLogs } from './writeLogs.ts';

/** Long enough for its replica to take over. */
const FREEZE_MS = 4000;

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

/** What a number's writes are named by, in the store. */
export interface StoredNames {
  /** The slot of all that is kept about it. */
  readonly slotOf: (number: string) => number;
  readonly keysOf: (number: string) => readonly string[];
}

interface Happenings {
  readonly lostWrites: LostWrites;
  readonly chronicle: Chronicle;
  readonly seed: number;
}

/** Kills, freezes and replaces masters of a cluster, one after the other; each is whole again before the next. */
export class ClusterTrouble {
  /** How often each was done. */
  readonly counts: Record<Act, number> = { killed: 0, handedOver: 0, frozen: 0, forgotten: 0 };
  readonly #servers: RedisClusterServers;
  readonly #writeLogs: WriteLogs;
  readonly #lostWrites: LostWrites;
  readonly #names: StoredNames;
  readonly #chronicle: Chronicle;
  readonly #random: Random;

  constructor(
    servers: RedisClusterServers,
    names: StoredNames,
    { lostWrites, chronicle, seed }: Happenings,
  ) {
    this.#servers = servers;
    this.#names = names;
    this.#writeLogs = new WriteLogs(servers);
    this.#lostWrites = lostWrites;
    this.#chronicle = chronicle;
    this.#random = new Random(seed);
  }

  /** Does the next of them to any master. */
  async once(): Promise<void> {
    const done = Object.values(this.counts).reduce((sum, count) => sum + count, 0);
    const act = ACTS[done % ACTS.length] ?? 'killed';
    const masters = await this.#servers.masters();
    const port = masters[this.#random.below(masters.length)] ?? 0;
    const fromMs = Date.now();
    const lostSince = await this.#writeLogs.begin();
    this.counts[act] += 1;
    await this.#do(act, port);
    await this.#servers.isHealed(true);
    this.#lostWrites.whole();
    const keys = await lostSince();
    const lost: Holds = (number) => this.#names.keysOf(number).some((key) => keys.has(key));
    this.#lostWrites.lost(lost, fromMs, Date.now());
    this.#chronicle.happened('the cluster is whole');
    this.#chronicle.happened('a write about it is lost', lost);
  }

  async #do(act: Act, port: number): Promise<void> {
    const { holds, replicaPort = 0 } = await this.#servers.holdingsOf(port);
    const holdsNumber: Holds = (number) => holds(this.#names.slotOf(number));
    this.#chronicle.happened(`its master ${port} is ${act}, replica ${replicaPort}`, holdsNumber);
    this.#lostWrites.away(holdsNumber);
    switch (act) {
      case 'handedOver':
        await this.#servers.failOver(port);
        return this.#servers.isReplaced(port);
      case 'killed':
        await this.#servers.server(port).kill();
        await this.#servers.isReplaced(port);
        this.#chronicle.happened('its master is replaced', holdsNumber);
        return this.#servers.restart(port);
      case 'frozen': {
        const server = this.#servers.server(port);
        server.freeze();
        await sleep(FREEZE_MS);
        server.thaw();
        this.#chronicle.happened('its master is thawed', holdsNumber);
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
}
