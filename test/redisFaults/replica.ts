import { setTimeout as sleep } from 'node:timers/promises';
import { SharedCounts } from '../../src/caller/quotas/sharedCounts.ts';
import { ConsentLedger, type LedgerOperator } from '../../src/consents/consentLedger.ts';
import { MemoryRefusals } from '../../src/consents/consentStore.ts';
import { acknowledged, type ConsentRules } from '../../src/consents/consentRecord.ts';
import { RedisConsentStore } from '../../src/consents/redisConsentStore.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { createRedis, RedisClient } from '../../src/sharedState/redisClient.ts';
import {
  OutOfMemory,
  SharedStateLost,
  unlessLost,
  type Redis,
  type RedisSettings,
  type TimedValues,
} from '../../src/sharedState/redis.ts';
import type { SharedRedis } from '../../src/sharedState/sharedRedis.ts';
import { StateSeals } from '../../src/sharedState/stateSeals.ts';
import { systemClock } from '../../src/system/clock.ts';
import { OperatorBooks } from '../support/operatorBooks.ts';
import type { Random } from '../support/random.ts';
import { silentLog } from '../support/silentLog.ts';

/** How long a prompt lives. */
export const LIFE_MS = 3000;
/** Tolerance: a prompt's end is known no more exactly. */
const WAY_MS = 200;
const PAUSE_MS = 5;
const AT_ONCE = 8;
const NUMBERS = 1000;
const WINDOWS = 64;
const ASKER = 'asker';
const RULES: ConsentRules = {
  doubtMs: LIFE_MS + 1000,
  deniedMs: 1000,
  failureMs: 1000,
  resultMs: 1,
  leaseMs: 2000,
  firstPoll: 'after-interval',
};

/** The results of a replica's commands. */
export interface CommandCounts {
  commands: number;
  /** Rejected without an effect: Redis was full. */
  refused: number;
  /** Rejected, perhaps with an effect. */
  toldAsLost: number;
  /** When the last of both was. */
  lastFailedAtMs: number;
}

/** The owners who were prompted, by all replicas. */
export class Phones extends OperatorBooks {
  constructor() {
    super({ nowMs: () => performance.now(), endingMs: WAY_MS });
  }

  ring(number: string): void {
    const asked = { at: '', number, scope: '', caller: ASKER };
    for (const offence of this.prompt(asked)) this.offend(offence, number);
    const endsAtMs = performance.now() + LIFE_MS;
    this.acknowledged(String(this.consents.size), { ...asked, endsAtMs, intervalMs: 0 });
  }
}

const OPERATOR: LedgerOperator = {
  identity: 'one',
  refusals: new MemoryRefusals(systemClock),
  rules: RULES,
  exchangeMs: 500,
};

