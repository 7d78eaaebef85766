import { linkSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsentRecord } from '../../src/consents/consentRecord.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { bucketOfNumber, keyIn } from '../../src/sharedState/redis.ts';
import { StateSeal } from '../../src/sharedState/stateSeals.ts';
import { AUDIENCE, ISSUER, TestIssuer } from '../caller/testIssuer.ts';
import { flagsWithout } from '../chaos/guards.ts';
import { Random, randomOf } from '../support/random.ts';
import type { RedisSettings } from '../../src/sharedState/redis.ts';
import { Counts } from '../long/counts.ts';
import { RedisClusterServers } from '../support/redisCluster.ts';
import { command, NotInTime } from '../support/redisCommands.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { addressOf, freshStateKey, openRedis, startRedis } from '../support/redisServer.ts';
import { askAt, type Reply } from '../support/service.ts';
import { Chronicle } from './chronicle.ts';
import { FlappingDirectory } from './flappingDirectory.ts';
import { Fleet } from './fleet.ts';
import { LaggingReplica } from './laggingReplica.ts';
import { OPERATORS, StrictOperators, type OperatorName, type Offences } from './strictOperators.ts';

/**
 * Where consents are kept: in the only process, or in what replicas share, which is a Redis, a cluster, or a Redis with a
 * replica that is promoted.
 */
export const STORES = ['memory', 'redis', 'cluster', 'replica'] as const;

export type Store = (typeof STORES)[number];

export interface ConsentChaosRun {
  readonly store: Store;
  /** At most a thousand: one for each test number. */
  readonly consents: number;
  /** The same seed makes the same apps, replies and faults; when they meet depends on the machine. */
  readonly seed: number;
  /** The operator that binds its tokens and names nonces. */
  readonly nonces?: OperatorName | undefined;
  readonly without?: Guard | undefined;
}

export interface Findings {
  readonly consents: number;
  /** By operator. */
  readonly prompts: Readonly<Record<string, number>>;
  /** How often the number directory was queried, changed its answer or was away. */
  readonly directory: Readonly<Record<string, number>>;
  readonly polls: number;
  readonly lookups: number;
  /** Requests that an operator read after their senders had given up. */
  readonly givenUp: number;
  readonly kills: number;
  /** Faults of the store. */
  readonly store: Readonly<Record<string, number>>;
  readonly hangUps: number;
  /** Of the operator that wants proofs. */
  readonly proofs: Readonly<Record<string, number>>;
  /** What happened before a loss of the store was noticed, and is no offence. */
  readonly excused: Counts;
  /** How each request ended, retries included. */
  readonly heard: Counts;
  /** How each app's query ended. */
  readonly ends: Counts;
  readonly wrong: Wrongness;
  /** The first offences, each with what led to it. */
  readonly notes: readonly string[];
}

/** Each must be zero. */
export interface Wrongness extends Offences {
  wrongAnswers: number;
  answersToAnotherCaller: number;
  requestsWithoutAnEnd: number;
  consentsWithoutAnEnd: number;
  defects: number;
}

/** What can be turned off, to see that its absence is found. */
export const GUARDS = ['shared-store', 'doubt', 'kept-facts', 'write-counts'] as const;

export type Guard = (typeof GUARDS)[number];

const ALL_NUMBERS = Array.from(
  { length: 1000 },
  (_, n) => `+447700900${String(n).padStart(3, '0')}`,
);
const REPLICAS = 3;
const AT_ONCE = 60;
const REQUEST_TIMEOUT_MS = 3000;
/** A request without a reply by then hangs. */
const HANGS_AFTER_MS = REQUEST_TIMEOUT_MS + 5000;
/** Doubts, further tries and all waits included. Troubles on a busy machine take most of it: in peace a consent soon ends. */
const MAX_CONSENT_MS = 300_000;
/** An app does not wait longer: it shows its user that the answer is not known. */
const MAX_WAIT_SECONDS = 20;
const KILL_EVERY_MS = 1500;
const FREEZE_EVERY_MS = 7000;
const FREEZE_MS = 1500;
/** At the first of so many freezes the store is saved, and at the next one it goes back to that. */
const SAVE_EVERY_FREEZES = 3;
const AUDIT_FULL_EVERY_MS = 8000;
const AUDIT_FULL_MS = 3000;
/** From one promotion of a replica to the next, and how long it is behind. */
const PROMOTED_EVERY_MS = 6000;
const BEHIND_MS = 2000;
/** What an operator replied so long before may not be written yet. */
const UNWRITTEN_MS = 1000;
/** How long a step may take that was decided before. */
const DECIDED_BEFORE_MS = 500;
/** From the end of one handover to the next. */
const HANDED_OVER_EVERY_MS = 3000;
/** How long faults go on after the last number was begun. */
const TROUBLED_MS = 25_000;
const KEEP_FACTS_SECONDS = 10;
const DOUBT_SECONDS = 14;
const ENVIRONMENT = {
  JWT_ISSUER: ISSUER,
  JWT_AUDIENCE: AUDIENCE,
  REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS),
  CONSENT_WAIT_MS: '1500',
  // Longer than a prompt lives, after an exchange of two tries.
  CONSENT_DOUBT_SECONDS: String(DOUBT_SECONDS),
  CONSENT_DENIED_SECONDS: '3',
  CONSENT_RESULT_SECONDS: '10',
};

