import { existsSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditHash, type AuditEntry } from '../../src/caller/audit/entry.ts';
import { answerJson, RecordingServer, type Received } from '../wire/recordingServer.ts';
import { UNLIMITED_PROMPTS } from '../long/settings.ts';
import { askedOf, OperatorBooks } from '../support/operatorBooks.ts';
import { Program } from '../support/program.ts';
import { NotInTime } from '../support/redisCommands.ts';
import { freshStateKey } from '../support/redisServer.ts';
import { askAt, type ReplyError } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** A fault, while owners consent whose numbers are looked up. */
interface Fault {
  /**
   * Of one owner, at the most: where the operator refuses a lookup that has left, its token is spent. One more for each
   * lookup of that owner with which a process died: it may have left.
   */
  readonly prompts: 1 | 2;
  /** How the operator replies to lookups. */
  readonly refusal?: { readonly status: number; readonly retryAfterSeconds?: number };
  /** Whether processes are killed: consents must outlive them. */
  readonly needsRedis?: boolean;
  readonly begin?: (scene: Scene) => Promise<void> | void;
  readonly end?: (scene: Scene) => Promise<void> | void;
}

/** Many scenes are played at once. */
const INTERVAL_SECONDS = 4;
const KILLED_EVERY_MS = 4000;
const ENOUGH_DESCRIPTORS = 1024;

const lookupHostAway = {
  begin: (scene: Scene) => scene.lookupHost.shut(),
  end: (scene: Scene) => scene.lookupHost.reopen(),
} as const;

