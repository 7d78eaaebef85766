import type { Clock } from '../system/clock.ts';
import type { CallerKey } from '../domain/identity.ts';
import type { Fact, TimedFact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { lookupKey } from '../domain/question.ts';
import { bucketOfNumber, keyIn, OutOfMemory, texts, type Redis } from '../sharedState/redis.ts';
import { type StateSeal, type StateSeals, adoptRenamed } from '../sharedState/stateSeals.ts';
import {
  MAX_FACTS_PER_NUMBER,
  recalledFor,
  retentionMs,
  type FactCache,
  type KeptFor,
  type RecalledFacts,
} from './factCache.ts';

/*
 * Times are Redis's, in milliseconds. Each key is a hash: for each fact a name, and its end before the sealed value.
 * This end is only for removal; the one that counts is sealed.
 */

const ADOPT = adoptRenamed(1);

/**
 * KEYS: facts. ARGV: name, end, sealed fact, the maximum of facts, `heard` or `unheard`, and other names that the fact
 * may have. An unheard fact never replaces one of the same name, which may be marked.
 */
export const KEEP = `${ADOPT}
local names = { ARGV[1], unpack(ARGV, 6) }
for i, name in ipairs(names) do
  if ARGV[5] == 'unheard' and redis.call('HEXISTS', KEYS[1], name) == 1 then return 'done' end
  if i > 1 then redis.call('HDEL', KEYS[1], name) end
end
local function endOf(kept) return tonumber(string.match(kept, '^%d+') or 0) end
local kept, count, last, first, firstEnd = redis.call('HGETALL', KEYS[1]), 0, tonumber(ARGV[2]), nil, nil
for i = 1, #kept, 2 do
  local ends = endOf(kept[i + 1])
  if ends <= now then
    redis.call('HDEL', KEYS[1], kept[i])
  elseif kept[i] ~= ARGV[1] then
    count, last = count + 1, math.max(last, ends)
    if not firstEnd or ends < firstEnd then first, firstEnd = kept[i], ends end
  end
end
if count >= tonumber(ARGV[4]) then redis.call('HDEL', KEYS[1], first) end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', last))
return 'done'
`;

/** KEYS: facts. Returns the time, then names and sealed facts, alternating. */
export const RECALL = `${ADOPT}
local found = { nowText }
local kept = redis.call('HGETALL', KEYS[1])
for i = 1, #kept, 2 do
  table.insert(found, kept[i])
  table.insert(found, string.match(kept[i + 1], '^%d+ (.+)$') or '')
end
return found
`;

export interface RedisFactCacheSettings {
  readonly seals: StateSeals;
  readonly keptFor: KeptFor;
}

interface SealedFact {
  readonly fact: Fact & Pick<TimedFact, 'toldBy' | 'replyId' | 'isHeard' | 'keepMs'>;
  readonly leftAtMs: number;
  readonly repliedAtMs: number;
  /** Checked when the fact is recalled; Redis only removes it at that time. */
  readonly endsAtMs: number;
}

/**
 * The facts of any number of processes, by Redis's clock. In a cluster they lie with the number's consent: a master
 * that loses the one loses the other, which is noticed.
 * A fact and its end are sealed together: no writer without STATE_KEY can change it, move it, or bring it back after
 * its end. From one clock to another a fact is taken for older than it is, never for younger, and its reply for later,
 * never for earlier. Keeping a fact takes no command for the time, which is computed from the server's last reply.
 */
export class RedisFactCache implements FactCache {
  readonly #redis: Pick<Redis, 'run'>;
  readonly #clock: Clock;
  readonly #settings: RedisFactCacheSettings;

  constructor(redis: Pick<Redis, 'run'>, clock: Clock, settings: RedisFactCacheSettings) {
    this.#redis = redis;
    this.#clock = clock;
    this.#settings = settings;
  }

  async keep(callerKey: CallerKey, number: PhoneNumber, timedFact: TimedFact): Promise<void> {
    const { keepMs } = this.#settings.keptFor(timedFact.toldBy) ?? timedFact;
    const { leftAtMs, repliedAtMs, ...fact } = { ...timedFact, keepMs };
    const keptMs = retentionMs(timedFact, this.#settings.keptFor);
    if (leftAtMs + keptMs < this.#clock.monotonicMs()) return;
    const [seal, ...others] = this.#settings.seals.all;
    const keys = this.#keys(callerKey, number);
    // By which `isSameFact` compares.
    const identity = `${lookupKey(fact)} ${fact.replyId}`;
    const name = seal.name(identity);
    // Facts for which there is no room are looked up again.
    await this.#redis
      .run(KEEP, keys, (server) => {
        // An end that Redis computed when the command reaches it would be as late as the command is.
        const endsAtMs = leftAtMs + server.minAheadMs + keptMs;
        const kept: SealedFact = {
          fact,
          leftAtMs: leftAtMs + server.minAheadMs,
          repliedAtMs: repliedAtMs + server.maxAheadMs,
          endsAtMs,
        };
        return [
          name,
          Math.ceil(endsAtMs),
          seal.seal(JSON.stringify(kept), `${this.#key(seal, callerKey, number)} ${name}`),
          MAX_FACTS_PER_NUMBER,
          fact.isHeard ? 'heard' : 'unheard',
          ...others.map((other) => other.name(identity)),
        ];
      })
      .catch((error: unknown) => {
        if (!(error instanceof OutOfMemory)) throw error;
      });
  }

  async recall(
    callerKey: CallerKey,
    number: PhoneNumber,
    cameInAtMs: number,
  ): Promise<RecalledFacts> {
    const keys = this.#keys(callerKey, number);
    const requestedAtMs = this.#clock.monotonicMs();
    const [now, ...found] = texts(await this.#redis.run(RECALL, keys));
    const nowMs = Number(now);
    const receivedAtMs = this.#clock.monotonicMs();
    const facts: TimedFact[] = [];
    for (let i = 0; i + 1 < found.length; i += 2) {
      const [name = '', sealed = ''] = found.slice(i, i + 2);
      const placeOf = (seal: StateSeal) => `${this.#key(seal, callerKey, number)} ${name}`;
      // Only values that we sealed open, so the type is right.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const kept = this.#settings.seals.openJson(sealed, placeOf) as SealedFact | undefined;
      if (kept === undefined || kept.endsAtMs < nowMs) continue;
      const fact = {
        ...kept.fact,
        leftAtMs: requestedAtMs - (nowMs - kept.leftAtMs),
        // The reply arrived before the fact was kept, at the latest by now; the replica that kept it may have dated it
        // later.
        repliedAtMs: receivedAtMs - Math.max(0, nowMs - kept.repliedAtMs),
      };
      facts.push(fact);
    }
    return {
      ...recalledFor(facts, cameInAtMs, this.#settings.keptFor),
      recalledAtMs: requestedAtMs,
    };
  }

  #keys(callerKey: CallerKey, number: PhoneNumber): readonly string[] {
    return this.#settings.seals.all.map((seal) => this.#key(seal, callerKey, number));
  }

  #key(seal: StateSeal, { caller, purpose }: CallerKey, number: PhoneNumber): string {
    const name = seal.name('facts', number, caller.key, purpose.key);
    return keyIn(bucketOfNumber(number), 'facts-2', name);
  }
}
