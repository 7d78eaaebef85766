import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsentRecord } from '../../src/consents/consentRecord.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { bucketOfNumber, keyIn } from '../../src/sharedState/redis.ts';
import { StateSeal } from '../../src/sharedState/stateSeals.ts';
import { AUDIENCE, ISSUER, TestIssuer } from '../caller/testIssuer.ts';
import { Random, randomOf } from '../random.ts';
import { freshStateKey, startRedis } from '../redisServer.ts';
import { RedisClusterServers } from '../redisCluster.ts';
import { Chronicle } from './chronicle.ts';
import { FlappingDirectory } from './flappingDirectory.ts';
import { Fleet } from './fleet.ts';
import { StoredRecords, type OpenRecord } from './storedRecords.ts';
import { OPERATORS, StrictOperators, type Offences } from './strictOperators.ts';

/** Where consents lie: in the one process that serves, or in a Redis or a Redis Cluster that replicas share. */
export const STORES = ['memory', 'redis', 'cluster'] as const;

export type Store = (typeof STORES)[number];

/** One stretch of it. */
export interface ConsentChaosRun {
  readonly store: Store;
  /** At most a thousand: one a test number. */
  readonly consents: number;
  /** The same one makes the same apps, replies and troubles; when they meet is the machine's doing. */
  readonly seed: number;
  readonly without?: Guard | undefined;
}

/** What came of it. */
export interface Findings {
  readonly consents: number;
  /** By operator. */
  readonly prompts: Readonly<Record<string, number>>;
  /** What the number directory was asked, and how often it changed its word or was away. */
  readonly directory: Readonly<Record<string, number>>;
  readonly polls: number;
  readonly lookups: number;
  /** Requests that an operator read only after their senders had given them up. */
  readonly givenUp: number;
  readonly kills: number;
  /** What befell the store. */
  readonly store: Readonly<Record<string, number>>;
  readonly hangUps: number;
  /** How each request for an answer ended, the ones that were asked again included. */
  readonly heard: ReadonlyMap<string, number>;
  /** How each person's wish ended. */
  readonly ends: ReadonlyMap<string, number>;
  readonly wrong: Wrongness;
  /** The first offences that operators saw, with what tells how they came about. */
  readonly notes: readonly string[];
}

/** What must be zero, each. */
export interface Wrongness extends Offences {
  wrongAnswers: number;
  answersToAnotherCaller: number;
  requestsWithoutAnEnd: number;
  consentsWithoutAnEnd: number;
  defects: number;
}

/** What can be taken away, to see what it is good for. */
export const GUARDS = ['shared-store', 'doubt', 'kept-facts'] as const;

export type Guard = (typeof GUARDS)[number];

const ALL_NUMBERS = Array.from(
  { length: 1000 },
  (_, n) => `+447700900${String(n).padStart(3, '0')}`,
);
const REPLICAS = 3;
const AT_ONCE = 60;
const REQUEST_TIMEOUT_MS = 3000;
/** A request that is not answered by then hangs. */
const HANGS_AFTER_MS = REQUEST_TIMEOUT_MS + 5000;
/** Doubt, a second try and all waits included; what has no answer by then never gets one. */
const MAX_CONSENT_MS = 150_000;
/** An app does not wait so long: it tells its user that it cannot be known now. */
const MAX_WAIT_SECONDS = 20;
const KILL_EVERY_MS = 1500;
const FREEZE_EVERY_MS = 7000;
const FREEZE_MS = 1500;
/** Between one handover, once it is over, and the next one. */
const HANDED_OVER_EVERY_MS = 3000;
/** The last ones have so much of it; then they come to their ends in peace. */
const TROUBLED_MS = 25_000;
const KEEP_FACTS_SECONDS = 10;
const ENVIRONMENT = {
  JWT_ISSUER: ISSUER,
  JWT_AUDIENCE: AUDIENCE,
  REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS),
  CONSENT_WAIT_MS: '1500',
  // Longer than a prompt lives, after an exchange of two tries.
  CONSENT_DOUBT_SECONDS: '14',
  CONSENT_DENIED_SECONDS: '3',
  CONSENT_RESULT_SECONDS: '10',
};

/**
 * Pursues many consents at once, while replicas die and the store falls silent, dies, is replaced and forgets (`redis`,
 * `cluster`), and, over all stores, while apps hang up, ask again too early, the number directory names another of two
 * operators or none, and operators fail before and after consent.
 */