export const FAULTS = {
  '429': { prompts: 2, refusal: { status: 429 } },
  '429 Retry-After 1': { prompts: 2, refusal: { status: 429, retryAfterSeconds: 1 } },
  '503': { prompts: 2, refusal: { status: 503 } },
  '503 Retry-After 3': { prompts: 2, refusal: { status: 503, retryAfterSeconds: 3 } },
  '500': { prompts: 2, refusal: { status: 500 } },
  '500 Retry-After 1': { prompts: 2, refusal: { status: 500, retryAfterSeconds: 1 } },
  'audit disk full': {
    prompts: 1,
    begin: ({ replicas }) => replicas.forEach(({ auditLog }) => fillUp(auditLog)),
    end: ({ replicas }) => replicas.forEach(({ auditLog }) => rmSync(auditLog)),
  },
  'no descriptors': {
    prompts: 1,
    begin({ replicas, lookupHost }) {
      for (const { program, idleDescriptors } of replicas) limit(program.pid, idleDescriptors);
      lookupHost.resetConnections();
    },
    end({ replicas }) {
      for (const { program } of replicas) limit(program.pid, ENOUGH_DESCRIPTORS);
    },
  },
  'no connection': { prompts: 1, ...lookupHostAway },
  'kill -9 between token and lookup': {
    prompts: 1,
    needsRedis: true,
    begin(scene) {
      lookupHostAway.begin(scene);
      scene.killNowAndThen();
    },
    async end(scene) {
      await scene.killNoMore();
      await lookupHostAway.end(scene);
    },
  },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof FAULTS;

export interface SceneSettings {
  readonly fault: FaultName;
  readonly seconds: number;
  /** In the memory of its one process where absent. */
  readonly redisUrl: string | undefined;
  readonly replicas: number;
}

/** What one scene found. */
export interface Findings {
  readonly owners: number;
  /** Of one owner, the most: while the fault lasted, and in all. */
  readonly promptsInFault: number;
  readonly prompts: number;
  readonly lookups: number;
  readonly answered: number;
  /** Announced in the audit log by a process that was killed before their end. */
  readonly brokenLookups: number;
  readonly secondsToLast: number;
  /** Each must be zero. */
  readonly wrong: Readonly<Record<string, number>>;
}

const NUMBERS = Array.from({ length: 20 }, (_, n) => `+4477009000${String(n).padStart(2, '0')}`);
const AUDIT_KEY = 'k'.repeat(32);
const ALL_PROMPTED_WITHIN_MS = 30_000;
/** After the fault: until the failure of a lookup in it no longer counts, and the circuit has closed. */
const GIVES_UP_AFTER_MS = 150_000;
const HANGS_AFTER_MS = 30_000;

interface Replica {
  readonly auditLog: string;
  /** With that as its limit it keeps what it has and gets no other one, even for one that it gives back. */
  readonly idleDescriptors: number;
  program: Program;
  /** Absent while it starts. */
  url: string | undefined;
}

/** Owners who consent each time, and the operator that prompts them; their apps wait as long as `retryAfterSeconds` says. */
export class Scene {
  readonly replicas: Replica[] = [];
  readonly #settings: SceneSettings;
  readonly #fault: Fault;
  readonly #books = new OperatorBooks();
  readonly #promptedAtMs = new Map<string, number[]>();
  readonly #answers = new Map<string, number>();
  readonly #stateKey = freshStateKey();
  #authHost: RecordingServer | undefined;
  #lookupHost: RecordingServer | undefined;
  #doConsent = false;
  #isFaulty = false;
  #lookups = 0;
  #killing: Promise<void> | undefined;
  #kills = new AbortController();
  #wrongAnswers = 0;
  readonly #acknowledged = new Set<string>();
  readonly #over = new AbortController();
  #pursuing: Promise<unknown> | undefined;

  constructor(settings: SceneSettings) {
    this.#settings = settings;
    this.#fault = FAULTS[settings.fault];
  }

  get lookupHost(): RecordingServer {
    if (this.#lookupHost === undefined) throw new Error('The scene has not been opened.');
    return this.#lookupHost;
  }

  async open(): Promise<void> {
    const serve = (received: Received, response: ServerResponse) => this.#serve(received, response);
    this.#authHost = await RecordingServer.start(serve);
    this.#lookupHost = await RecordingServer.start(serve);
    for (let n = 0; n < this.#settings.replicas; n += 1) {
      const auditLog = join(temporaryFolder(), 'audit.jsonl');
      const program = this.#launch(auditLog);
      const url = await program.serves();
      this.replicas.push({ auditLog, idleDescriptors: firstFree(program.pid), program, url });
    }
  }

  /** Resolves once each owner has a prompt that is on record. */
  async prompt(): Promise<void> {
    const { signal } = this.#over;
    this.#pursuing = Promise.all(NUMBERS.map((number, n) => this.#pursue(number, n, signal)));
    const givenUpAtMs = Date.now() + ALL_PROMPTED_WITHIN_MS;
    while (this.#acknowledged.size < NUMBERS.length) {
      if (Date.now() > givenUpAtMs)
        throw new NotInTime('It took too long until all were prompted.');
      await sleep(50);
    }
  }

  /** After {@link prompt}: the owners consent, and the fault begins. */
  async play(): Promise<Findings> {
    const { seconds } = this.#settings;
    this.#isFaulty = true;
    const startedAtMs = Date.now();
    await this.#fault.begin?.(this);
    this.#doConsent = true;
    await sleep(seconds * 1000);
    await this.#fault.end?.(this);
    this.#isFaulty = false;
    const endedAtMs = Date.now();
    const givingUp = setTimeout(() => this.#over.abort(), GIVES_UP_AFTER_MS);
    await this.#pursuing;
    clearTimeout(givingUp);
    const broken = this.#brokenLookups();
    const owners = [...this.#promptedAtMs].map(([number, all]) => ({
      all: all.length,
      inFault: all.filter((at) => at < endedAtMs).length,
      broken: broken.get(auditHash(AUDIT_KEY, number)) ?? 0,
    }));
    const counted = this.#books.counts([
      'tokensUsedTwice',
      'tokensNeverIssued',
      'tokensPastTheirEnd',
      'promptsWhileOneLived',
    ]);
    const tooMany = owners.filter((owner) => owner.all > this.#fault.prompts + owner.broken);
    return {
      owners: owners.length,
      promptsInFault: Math.max(...owners.map(({ inFault }) => inFault)),
      prompts: Math.max(...owners.map(({ all }) => all)),
      brokenLookups: [...broken.values()].reduce((sum, some) => sum + some, 0),
      lookups: this.#lookups,
      answered: this.#answers.size,
      secondsToLast: (Math.max(...this.#answers.values()) - startedAtMs) / 1000,
      wrong: {
        ...counted,
        wrongAnswers: this.#wrongAnswers,
        answeredAndBilledAgain: Math.max(0, this.#books.lookups - NUMBERS.length),
        unanswered: NUMBERS.length - this.#answers.size,
        secondPromptsInFault: owners.filter((owner) => owner.inFault > 1 + owner.broken).length,
        promptsTooMany: tooMany.length,
      },
    };
  }

  /** How many lookups have a line `before` and none `after`, by the hash of their number. */
  #brokenLookups(): ReadonlyMap<string, number> {
    const broken = new Map<string, number>();
    if (this.#fault.needsRedis !== true) return broken;
    const logs = this.replicas.map(({ auditLog }) => auditLog).filter((log) => existsSync(log));
    for (const line of logs.flatMap((log) => readFileSync(log, 'utf8').trim().split('\n'))) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service's own line
      const { audit, event, number } = JSON.parse(line) as AuditEntry;
      if (event !== 'lookup' || (audit !== 'before' && audit !== 'after')) continue;
      broken.set(number, (broken.get(number) ?? 0) + (audit === 'before' ? 1 : -1));
    }
    return broken;
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.killNoMore();
    for (const { program } of this.replicas) await program[Symbol.asyncDispose]();
    await this.#authHost?.[Symbol.asyncDispose]();
    await this.#lookupHost?.[Symbol.asyncDispose]().catch(() => undefined);
  }

  killNowAndThen(): void {
    this.#killing = this.#kill();
  }

  async killNoMore(): Promise<void> {
    this.#kills.abort();
    await this.#killing;
  }

  async #kill(): Promise<void> {
    const { signal } = this.#kills;
    for (let n = 0; ; n += 1) {
      // The tokens have arrived before the first.
      await sleep(KILLED_EVERY_MS, undefined, { signal }).catch(() => undefined);
      const replica = this.replicas[n % this.replicas.length];
      if (signal.aborted || replica === undefined) return;
      replica.url = undefined;
      await replica.program[Symbol.asyncDispose]();
      replica.program = this.#launch(replica.auditLog);
      replica.url = await replica.program.serves();
    }
  }

  #launch(auditLog: string): Program {
    const { redisUrl } = this.#settings;
    const shared = { REDIS_URL: redisUrl ?? '', STATE_KEY: this.#stateKey };
    return Program.node(['src/main.ts'], {
      ...UNLIMITED_PROMPTS,
      ...(redisUrl === undefined ? {} : shared),
      PORT: '0',
      OPERATOR_AUTH_URL: this.#authHost?.url ?? '',
      OPERATOR_SIM_SWAP_URL: this.#lookupHost?.url ?? '',
      OPERATOR_CLIENT_ID: 'one-prompt',
      OPERATOR_CLIENT_SECRET: 'one-prompt',
      OPERATOR_FLOW: '3-legged',
      AUDIT_LOG: auditLog,
      AUDIT_KEY,
      CONSENT_WAIT_MS: '1500',
    });
  }

  async #pursue(number: string, n: number, over: AbortSignal): Promise<void> {
    const query = `{ phoneNumber(e164: "${number}") { simSwappedWithin(maxAgeHours: 24) } }`;
    for (let turn = n; !over.aborted; turn += 1) {
      const { url } = this.replicas[turn % this.replicas.length] ?? {};
      const hangs = AbortSignal.timeout(HANGS_AFTER_MS);
      const asking = url === undefined ? undefined : askAt(url, query, {}, {}, hangs);
      const reply = await asking?.catch(() => undefined);
      const answer: unknown = reply?.data?.phoneNumber?.simSwappedWithin;
      if (answer === true) this.#wrongAnswers += 1;
      if (typeof answer === 'boolean') {
        this.#answers.set(number, Date.now());
        return;
      }
      const [{ extensions } = {}] = reply?.errors ?? [];
      const seconds = extensions?.retryAfterSeconds ?? 1;
      if (isPolled(extensions)) this.#acknowledged.add(number);
      await sleep(seconds * 1000, undefined, { signal: over }).catch(() => undefined);
    }
  }

  #serve(received: Received, response: ServerResponse): void {
    this.#books.came(received);
    const [status, body, retryAfterSeconds] = this.#answer(received);
    this.#books.answered(received, status, JSON.stringify(body));
    if (retryAfterSeconds !== undefined) {
      response.setHeader('retry-after', String(retryAfterSeconds));
    }
    answerJson(received, response, body, status);
  }

  #answer(
    received: Received,
  ): readonly [status: number, body: unknown, retryAfterSeconds?: number | undefined] {
    switch (askedOf(received.path)) {
      case 'prompts': {
        const hint = new URLSearchParams(received.body).get('login_hint') ?? '';
        const number = hint.replace('tel:', '');
        const before = this.#promptedAtMs.get(number) ?? [];
        this.#promptedAtMs.set(number, [...before, Date.now()]);
        const auth_req_id = `consent-${received.correlator}`;
        return [200, { auth_req_id, expires_in: 240, interval: INTERVAL_SECONDS }];
      }
      case 'tokens': {
        if (!this.#doConsent) return [400, { error: 'authorization_pending' }];
        const access_token = `token-${received.correlator}`;
        return [200, { access_token, token_type: 'Bearer', expires_in: 600 }];
      }
      case 'lookups': {
        this.#lookups += 1;
        const { refusal } = this.#fault;
        if (!this.#isFaulty || refusal === undefined) return [200, { swapped: false }];
        const { status, retryAfterSeconds } = refusal;
        return [status, { status, code: 'UNAVAILABLE', message: '' }, retryAfterSeconds];
      }
    }
  }
}

/** Whether the prompt is acknowledged: an exchange under way says a second, and one in doubt minutes. */
function isPolled({ code, retryAfterSeconds = 0 }: ReplyError['extensions'] = {}): boolean {
  return (
    code === 'CONSENT_PENDING' && retryAfterSeconds > 1 && retryAfterSeconds <= INTERVAL_SECONDS
  );
}

/** From now on each write to it finds no room. */
function fillUp(auditLog: string): void {
  const full = `${auditLog}.full`;
  symlinkSync('/dev/full', full);
  if (existsSync(auditLog)) renameSync(auditLog, `${auditLog}.before`);
  renameSync(full, auditLog);
}

function firstFree(pid: number): number {
  const used = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let free = 0;
  while (used.has(free)) free += 1;
  return free;
}

function limit(pid: number, descriptors: number): void {
  spawnSync('prlimit', ['--pid', String(pid), `--nofile=${descriptors}:`]);
}
