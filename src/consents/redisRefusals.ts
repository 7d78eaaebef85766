import type { Clock } from '../system/clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Operation } from '../domain/question.ts';
import { bucketOf, keyIn, unlessLost, type Redis } from '../sharedState/redis.ts';
import { adoptRenamed, type StateSeals } from '../sharedState/stateSeals.ts';
import { leftOf, type ByOperation, type OperatorRefusals } from './consentStore.ts';

/** The longest delay after which another replica's refusal is known. */
const LOOK_EVERY_MS = 1000;
/** The master that holds refusals may be lost while the number's master answers. */
const LOOK_TIMEOUT_MS = 250;

export interface RedisRefusalsSettings {
  readonly seals: StateSeals;
  readonly operator: string;
}

/**
 * The refusals for any number of processes. They apply to all numbers, so they are on one master: replicas read them
 * once a second, and while that master is lost they use the latest reply.
 */
export class RedisRefusals implements OperatorRefusals {
  readonly #redis: Redis;
  readonly #clock: Clock;
  readonly #settings: RedisRefusalsSettings;
  /** Under each seal: values under the others are moved to the first. */
  readonly #keys: readonly string[];
  /** By our own clock. */
  #refusedUntilMs: ByOperation = { 'retrieve-date': 0, check: 0 };
  /** 1 where refusals are noted, which an answered lookup ends. */
  #noted: ByOperation = { 'retrieve-date': 0, check: 0 };
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  constructor(redis: Redis, clock: Clock, settings: RedisRefusalsSettings) {
    const { seals, operator } = settings;
    this.#redis = redis;
    this.#clock = clock;
    this.#settings = settings;
    const bucket = bucketOf(operator, 'refusals');
    this.#keys = seals.all.map((seal) =>
      keyIn(bucket, 'refusals', seal.name('refusals', operator)),
    );
  }

  async refuse(
    number: PhoneNumber,
    operation: Operation,
    afterNumbers: number,
    forMs: number,
  ): Promise<void> {
    const { seals, operator } = this.#settings;
    const names = seals.all.map((seal) => seal.name(operator, number));
    const values = [operation, Math.ceil(forMs), afterNumbers, ...names];
    await this.#redis.run(NOTE, this.#keys, values);
    await this.#look();
  }

  /** Most answers follow no refusal within the last second, and take no command. */
  async answered(operation: Operation): Promise<void> {
    if (this.#noted[operation] === 0) return;
    this.#noted = { ...this.#noted, [operation]: 0 };
    await this.#redis.run(FORGET, this.#keys, [operation]);
  }

  async leftMs(): Promise<ByOperation> {
    if (this.#clock.monotonicMs() - this.#lookedAtMs >= LOOK_EVERY_MS) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    }
    await this.#looking;
    return leftOf(this.#refusedUntilMs, this.#clock.monotonicMs());
  }

  async #look(): Promise<void> {
    const sentAtMs = this.#clock.monotonicMs();
    this.#lookedAtMs = sentAtMs;
    const reply = await this.#redis.run(LOOK, this.#keys, [], LOOK_TIMEOUT_MS).catch(unlessLost);
    if (!Array.isArray(reply)) return;
    const [date = 0, check = 0, dateNoted = 0, checkNoted = 0] = reply.map(Number);
    this.#refusedUntilMs = { 'retrieve-date': sentAtMs + date, check: sentAtMs + check };
    this.#noted = { 'retrieve-date': dateNoted, check: checkNoted };
  }
}

const ADOPT = adoptRenamed(1);

/**
 * KEYS: refusals. ARGV: an operation, for how many milliseconds a refusal counts, how many numbers it takes, and the
 * number's name, followed by those that other keys give it. A field holds until when the noted numbers count, and each
 * with the count that it is for.
 */
const NOTE = `${ADOPT}
local refused = 'refused:' .. ARGV[1]
local untilMs, noted = string.match(redis.call('HGET', KEYS[1], refused) or '', '^(%d+)(.*)$')
if not untilMs or tonumber(untilMs) <= now then noted = '' end
local kind = ' ' .. ARGV[3] .. ':'
local isNoted = false
for i = 4, #ARGV do isNoted = isNoted or string.find(noted .. ' ', kind .. ARGV[i] .. ' ', 1, true) end
if not isNoted then noted = noted .. kind .. ARGV[4] end
local endMs = string.format('%.0f', now + ARGV[2])
local _, numbers = string.gsub(noted, kind, '')
if numbers >= tonumber(ARGV[3]) then
  redis.call('HSET', KEYS[1], 'refusedUntilMs:' .. ARGV[1], endMs)
  noted = kind .. ARGV[4]
end
redis.call('HSET', KEYS[1], refused, endMs .. noted)
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 'done'
`;

/** KEYS: refusals. ARGV: the operation of an answered lookup. */
const FORGET = `${ADOPT}
redis.call('HDEL', KEYS[1], 'refused:' .. ARGV[1])
return 'done'
`;

/** KEYS: refusals. Returns for how many ms retrieve-date and check are still refused, and whether any are noted. */
const LOOK = `${ADOPT}
local untilMs = redis.call('HMGET', KEYS[1], 'refusedUntilMs:retrieve-date', 'refusedUntilMs:check')
return { math.max(0, (untilMs[1] or 0) - now), math.max(0, (untilMs[2] or 0) - now),
  redis.call('HEXISTS', KEYS[1], 'refused:retrieve-date'), redis.call('HEXISTS', KEYS[1], 'refused:check') }
`;
