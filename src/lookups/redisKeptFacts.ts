import type { Clock } from '../clock.ts';
import type { Asker } from '../domain/asker.ts';
import { lookupOf, type Fact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { lookupKey } from '../domain/question.ts';
import { bucketOf, keyIn } from '../sharedState/buckets.ts';
import type { Redis } from '../sharedState/redis.ts';
import { OutOfMemory } from '../sharedState/redisConnection.ts';
import { StateSeal } from '../sharedState/stateSeal.ts';
import {
  MAX_FACTS_PER_NUMBER,
  mayAnswer,
  retentionMs,
  type KeptFacts,
  type KeptFactsSettings,
} from './keptFacts.ts';
import type { TimedFact } from './lookupRoute.ts';
import { KEEP, NOW_MS, RECALL } from './redisKeptFactsScripts.ts';

/** What a shared store of facts needs to know. */
export interface RedisKeptFactsSettings extends KeptFactsSettings {
  /** STATE_KEY, 32 bytes. */
  readonly stateKey: Uint8Array;
  /** Whose numbers these are: the same number at another operator is another. */
  readonly operator: string;
}

/** What lies in Redis, sealed. All times are Redis's own, in milliseconds. */
interface SealedFact {
  readonly fact: Fact;
  readonly isHeard: boolean;
  readonly leftAtMs: number;
  /** Checked when the fact is recalled: what Redis itself does about its end is only tidying. */
  readonly endsAtMs: number;
}

/**
 * The facts of any number of processes, in one Redis, by Redis's clock. In a cluster they lie beside the number's consent:
 * a master that loses the one loses the other, which is noticed.
 *
 * A fact and its end are sealed together, so that neither can be changed, moved to another asker or
 * number, or be brought back after its end by a writer without STATE_KEY. Going from one clock to
 * another, a fact is taken for older than it is by the time that Redis took to reply, never for younger.
 */
export class RedisKeptFacts implements KeptFacts {
  readonly #redis: Pick<Redis, 'run'>;
  readonly #clock: Clock;
  readonly #seal: StateSeal;
  #settings: RedisKeptFactsSettings;

  constructor(redis: Pick<Redis, 'run'>, clock: Clock, settings: RedisKeptFactsSettings) {
    this.#redis = redis;
    this.#clock = clock;
    this.#seal = new StateSeal(settings.stateKey);
    this.#settings = settings;
  }

  get keepMs(): number {
    return this.#settings.keepMs;
  }

  renew(settings: KeptFactsSettings): void {
    this.#settings = { ...this.#settings, ...settings };
  }

  async keep(
    asker: Asker,
    number: PhoneNumber,
    { leftAtMs, ...fact }: TimedFact,
    isHeard: boolean,
  ): Promise<void> {
    const key = this.#key(asker, number);
    // An end that Redis computed when the command reaches it would be as late as the command is.
    const nowMs = Number(await this.#redis.run(NOW_MS, [key]));
    const leftAtStoreMs = nowMs - (this.#clock.monotonicMs() - leftAtMs);
    const endsAtMs = leftAtStoreMs + retentionMs(this.#settings);
    if (endsAtMs < nowMs) return;

    const name = this.#seal.name(identityOf(fact));
    const kept: SealedFact = { fact, isHeard, leftAtMs: leftAtStoreMs, endsAtMs };
    const sealed = this.#seal.seal(JSON.stringify(kept), `${key} ${name}`);
    // Facts that find no room are looked up again.
    await this.#redis
      .run(KEEP, [key], [name, Math.ceil(endsAtMs), sealed, MAX_FACTS_PER_NUMBER])
      .catch(unlessOutOfMemory);
  }

  async recall(
    asker: Asker,
    number: PhoneNumber,
    cameInAtMs: number,
  ): Promise<readonly TimedFact[]> {
    const key = this.#key(asker, number);
    const askedAtMs = this.#clock.monotonicMs();
    const [now, ...found] = texts(await this.#redis.run(RECALL, [key]));
    const nowMs = Number(now);
    const facts: TimedFact[] = [];
    for (let i = 0; i + 1 < found.length; i += 2) {
      const kept = this.#open(found[i + 1] ?? '', `${key} ${found[i] ?? ''}`);
      if (kept === undefined || kept.endsAtMs < nowMs) continue;
      const fact = { ...kept.fact, leftAtMs: askedAtMs - (nowMs - kept.leftAtMs) };
      if (mayAnswer({ fact, isHeard: kept.isHeard }, cameInAtMs, this.#settings)) facts.push(fact);
    }
    return facts;
  }

  /** What was not sealed by us for this place is as if it were not there. */
  #open(sealed: string, place: string): SealedFact | undefined {
    try {
      // What opens was sealed by us, as what it is.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return JSON.parse(this.#seal.open(sealed, place)) as SealedFact;
    } catch {
      return undefined;
    }
  }

  #key({ caller, purpose }: Asker, number: PhoneNumber): string {
    const { operator } = this.#settings;
    const name = this.#seal.name(operator, number, caller.key, purpose);
    return keyIn(bucketOf(operator, number), 'facts', name);
  }
}

/** As `isSameFact` has it. */
function identityOf(fact: Fact): string {
  return `${lookupKey(lookupOf(fact))} ${fact.sentAtMs}`;
}

function texts(reply: unknown): string[] {
  return Array.isArray(reply) ? reply.map(String) : [];
}

function unlessOutOfMemory(error: unknown): void {
  if (!(error instanceof OutOfMemory)) throw error;
}
