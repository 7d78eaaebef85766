import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { bucketOf, keyIn } from '../../sharedState/buckets.ts';
import type { Redis } from '../../sharedState/redis.ts';
import { COMMAND_TIMEOUT_MS } from '../../sharedState/sharedStateLost.ts';
import type { StateSeal } from '../../sharedState/stateSeal.ts';
import { adoptRenamed, type StateSeals } from '../../sharedState/stateSeals.ts';
import {
  WINDOW_MS,
  type Claim,
  type Claimed,
  type HourlyCounts,
  type Standing,
  type WindowOwner,
} from './hourlyCounts.ts';
import { MemoryCounts } from './memoryCounts.ts';

/** Counts are of all operators. */
const SCOPE = 'counts';

/** More may be asked than the quota allows, by as many as are counted apart. */
export const COUNTED_APART =
  'quotas are counted by each replica for itself while the shared store does not answer';

export const COUNTED_TOGETHER = 'quotas are counted by all replicas together again';

/**
 * Counts that replicas share in one Redis, under names that only the holders of STATE_KEY can make. While
 * the server of a window is away each replica counts for itself: only the first to find out waits for it.
 */
export class SharedCounts implements HourlyCounts {
  readonly #redis: Redis;
  readonly #seals: StateSeals;
  readonly #local: MemoryCounts;
  readonly #log: Log;
  /** Servers that did not answer last. */
  readonly #away = new Set<string>();
  readonly #probed = new Set<string>();

  constructor(redis: Redis, seals: StateSeals, clock: Clock, log: Log) {
    this.#redis = redis;
    this.#seals = seals;
    this.#local = new MemoryCounts(clock);
    this.#log = log;
  }

  nameOf(text: string): string {
    return nameUnder(this.#seals.current, text);
  }

  /** Its key, and behind blanks the keys that it has under other seals. */
  windowOf(whose: WindowOwner, text: string): string {
    const bucket = bucketOf(SCOPE, text);
    return this.#seals.all
      .map((seal) => keyIn(bucket, 'counts', `${whose}:${nameUnder(seal, text)}`))
      .join(' ');
  }

  async claim(window: string, claims: readonly Claim[], timeLimitMs: number): Promise<Claimed> {
    const flat = claims.flatMap(({ count, limit, member }) => [count, limit, member ?? '']);
    const reply = await this.#run(CLAIM, window, [WINDOW_MS, ...flat], timeLimitMs);
    if (reply === undefined) return this.#local.claim(window, claims);
    const [over = 0, resetMs = WINDOW_MS, ...counts] = reply;
    return {
      over: over === 0 ? undefined : over - 1,
      counts,
      resetMs,
      giveBack: async () => {
        await this.#run(GIVE_BACK, window, flat, COMMAND_TIMEOUT_MS);
      },
    };
  }

  async read(window: string, counts: readonly string[], timeLimitMs: number): Promise<Standing> {
    const reply = await this.#run(READ, window, [WINDOW_MS, ...counts], timeLimitMs);
    if (reply === undefined) return this.#local.read(window, counts);
    const [resetMs = WINDOW_MS, ...found] = reply;
    return { counts: found, resetMs };
  }

  /** Runs a script on a window; `undefined` when Redis is away. Never rejects. */
  async #run(
    script: string,
    window: string,
    values: readonly (string | number)[],
    timeLimitMs: number,
  ): Promise<readonly number[] | undefined> {
    const keys = window.split(' ');
    const [key = ''] = keys;
    const server = this.#redis.serverOf(key);
    if (this.#away.has(server)) {
      if (!this.#probed.has(server)) void this.#probe(server, key);
      return undefined;
    }
    const timeoutMs = Math.min(timeLimitMs, COMMAND_TIMEOUT_MS);
    if (timeoutMs <= 0) return undefined;
    try {
      return numbersOf(await this.#redis.run(script, keys, values, timeoutMs));
    } catch {
      if (!this.#away.has(server)) this.#log.warn(COUNTED_APART, { host: server });
      this.#away.add(server);
      return undefined;
    }
  }

  async #probe(server: string, key: string): Promise<void> {
    this.#probed.add(server);
    const isBack = await this.#redis.run('return 1', [key]).then(
      () => true,
      () => false,
    );
    if (isBack) {
      this.#away.delete(server);
      this.#log.info(COUNTED_TOGETHER, { host: server });
    }
    this.#probed.delete(server);
  }
}

function nameUnder(seal: StateSeal, text: string): string {
  return seal.name('counts', text);
}

function numbersOf(reply: unknown): readonly number[] {
  return Array.isArray(reply) ? reply.map(Number) : [];
}

const ADOPT = adoptRenamed(1);

/**
 * A window is a hash: its counts by their names, and how many claims name each member. It ends as a whole.
 *
 * KEYS: the window. ARGV: windowMs; for each claim its count, its limit and its member or ''.
 * Returns the place of the claim that is over or 0, the time left, and the counts.
 */
const CLAIM = `${ADOPT}
local left = redis.call('PTTL', KEYS[1])
local counts, raised, over = {}, {}, 0
for i = 2, #ARGV, 3 do
  local count = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '0')
  local isNew = ARGV[i + 2] == '' or redis.call('HEXISTS', KEYS[1], ARGV[i + 2]) == 0
  if isNew and count >= tonumber(ARGV[i + 1]) and over == 0 then over = (i + 1) / 3 end
  counts[#counts + 1] = count
  raised[#raised + 1] = isNew
end
if over == 0 then
  for i = 2, #ARGV, 3 do
    local place = (i + 1) / 3
    if raised[place] then counts[place] = redis.call('HINCRBY', KEYS[1], ARGV[i], 1) end
    if ARGV[i + 2] ~= '' then redis.call('HINCRBY', KEYS[1], ARGV[i + 2], 1) end
  end
  if left < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
end
if left < 0 then left = ARGV[1] end
return { over, left, unpack(counts) }
`;

/** KEYS: the window. ARGV: for each claim its count, its limit and its member or ''. */
const GIVE_BACK = `${ADOPT}
local function lower(count)
  if tonumber(redis.call('HGET', KEYS[1], count) or '0') > 0 then redis.call('HINCRBY', KEYS[1], count, -1) end
end
for i = 1, #ARGV, 3 do
  if ARGV[i + 2] == '' then
    lower(ARGV[i])
  else
    local claimedBy = tonumber(redis.call('HGET', KEYS[1], ARGV[i + 2]) or '0')
    if claimedBy > 1 then
      redis.call('HINCRBY', KEYS[1], ARGV[i + 2], -1)
    elseif claimedBy == 1 then
      redis.call('HDEL', KEYS[1], ARGV[i + 2])
      lower(ARGV[i])
    end
  end
end
return {}
`;

/** KEYS: the window. ARGV: windowMs, names of counts. Returns the time left and the counts. */
const READ = `${ADOPT}
local left = redis.call('PTTL', KEYS[1])
if left < 0 then left = ARGV[1] end
local found = { left }
for i = 2, #ARGV do found[i] = redis.call('HGET', KEYS[1], ARGV[i]) or '0' end
return found
`;
