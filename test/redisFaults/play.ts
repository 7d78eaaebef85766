import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisSettings } from '../../src/sharedState/redis.ts';
import { StateSeals } from '../../src/sharedState/stateSeals.ts';
import { LoopWatch } from '../long/loopWatch.ts';
import { Random } from '../support/random.ts';
import { RedisClusterServers } from '../support/redisCluster.ts';
import { RedisProxy } from '../support/redisProxy.ts';
import { addressOf, freshStateKey } from '../support/redisServer.ts';
import { NODE_TIMEOUT_MS, type Fault } from './faults.ts';
import { createCertificate } from '../tls/certificate.ts';
import { LIFE_MS, Phones, Replica } from './replica.ts';

export interface Outcome {
  readonly commands: number;
  readonly refused: number;
  readonly toldAsLost: number;
  /** How long after `from` the last command failed; 0 where none did. */
  readonly backMs: number;
  readonly prompts: number;
  readonly promptedTwice: number;
  /** Claims of quotas that Redis counted twice. */
  readonly writtenTwice: number;
  /** How late this process was at most: commands that waited for it count as lost. */
  readonly heldUpMs: number;
  /** Promises that were broken. */
  readonly flaws: readonly string[];
}

const REPLICAS = 2;
/** A command has a second: a later process loses commands by itself. */
export const MAX_HELD_UP_MS = 300;
const BEFORE_MS = 2000;

/** A cluster of three masters and three replicas, and replicas of the service that use it during faults. */
export class Play {
  readonly #servers: RedisClusterServers;
  readonly #proxies: readonly RedisProxy[];
  readonly #random: Random;

  private constructor(
    servers: RedisClusterServers,
    proxies: readonly RedisProxy[],
    random: Random,
  ) {
    this.#servers = servers;
    this.#proxies = proxies;
    this.#random = random;
  }

  static async begin(seed: number): Promise<Play> {
    const servers = await RedisClusterServers.start({
      replicas: true,
      nodeTimeoutMs: NODE_TIMEOUT_MS,
    });
    const proxies = await RedisProxy.beforeAll(servers.ports, '::');
    return new Play(servers, proxies, new Random(seed));
  }

  async act(fault: Fault): Promise<Outcome> {
    const phones = new Phones();
    const seals = new StateSeals([Buffer.from(freshStateKey(), 'base64')]);
    const addresses = this.#proxies.map(({ url }) => addressOf(url));
    const topology = { kind: 'cluster', servers: addresses } as const;
    const certificate = fault.isBehindTls === true ? createCertificate() : undefined;
    for (const proxy of this.#proxies) proxy.certificate = certificate;
    const tls = certificate && { ca: certificate.cert, client: undefined, serverName: undefined };
    const settings: RedisSettings = { topology, credentials: undefined, tls };
    const replicas = Array.from({ length: REPLICAS }, () => {
      const random = new Random(this.#random.below(2 ** 32));
      return new Replica(settings, seals, phones, random);
    });
    const renew = async (change: Partial<RedisSettings>): Promise<void> => {
      await Promise.all(replicas.map((replica) => replica.renew({ ...settings, ...change })));
    };
    const stage = { servers: this.#servers, proxies: this.#proxies, renew };
    const watch = new LoopWatch();
    try {
      await Promise.all(replicas.map((replica) => replica.start()));
      await sleep(BEFORE_MS);
      watch.reset();
      const beganAtMs = performance.now();
      await fault.befall(stage);
      const endedAtMs = performance.now();
      await sleep(fault.backMs + LIFE_MS);
      await Promise.all(replicas.map((replica) => replica.stop()));
      const fromMs = fault.from === 'begin' ? beganAtMs : endedAtMs;
      const heldUpMs = watch.figures.longestTurnMs;
      return { heldUpMs, ...(await outcomeOf(fault, fromMs, replicas, phones)) };
    } finally {
      watch.stop();
      for (const replica of replicas) replica.close();
      await fault.mend?.(stage);
      await this.#servers.isHealed(true);
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
    await this.#servers.stop();
  }
}

async function outcomeOf(
  { backMs: promisedMs, isSilent, mayPromptTwice }: Fault,
  fromMs: number,
  replicas: readonly Replica[],
  phones: Phones,
): Promise<Omit<Outcome, 'heldUpMs'>> {
  const sum = (of: (replica: Replica) => number): number =>
    replicas.reduce((all, replica) => all + of(replica), 0);
  const refused = sum(({ counts }) => counts.refused);
  const toldAsLost = sum(({ counts }) => counts.toldAsLost);
  const lastFailedAtMs = Math.max(...replicas.map(({ counts }) => counts.lastFailedAtMs));
  const backMs = Math.max(0, lastFailedAtMs - fromMs);
  const promptedTwice = phones.count('promptsWhileOneLived');
  const writtenTwice = await countedBeyond(replicas);
  const flaws = [
    ...(backMs > promisedMs ? [`back after ${Math.round(backMs)} ms, not ${promisedMs}`] : []),
    ...(isSilent === true && toldAsLost + refused > 0 ? ['commands failed'] : []),
    ...(mayPromptTwice === undefined && promptedTwice > 0 ? ['owners were prompted twice'] : []),
    ...(writtenTwice > 0 ? ['claims were counted twice'] : []),
  ];
  return {
    commands: sum(({ counts }) => counts.commands),
    refused,
    toldAsLost,
    backMs,
    prompts: phones.consents.size,
    promptedTwice,
    writtenTwice,
    flaws,
  };
}

async function countedBeyond(replicas: readonly Replica[]): Promise<number> {
  const [reader] = replicas;
  const windows = new Set(replicas.flatMap(({ claimed }) => [...claimed.keys()]));
  let beyond = 0;
  for (const window of windows) {
    const most = replicas.reduce((all, { claimed }) => {
      const { acknowledged = 0, unknown = 0 } = claimed.get(window) ?? {};
      return all + acknowledged + unknown;
    }, 0);
    const counted = (await reader?.countOf(window)) ?? 0;
    beyond += Math.max(0, counted - most);
  }
  return beyond;
}