export async function runConsentChaos(run: ConsentChaosRun): Promise<Findings> {
  const { store, consents, seed, without } = run;
  const issuer = await TestIssuer.start();
  const environment = {
    ...ENVIRONMENT,
    JWT_JWKS_URL: issuer.jwksUrl,
    KEEP_FACTS_SECONDS: without === 'kept-facts' ? '0' : String(KEEP_FACTS_SECONDS),
    ...(without === 'doubt' ? { CONSENT_DOUBT_SECONDS: '1' } : {}),
  };
  const chronicle = new Chronicle();
  const scene: Scene = { ...run, chronicle };
  const operators = new StrictOperators(KEEP_FACTS_SECONDS * 1000, chronicle, seed);
  const directory = new FlappingDirectory(OPERATORS, chronicle, seed);
  const asked = { operators: await operators.listen(), directory: await directory.listen() };
  const opened = await OPEN[store](scene);
  const shared = without === 'shared-store' ? {} : opened?.settings;
  const fleet = new Fleet({ ...environment, ...shared }, asked);
  const apps = new Apps({ ...scene, fleet, operators, opened, tokens: await tokensOf(issuer) });
  const peace = new AbortController();
  let troubled: Promise<void> | undefined;
  const inPeace = async (): Promise<void> => {
    peace.abort();
    await troubled;
  };
  try {
    await fleet.start(opened === undefined ? 1 : REPLICAS);
    if (opened !== undefined) troubled = trouble(scene, opened, fleet, operators, peace.signal);
    const numbers = ALL_NUMBERS.slice(0, consents);
    const lastTaken = Promise.withResolvers<void>();
    const worker = async (): Promise<void> => {
      for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
        if (numbers.length === 0) lastTaken.resolve();
        await apps.pursueAll(number);
      }
    };
    const ended = Promise.all(Array.from({ length: AT_ONCE }, worker));
    const isEnough = lastTaken.promise.then(() => sleep(TROUBLED_MS, undefined, { ref: false }));
    await Promise.race([ended, isEnough]);
    await inPeace();
    await ended;
  } finally {
    await inPeace();
    fleet.stop();
    await operators.close();
    directory.close();
    await issuer.close();
    await opened?.stop();
  }
  const { prompts, polls, lookups, givenUp, offences, notes } = operators;
  const { heard, ends, hangUps } = apps;
  return {
    consents,
    prompts,
    directory: directory.counts,
    polls,
    lookups,
    givenUp,
    kills: fleet.kills,
    store: opened?.counts ?? {},
    hangUps,
    heard,
    ends,
    wrong: { ...apps.wrong, ...offences },
    notes: [...notes, ...apps.notes],
  };
}

/** What all parts of a run have in common. */
interface Scene extends Pick<ConsentChaosRun, 'seed'> {
  readonly chronicle: Chronicle;
}