/** Uses a shared store as one process of the service does, for consents and quotas. */
export class Replica {
  readonly counts: CommandCounts = { commands: 0, refused: 0, toldAsLost: 0, lastFailedAtMs: 0 };
  /** By the window of a quota, the claims that Redis acknowledged, and those that it may have counted. */
  readonly claimed = new Map<string, { acknowledged: number; unknown: number }>();
  readonly #redis: SharedRedis;
  readonly #store: RedisConsentStore;
  readonly #quotas: SharedCounts;
  readonly #phones: Phones;
  readonly #random: Random;
  readonly #ledgers = new Map<string, ConsentLedger>();
  readonly #closing = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(settings: RedisSettings, seals: StateSeals, phones: Phones, random: Random) {
    this.#phones = phones;
    this.#random = random;
    this.#redis = createRedis(settings, systemClock, silentLog);
    const counted = this.#counted(this.#redis);
    const parts = { ...RULES, seals };
    this.#store = new RedisConsentStore(counted, systemClock, parts);
    this.#quotas = new SharedCounts(counted, seals, systemClock, silentLog);
  }

  async start(): Promise<void> {
    await this.#store.open();
    await this.#untilAnswered();
    Object.assign(this.counts, { commands: 0, refused: 0, toldAsLost: 0, lastFailedAtMs: 0 });
    this.#running = Promise.all(Array.from({ length: AT_ONCE }, () => this.#work()));
  }

  renew(settings: RedisSettings): Promise<void> {
    return this.#redis.renew(new RedisClient(settings, systemClock, silentLog));
  }

  async stop(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  /** What Redis has counted of a quota's window. */
  async countOf(window: string): Promise<number> {
    const { counts } = await this.#quotas.read(window, ['numbers'], 1000);
    return counts[0] ?? 0;
  }

  close(): void {
    this.#redis.close();
  }

  async #untilAnswered(): Promise<void> {
    while (!(await this.#redis.run('return 1', ['ready']).then(Boolean, () => false))) {
      await sleep(PAUSE_MS);
    }
  }

  async #work(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      await this.#claimQuota();
      await this.#askOwner();
      await sleep(PAUSE_MS);
    }
  }

  async #claimQuota(): Promise<void> {
    const window = this.#quotas.windowOf('caller', String(this.#random.below(WINDOWS)));
    const claims = this.claimed.get(window) ?? { acknowledged: 0, unknown: 0 };
    this.claimed.set(window, claims);
    await this.#quotas.claim(window, [{ count: 'numbers', limit: 1e9 }], 1000);
  }

  async #askOwner(): Promise<void> {
    const last = String(this.#random.below(NUMBERS)).padStart(3, '0');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a number in its one form
    const number = `+447700900${last}` as PhoneNumber;
    const ledger = this.#ledgers.get(number) ?? this.#ledgerOf(number);
    this.#ledgers.set(number, ledger);
    try {
      const page = await ledger.read(OPERATOR);
      if (page.lost !== undefined) {
        await ledger.restore(page, page.lost, OPERATOR);
        return;
      }
      if (page.prompt.state !== 'free') return;
      const claim = await ledger.claimRequest(page, { operation: 'retrieve-date' }, OPERATOR);
      if (claim.kind === 'lost') void claim.takeBack().catch(unlessLost);
      if (claim.kind !== 'claimed') return;
      this.#phones.ring(number);
      const acknowledgement = { authReqId: 'x', expiresInSeconds: LIFE_MS / 1000 };
      const told = { ...acknowledgement, intervalSeconds: 60 };
      const lives = acknowledged(claim.consent, told, claim.nowMs, ledger.nowMs(), RULES);
      await ledger.learn(claim, { kind: 'lives', lives });
    } catch (error) {
      unlessLost(error);
    }
  }

  #ledgerOf(number: PhoneNumber): ConsentLedger {
    const operators = new Map([[OPERATOR.identity, OPERATOR]]);
    const { signal: closing } = this.#closing;
    const parts = { store: this.#store, rules: RULES, operators, clock: systemClock, closing };
    return new ConsentLedger(number, ASKER, parts);
  }

  #counted(redis: Redis): Redis {
    const { counts, claimed } = this;
    return {
      open: () => redis.open(),
      serverOf: (key) => redis.serverOf(key),
      onBack: (listener) => redis.onBack(listener),
      close: () => redis.close(),
      async run(script, keys, values, timeoutMs) {
        counts.commands += 1;
        const claims = claimed.get(keys[0] ?? '');
        const made = claims === undefined ? 0 : claimsIn(values);
        try {
          const reply = await redis.run(script, keys, values, timeoutMs);
          if (claims !== undefined) claims.acknowledged += made;
          return reply;
        } catch (error) {
          counts.lastFailedAtMs = performance.now();
          if (error instanceof OutOfMemory) counts.refused += 1;
          if (error instanceof SharedStateLost) {
            counts.toldAsLost += 1;
            if (claims !== undefined) claims.unknown += made;
          }
          throw error;
        }
      },
    };
  }
}

/** Those of one script of quotas, which may also read or give back. */
function claimsIn(values: TimedValues = []): number {
  const [, operations] = typeof values === 'function' ? [] : values;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as SharedCounts writes them
  const all = JSON.parse(String(operations)) as [opened: string, claims: readonly unknown[]][];
  return all.filter(([opened, claims]) => opened === '' && claims.length > 0).length;
}