/**
 * Pursues many consents at once, while replicas are killed and the store is frozen (`redis`), handed over (`cluster`) or
 * loses its last writes (`replica`); with every store apps hang up and retry too early, the number directory names another
 * of two operators or none, and operators fail before and after consent.
 */
export async function runConsentChaos(run: ConsentChaosRun): Promise<Findings> {
  const { store, consents, seed, nonces, without } = run;
  const issuer = await TestIssuer.start();
  const environment = {
    ...ENVIRONMENT,
    JWT_JWKS_URL: issuer.jwksUrl,
    KEEP_FACTS_SECONDS: without === 'kept-facts' ? '0' : String(KEEP_FACTS_SECONDS),
    ...(without === 'doubt' ? { CONSENT_DOUBT_SECONDS: '1' } : {}),
  };
  const chronicle = new Chronicle();
  const scene: Scene = { ...run, chronicle };
  const operators = new StrictOperators(KEEP_FACTS_SECONDS * 1000, chronicle, seed, nonces);
  const directory = new FlappingDirectory(OPERATORS, chronicle, seed);
  const asked = {
    operators: await operators.listen(),
    directory: await directory.listen(),
    binding: nonces,
  };
  const opened = await OPEN[store](scene, operators);
  const auditDisk = new AuditDisk();
  const shared = without === 'shared-store' ? {} : opened?.settings;
  const settings = { ...environment, ...auditDisk.settings, ...shared };
  const fleet = new Fleet(settings, asked, flagsWithout(without));
  const apps = new Apps({ ...scene, fleet, operators, opened, tokens: await tokensOf(issuer) });
  const peace = new AbortController();
  let troubled: Promise<unknown> | undefined;
  const inPeace = async (): Promise<void> => {
    peace.abort();
    await troubled;
  };
  const numbers = ALL_NUMBERS.slice(0, consents);
  try {
    await fleet.start(opened === undefined ? 1 : REPLICAS);
    troubled = Promise.all([
      trouble([new Random(seed + 3), AUDIT_FULL_EVERY_MS, () => auditDisk.fillUp(scene)], peace),
      ...(opened === undefined ? [] : troublesOf(scene, opened, fleet, operators, peace)),
    ]);
    const lastTaken = Promise.withResolvers<void>();
    const worker = async (): Promise<void> => {
      for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
        if (numbers.length === 0) lastTaken.resolve();
        await apps.pursueAll(number);
      }
    };
    const ended = Promise.all(Array.from({ length: AT_ONCE }, worker));
    const isEnough = lastTaken.promise.then(() => sleep(TROUBLED_MS, undefined, { ref: false }));
    await Promise.race([ended, isEnough, troubled]);
    await inPeace();
    await ended;
  } finally {
    // What failed is thrown above, and no app goes on.
    numbers.length = 0;
    apps.end();
    await inPeace().catch(() => undefined);
    fleet.stop();
    await operators.close();
    await directory.close();
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
    store: { ...opened?.counts, auditDiskFull: auditDisk.times },
    hangUps,
    proofs: { ...operators.proofs },
    excused: operators.excused,
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

/** A store that replicas share, and its faults. */
interface OpenedStore extends Befalling {
  /** Whether an exchange about a number is claimed: it is under way, or its replica was killed. */
  readonly isLeased: (number: string) => Promise<boolean>;
  readonly settings: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

interface Befalling {
  /** Replicas are not killed meanwhile: what they wrote last is known to nobody else. */
  readonly isAlone?: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly everyMs: number;
  /** Resolves when the fault is over. */
  readonly trouble: () => Promise<void>;
}

const OPEN: Readonly<
  Record<Store, (scene: Scene, operators: StrictOperators) => Promise<OpenedStore | undefined>>
> = {
  memory: () => Promise.resolve(undefined),
  redis: async (scene, operators) => {
    const dir = temporaryFolder();
    const redis = await startRedis(undefined, { dir, 'enable-debug-command': 'local' });
    const counts = { frozen: 0, wentBack: 0 };
    let savedAtMs: number | undefined;
    const topology = { kind: 'single', server: addressOf(redis.url), database: 0 } as const;
    return openShared(redis.url, topology, () => redis.kill(), {
      counts,
      everyMs: FREEZE_EVERY_MS,
      async trouble() {
        counts.frozen += 1;
        scene.chronicle.happened('the store is frozen');
        redis.freeze();
        await sleep(FREEZE_MS);
        redis.thaw();
        scene.chronicle.happened('the store is thawed');
        if (counts.frozen % SAVE_EVERY_FREEZES === 1) {
          savedAtMs = Date.now();
          await command(redis.port, ['SAVE']);
        } else if (savedAtMs !== undefined) {
          // As a snapshot that is restored, or a replica that was behind: connections break then.
          await command(redis.port, ['DEBUG', 'RELOAD', 'NOSAVE']);
          await command(redis.port, ['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
          counts.wentBack += 1;
          scene.chronicle.happened('the store has gone back to its snapshot');
          operators.storeWentBack(savedAtMs, DOUBT_SECONDS * 1000);
          savedAtMs = undefined;
        }
      },
    });
  },
  cluster: async (scene) => {
    const servers = await RedisClusterServers.start({ replicas: true, nodeTimeoutMs: 2000 });
    const counts = { handedOver: 0 };
    const random = new Random(scene.seed);
    const topology = { kind: 'cluster', servers: servers.addresses } as const;
    return openShared(servers.url, topology, () => servers.stop(), {
      counts,
      everyMs: HANDED_OVER_EVERY_MS,
      // It loses nothing that was acknowledged; `npm run long -- redis-faults` has other faults.
      async trouble() {
        counts.handedOver += 1;
        const masters = await servers.masters();
        if (masters.length === 0) throw new NotInTime('No master of the cluster had slots.');
        const port = random.pick(masters);
        scene.chronicle.happened(`the master ${port} is handed over`);
        await servers.failOver(port);
        await servers.isReplaced(port);
        await servers.isHealed(true);
        scene.chronicle.happened('the cluster is whole');
      },
    });
  },
  replica: openReplica,
};

async function openReplica(scene: Scene, operators: StrictOperators): Promise<OpenedStore> {
  const pair = await LaggingReplica.start();
  const counts = { promoted: 0, bucketsLost: 0, noticedAfterMs: 0 };
  const topology = { kind: 'single', server: addressOf(pair.url), database: 0 } as const;
  return openShared(pair.url, topology, () => pair.stop(), {
    counts,
    everyMs: PROMOTED_EVERY_MS,
    isAlone: true,
    async trouble() {
      await pair.fallBehind();
      const behindAtMs = Date.now();
      await sleep(BEHIND_MS);
      operators.isLossUnnoticed = true;
      const promotedAtMs = Date.now();
      const lost = await pair.promote();
      counts.promoted += 1;
      counts.bucketsLost += lost.length;
      scene.chronicle.happened('a replica that was behind is promoted');
      operators.storeWentBack(behindAtMs - UNWRITTEN_MS, DOUBT_SECONDS * 1000);
      const doubtUntilMs = promotedAtMs + DOUBT_SECONDS * 1000;
      operators.lossesNotNoticed += await pair.noticed(lost, doubtUntilMs);
      counts.noticedAfterMs = Math.max(counts.noticedAfterMs, Date.now() - promotedAtMs);
      scene.chronicle.happened('the loss is noticed');
      await sleep(DECIDED_BEFORE_MS);
      operators.isLossUnnoticed = false;
      await pair.heal();
    },
  });
}

async function openShared(
  url: string,
  topology: RedisSettings['topology'],
  stop: () => Promise<void>,
  befalling: Befalling,
): Promise<OpenedStore> {
  const stateKey = freshStateKey();
  const seal = new StateSeal(Buffer.from(stateKey, 'base64'));
  const redis = openRedis(topology);
  await redis.open();
  return {
    ...befalling,
    settings: { REDIS_URL: url, STATE_KEY: stateKey },
    async isLeased(number) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a number in its one form
      const bucket = bucketOfNumber(number as PhoneNumber);
      const key = keyIn(bucket, 'consent-2', seal.name('consent', number));
      const sealed = await redis.run(READ_RECORD, [key]).catch(() => UNKNOWN);
      if (typeof sealed !== 'string') return sealed === UNKNOWN;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by the service
      const { consent } = JSON.parse(seal.open(sealed, key)) as ConsentRecord;
      return (
        consent !== undefined && 'leaseUntilMs' in consent && consent.leaseUntilMs > Date.now()
      );
    },
    stop() {
      redis.close();
      return stop();
    },
  };
}

const READ_RECORD = "return redis.call('HGET', KEYS[1], 'sealed')";
const UNKNOWN = Symbol('the store does not reply');

/** The disk of the audit log, which is full now and then: no lookup leaves meanwhile, and no prompt. */
class AuditDisk {
  times = 0;
  readonly #log = join(temporaryFolder(), 'audit.jsonl');
  readonly settings = { AUDIT_LOG: this.#log, AUDIT_KEY: freshStateKey() };

  constructor() {
    writeFileSync(this.#log, '');
  }

  async fillUp({ chronicle }: Scene): Promise<void> {
    this.times += 1;
    chronicle.happened('the audit disk is full');
    const [full, before] = [`${this.#log}.${this.times}`, `${this.#log}.before`];
    symlinkSync('/dev/full', full);
    // In one step each: a process that starts in between would find no file.
    linkSync(this.#log, before);
    renameSync(full, this.#log);
    await sleep(AUDIT_FULL_MS);
    renameSync(before, this.#log);
    chronicle.happened('the audit disk has room');
  }
}

type Trouble = readonly [random: Random, everyMs: number, act: () => Promise<void>];

/** Functions of which each waits for the end of the one before. */
function inTurn(): (act: () => Promise<void>) => () => Promise<void> {
  let running = Promise.resolve();
  return (act) => () => {
    running = running.then(act);
    return running;
  };
}

/** Does it now and then, until there is peace. */
async function trouble(
  [random, everyMs, act]: Trouble,
  { signal }: AbortController,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(everyMs * (0.5 + random.next()), undefined, { signal }).catch(() => '');
    if (!signal.aborted) await act();
  }
}

/** Replicas are killed, and the store fails. */
function troublesOf(
  scene: Scene,
  store: OpenedStore,
  fleet: Fleet,
  operators: StrictOperators,
  peace: AbortController,
): readonly Promise<void>[] {
  const [kills, befalls] = [new Random(scene.seed + 1), new Random(scene.seed + 2)];
  const onKill = (name: string): void => {
    scene.chronicle.happened(`${name} is killed`);
    operators.replicaKilled(name);
  };
  const turned = store.isAlone === true ? inTurn() : (act: () => Promise<void>) => act;
  return [
    trouble([kills, KILL_EVERY_MS, turned(() => fleet.killOne(kills, onKill))], peace),
    trouble([befalls, store.everyMs, turned(store.trouble)], peace),
  ];
}

const CALLERS = ['anna', 'bert'] as const;

type CallerName = (typeof CALLERS)[number];

async function tokensOf(issuer: TestIssuer): Promise<Readonly<Record<CallerName, string>>> {
  const exp = Math.floor(Date.now() / 1000) + 6 * 3600;
  const token = (sub: CallerName) => issuer.token({ sub, exp, scope: 'sim-swap:read' });
  return { anna: await token('anna'), bert: await token('bert') };
}

/** The date, the window of a day, or both in one operation. */
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

type Heard = Pick<Reply, 'codes' | 'errors' | 'data'>;

/** Final for an app; after any other code it retries, unless it has to wait too long. */
const ENDS: ReadonlySet<string> = new Set(['CONSENT_DENIED', 'CONSENT_EXPIRED']);

interface AppsParts extends Pick<Scene, 'seed' | 'chronicle'> {
  readonly fleet: Fleet;
  readonly operators: StrictOperators;
  /** Absent where there is one process. */
  readonly opened: Pick<OpenedStore, 'isLeased'> | undefined;
  readonly tokens: Readonly<Record<CallerName, string>>;
}

/** The apps and the replies that they get. */
class Apps {
  hangUps = 0;
  readonly notes: string[] = [];
  readonly heard = new Counts();
  readonly ends = new Counts();
  readonly wrong: Omit<Wrongness, keyof Offences> = {
    wrongAnswers: 0,
    answersToAnotherCaller: 0,
    requestsWithoutAnEnd: 0,
    consentsWithoutAnEnd: 0,
    defects: 0,
  };
  readonly #parts: AppsParts;
  #isOver = false;

  constructor(parts: AppsParts) {
    this.#parts = parts;
  }

  end(): void {
    this.#isOver = true;
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
        // One for each: which of them is first does not follow from the seed.
        return this.#pursue({ number, caller, question }, new Random(random.below(2 ** 32)));
      }),
    );
  }

  /** Queries until there is an end, as an app does, and some once more, as a page that renders twice. */
  async #pursue(wish: Wish, random: Random): Promise<void> {
    const givesUpAtMs = Date.now() + MAX_CONSENT_MS;
    let isOnceMore = random.chance(0.3);
    while (!this.#isOver && Date.now() < givesUpAtMs) {
      const reply = await this.#ask(wish, random);
      const waitSeconds = this.#count(reply, wish);
      const isEnd = waitSeconds === 'end' || waitSeconds > MAX_WAIT_SECONDS;
      if (isEnd && !isOnceMore) return;
      if (isEnd) isOnceMore = false;
      // One in ten retries at once, whatever retryAfterSeconds says.
      const isImpatient = isEnd || random.chance(0.1);
      await sleep(isImpatient ? 50 : Math.min(waitSeconds * 1000, 2000));
    }
    if (this.#isOver) return;
    this.wrong.consentsWithoutAnEnd += 1;
    this.notes.push(this.#parts.chronicle.story('consentsWithoutAnEnd', wish.number));
  }

  async #ask({ number, caller, question }: Wish, random: Random): Promise<Heard> {
    const hangs = AbortSignal.timeout(HANGS_AFTER_MS);
    const doesHangUp = random.chance(0.1);
    const hangUp = doesHangUp ? [AbortSignal.timeout(random.below(1500))] : [];
    const url = this.#parts.fleet.anyUrl(random);
    const askedAtMs = Date.now();
    try {
      const headers = {
        authorization: `Bearer ${this.#parts.tokens[caller]}`,
        'x-correlator': caller,
      };
      const signal = AbortSignal.any([hangs, ...hangUp]);
      const query = `{ phoneNumber(e164: "${number}") { ${question} } }`;
      const reply = await askAt(url, query, {}, headers, signal);
      const { opened, operators } = this.#parts;
      const isPending = reply.codes.includes('CONSENT_PENDING');
      if (!isPending) operators.refused(number, caller);
      else if ((await opened?.isLeased(number)) !== true) {
        operators.waited(number, caller, askedAtMs);
      }
      return reply;
    } catch {
      if (hangs.aborted) {
        this.wrong.requestsWithoutAnEnd += 1;
        this.notes.push(this.#parts.chronicle.story(`requestsWithoutAnEnd, ${caller}`, number));
      }
      if (doesHangUp) this.hangUps += 1;
      return { codes: [doesHangUp ? 'hung up' : 'the replica died'], errors: [], data: undefined };
    }
  }

  /** The seconds after which to retry, or that there is nothing more to hear. */
  #count({ data, codes, errors }: Heard, { number, caller }: Wish): number | 'end' {
    const { operators, chronicle } = this.#parts;
    const [first = 'an answer'] = codes;
    chronicle.happened(`${caller} hears ${first}`, number);
    this.heard.add(first);
    if (codes.includes('INTERNAL_SERVER_ERROR')) this.wrong.defects += 1;
    const { lastSimSwap, simSwappedWithin } = data?.phoneNumber ?? {};
    if (typeof lastSimSwap === 'string') {
      this.#judge(operators.isRightDate(lastSimSwap, number, caller));
    }
    if (typeof simSwappedWithin === 'boolean') {
      this.#judge(operators.isRightWindow(simSwappedWithin, number, caller));
    }
    if (codes.every((code) => ENDS.has(code))) {
      this.ends.add(first);
      return 'end';
    }
    const open = errors.filter(({ extensions }) => !ENDS.has(extensions?.code ?? ''));
    const waits = open.map(({ extensions }) => extensions?.retryAfterSeconds ?? 0.2);
    const waitSeconds = Math.max(0.2, ...waits);
    if (waitSeconds > MAX_WAIT_SECONDS) this.ends.add(`${first}, a long wait`);
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