/** A store that replicas share, and what befalls it. */
interface OpenedStore extends Befalling {
  readonly isLeased: StoredRecords['isLeased'];
  readonly settings: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

interface Befalling {
  readonly counts: Readonly<Record<string, number>>;
  readonly everyMs: number;
  /** Something befalls it, and is over. */
  readonly trouble: () => Promise<void>;
}

const OPEN: Readonly<Record<Store, (scene: Scene) => Promise<OpenedStore | undefined>>> = {
  memory: () => Promise.resolve(undefined),
  redis: async (scene) => {
    const redis = await startRedis();
    const counts = { frozen: 0 };
    return openShared(scene, redis.url, [redis.port], () => redis.kill(), {
      counts,
      everyMs: FREEZE_EVERY_MS,
      async trouble() {
        counts.frozen += 1;
        scene.chronicle.happened('the store is frozen');
        redis.freeze();
        await sleep(FREEZE_MS);
        redis.thaw();
        scene.chronicle.happened('the store is thawed');
      },
    });
  },
  cluster: async (scene) => {
    const servers = await RedisClusterServers.start({ replicas: true, nodeTimeoutMs: 2000 });
    const counts = { handedOver: 0 };
    const random = new Random(scene.seed);
    return openShared(scene, servers.url, servers.ports, () => servers.stop(), {
      counts,
      everyMs: HANDED_OVER_EVERY_MS,
      // What loses nothing that was acknowledged: `npm run long -- redis-faults` has the rest.
      async trouble() {
        counts.handedOver += 1;
        const port = random.pick(await servers.masters());
        scene.chronicle.happened(`the master ${port} is handed over`);
        await servers.failOver(port);
        await servers.isReplaced(port);
        await servers.isHealed(true);
        scene.chronicle.happened('the cluster is whole');
      },
    });
  },
};

function openShared(
  { chronicle }: Scene,
  url: string,
  ports: readonly number[],
  stop: () => Promise<void>,
  befalling: Befalling,
): OpenedStore {
  const stateKey = freshStateKey();
  const records = new StoredRecords(ports, openedBy(stateKey), chronicle);
  return {
    ...befalling,
    isLeased: (number) => records.isLeased(number),
    settings: { REDIS_URL: url, STATE_KEY: stateKey },
    stop() {
      records.close();
      return stop();
    },
  };
}

/** Opens what the service keeps about a number's consent. */
function openedBy(stateKey: string): OpenRecord {
  const seal = new StateSeal(Buffer.from(stateKey, 'base64'));
  const keyOf = (number: string) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a number in its one form
    keyIn(bucketOfNumber(number as PhoneNumber), 'consent-2', seal.name('consent', number));
  const numbers = new Map(ALL_NUMBERS.map((number) => [keyOf(number), number]));
  return (key, sealed) => {
    const number = numbers.get(key);
    if (number === undefined) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by the service
    return { number, record: JSON.parse(seal.open(sealed, key)) as ConsentRecord };
  };
}

/** Kills replicas, and has befall the store what befalls it, now and then, until there is to be peace. */
async function trouble(
  { chronicle, seed }: Scene,
  store: OpenedStore,
  fleet: Fleet,
  operators: StrictOperators,
  peace: AbortSignal,
): Promise<void> {
  const everyNow = async (ms: number, random: Random, act: () => Promise<void>): Promise<void> => {
    while (!peace.aborted) {
      await sleep(ms * (0.5 + random.next()), undefined, { signal: peace }).catch(() => '');
      if (!peace.aborted) await act();
    }
  };
  const [kills, befalls] = [new Random(seed + 1), new Random(seed + 2)];
  const onKill = (name: string): void => {
    chronicle.happened(`${name} is killed`);
    operators.replicaKilled(name);
  };
  await Promise.all([
    everyNow(KILL_EVERY_MS, kills, () => fleet.killOne(kills, onKill)),
    everyNow(store.everyMs, befalls, store.trouble),
  ]);
}

const CALLERS = ['anna', 'bert'] as const;

type CallerName = (typeof CALLERS)[number];

async function tokensOf(issuer: TestIssuer): Promise<Readonly<Record<CallerName, string>>> {
  const exp = Math.floor(Date.now() / 1000) + 6 * 3600;
  const token = (sub: CallerName) => issuer.token({ sub, exp, scope: 'sim-swap:read' });
  return { anna: await token('anna'), bert: await token('bert') };
}

/** What an app wants to know: the date, the window of a day, or both in one operation. */
const QUESTIONS = [
  'lastSimSwap',
  'simSwappedWithin(maxAgeHours: 24)',
  'lastSimSwap simSwappedWithin(maxAgeHours: 24)',
] as const;

interface Wish {
  readonly number: string;
  readonly caller: CallerName;
  readonly question: (typeof QUESTIONS)[number];
}

interface Reply {
  readonly date?: string | null | undefined;
  readonly swapped?: boolean | null | undefined;
  readonly failures: readonly Failure[];
}

interface Failure {
  readonly code: string;
  readonly retryAfterSeconds?: number;
}

/** Ends that an app tells its user; after all else it asks again, if it need not wait too long. */
const ENDS: ReadonlySet<string> = new Set(['CONSENT_DENIED', 'CONSENT_EXPIRED']);

interface AppsParts extends Pick<Scene, 'seed' | 'chronicle'> {
  readonly fleet: Fleet;
  readonly operators: StrictOperators;
  /** Absent where there is one process. */
  readonly opened: Pick<OpenedStore, 'isLeased'> | undefined;
  readonly tokens: Readonly<Record<CallerName, string>>;
}

/** The apps that ask, and what they hear. */
class Apps {
  hangUps = 0;
  readonly notes: string[] = [];
  readonly heard = new Map<string, number>();
  readonly ends = new Map<string, number>();
  readonly wrong: Omit<Wrongness, keyof Offences> = {
    wrongAnswers: 0,
    answersToAnotherCaller: 0,
    requestsWithoutAnEnd: 0,
    consentsWithoutAnEnd: 0,
    defects: 0,
  };
  readonly #parts: AppsParts;

  constructor(parts: AppsParts) {
    this.#parts = parts;
  }

  /** One number: several requests of one caller at once and, for some numbers, one of another. */
  async pursueAll(number: string): Promise<void> {
    const random = randomOf(this.#parts.seed, number);
    const requests = 1 + random.below(3);
    const callers: CallerName[] = Array.from({ length: requests }, () => 'anna');
    if (random.chance(0.2)) callers.push('bert');
    await Promise.all(
      callers.map((caller) => {
        const question = random.pick(QUESTIONS);
        // One of its own: which of them asks first is not of the seed.
        return this.#pursue({ number, caller, question }, new Random(random.below(2 ** 32)));
      }),
    );
  }

  /** Asks until there is an end, as an app does, and once more after it, as a page that renders twice. */
  async #pursue(wish: Wish, random: Random): Promise<void> {
    const givesUpAtMs = Date.now() + MAX_CONSENT_MS;
    let isOnceMore = random.chance(0.3);
    while (Date.now() < givesUpAtMs) {
      const reply = await this.#ask(wish, random);
      const waitSeconds = this.#count(reply, wish);
      const isEnd = waitSeconds === 'end' || waitSeconds > MAX_WAIT_SECONDS;
      if (isEnd && !isOnceMore) return;
      if (isEnd) isOnceMore = false;
      // One in ten does not keep to what it was told, and asks again at once.
      const isImpatient = isEnd || random.chance(0.1);
      await sleep(isImpatient ? 50 : Math.min(waitSeconds * 1000, 2000));
    }
    this.wrong.consentsWithoutAnEnd += 1;
    this.notes.push(this.#parts.chronicle.story('consentsWithoutAnEnd', wish.number));
  }

  async #ask({ number, caller, question }: Wish, random: Random): Promise<Reply> {
    const hangs = AbortSignal.timeout(HANGS_AFTER_MS);
    const doesHangUp = random.chance(0.1);
    const hangUp = doesHangUp ? [AbortSignal.timeout(random.below(1500))] : [];
    const url = this.#parts.fleet.anyUrl(random);
    const askedAtMs = Date.now();
    try {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${this.#parts.tokens[caller]}`,
          'x-correlator': caller,
        },
        body: JSON.stringify({ query: `{ phoneNumber(e164: "${number}") { ${question} } }` }),
        signal: AbortSignal.any([hangs, ...hangUp]),
      });
      const reply = replyOf((await response.json()) as Body);
      const isPending = reply.failures.some(({ code }) => code === 'CONSENT_PENDING');
      if (isPending && this.#parts.opened?.isLeased(number) !== true) {
        this.#parts.operators.waited(number, caller, askedAtMs);
      }
      return reply;
    } catch {
      if (hangs.aborted) {
        this.wrong.requestsWithoutAnEnd += 1;
        this.notes.push(this.#parts.chronicle.story(`requestsWithoutAnEnd, ${caller}`, number));
      }
      if (doesHangUp) this.hangUps += 1;
      return { failures: [{ code: doesHangUp ? 'hung up' : 'the replica died' }] };
    }
  }

  /** The seconds after which to ask again, or that there is nothing more to be heard. */
  #count({ date, swapped, failures }: Reply, { number, caller }: Wish): number | 'end' {
    const codes = failures.map(({ code }) => code);
    const [first = 'an answer'] = codes;
    this.#parts.chronicle.happened(`${caller} hears ${first}`, number);
    increment(this.heard, first);
    if (codes.some((code) => code === 'INTERNAL_SERVER_ERROR')) this.wrong.defects += 1;
    if (typeof date === 'string')
      this.#judge(this.#parts.operators.isRightDate(date, number, caller));
    if (typeof swapped === 'boolean') {
      this.#judge(this.#parts.operators.isRightWindow(swapped, number, caller));
    }
    const open = failures.filter(({ code }) => !ENDS.has(code));
    if (open.length === 0) {
      increment(this.ends, first);
      return 'end';
    }
    const waitSeconds = Math.max(...open.map(({ retryAfterSeconds = 0.2 }) => retryAfterSeconds));
    if (waitSeconds > MAX_WAIT_SECONDS) increment(this.ends, `${first}, a long wait`);
    return waitSeconds;
  }

  #judge(judged: 'right' | 'wrong' | "another's"): void {
    switch (judged) {
      case 'right':
        return;
      case 'wrong':
        this.wrong.wrongAnswers += 1;
        return;
      case "another's":
        this.wrong.answersToAnotherCaller += 1;
    }
  }
}

interface Body {
  readonly data?: {
    readonly phoneNumber?: {
      readonly lastSimSwap?: string | null;
      readonly simSwappedWithin?: boolean | null;
    } | null;
  } | null;
  readonly errors?: readonly { readonly extensions?: Failure }[];
}

function replyOf({ data, errors = [] }: Body): Reply {
  return {
    date: data?.phoneNumber?.lastSimSwap,
    swapped: data?.phoneNumber?.simSwappedWithin,
    failures: errors.map(({ extensions }) => extensions ?? { code: 'INTERNAL_SERVER_ERROR' }),
  };
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
