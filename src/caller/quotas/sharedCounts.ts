import { randomUUID } from 'node:crypto';
import { withinTime, type Clock } from '../../system/clock.ts';
import type { Log } from '../../log/log.ts';
import { bucketOf, COMMAND_TIMEOUT_MS, keyIn, type Redis } from '../../sharedState/redis.ts';
import { adoptRenamed, type StateSeals } from '../../sharedState/stateSeals.ts';
import {
  WINDOW_MS,
  type CountClaim,
  type Claimed,
  type HourlyCounts,
  type Standing,
} from './quotas.ts';
import { MemoryCounts } from './memoryCounts.ts';

export const COUNTED_APART =
  'quotas are counted by each replica for itself while the shared store does not answer';

export const COUNTED_TOGETHER = 'quotas are counted by all replicas together again';

/**
 * Counts that replicas share in one Redis, under names that only holders of STATE_KEY can make. While the server of a
 * window is away or full, each replica counts for itself, and only the first claim waits for the server.
 */
export class SharedCounts implements HourlyCounts {
  readonly #redis: Redis;
  readonly #seals: StateSeals;
  readonly #local: MemoryCounts;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Servers that did not answer, and whether they are being probed. */
  readonly #away = new Map<string, boolean>();

  constructor(redis: Redis, seals: StateSeals, clock: Clock, log: Log) {
    this.#redis = redis;
    this.#seals = seals;
    this.#local = new MemoryCounts(clock);
    this.#clock = clock;
    this.#log = log;
  }

  /** Its name, and on further lines its names under other seals. */
  nameOf(text: string): string {
    return this.#seals.all.map((seal) => seal.name('counts', text)).join('\n');
  }

  /** Its key, and after blanks its keys under other seals. */
  windowOf(whose: 'caller' | 'number', text: string): string {
    const bucket = bucketOf('counts', text);
    return this.#seals.all
      .map((seal) => keyIn(bucket, 'counts', `${whose}:${seal.name('counts', text)}`))
      .join(' ');
  }

  async claim(
    window: string,
    claims: readonly CountClaim[],
    timeLimitMs: number,
  ): Promise<Claimed> {
    const flat = claims.flatMap(({ count, limit, member }) => [count, limit, member ?? '']);
    const id = randomUUID();
    const claiming = this.#run(CLAIM, window, [WINDOW_MS, ...flat], timeLimitMs, id);
    const reply = await this.#inTime(claiming, timeLimitMs);
    const giveBack = async ([, , opened = 0]: readonly number[]): Promise<void> => {
      await this.#run(GIVE_BACK, window, [opened, ...flat], COMMAND_TIMEOUT_MS, `${id}:back`);
    };
    if (reply === undefined) {
      // Counted here: given back there if it still arrives.
      void claiming.then((late) => (late?.[0] === 0 ? giveBack(late) : undefined));
      return this.#local.claim(window, claims);
    }
    const [over = 0, resetMs = WINDOW_MS, , ...counts] = reply;
    return {
      over: over === 0 ? undefined : over - 1,
      counts,
      resetMs,
      giveBack: () => giveBack(reply),
    };
  }

  async read(window: string, counts: readonly string[], timeLimitMs: number): Promise<Standing> {
    const reading = this.#run(READ, window, [WINDOW_MS, ...counts], timeLimitMs);
    const reply = await this.#inTime(reading, timeLimitMs);
    if (reply === undefined) return this.#local.read(window, counts);
    const [resetMs = WINDOW_MS, ...found] = reply;
    return { counts: found, resetMs };
  }

  /** `undefined` when Redis is away; never rejects. With an `id` it runs once: its result is stored next to the window. */
  async #run(
    script: string,
    window: string,
    values: readonly (string | number)[],
    timeLimitMs: number,
    id?: string,
  ): Promise<readonly number[] | undefined> {
    if (timeLimitMs <= 0) return undefined;
    const names = window.split(' ');
    const [key = ''] = names;
    const keys = id === undefined ? names : names.flatMap((name) => [name, `${name}:${id}`]);
    const server = this.#redis.serverOf(key);
    if (this.#away.has(server)) {
      if (this.#away.get(server) === false) void this.#probe(server, key);
      return undefined;
    }
    try {
      const reply = await this.#redis.run(script, keys, values);
      const parts = typeof reply === 'string' ? reply.split(' ') : reply;
      return Array.isArray(parts) ? parts.map(Number) : [];
    } catch {
      if (!this.#away.has(server)) {
        this.#log.warn(COUNTED_APART, { host: server });
        this.#away.set(server, false);
      }
      return undefined;
    }
  }

  /** Waits no longer than the request may. A short limit does not mark Redis as away: it has a whole second. */
  #inTime<T>(running: Promise<T>, timeLimitMs: number): Promise<T | undefined> {
    return timeLimitMs >= COMMAND_TIMEOUT_MS
      ? running
      : withinTime(this.#clock, timeLimitMs, running, undefined);
  }

  async #probe(server: string, key: string): Promise<void> {
    this.#away.set(server, true);
    try {
      await this.#redis.run(PROBE, [`${key}:probe`]);
      this.#away.delete(server);
      this.#log.info(COUNTED_TOGETHER, { host: server });
    } catch {
      // The next claim probes again.
      this.#away.set(server, false);
    }
  }
}

/** How long a result is stored: longer than a script may take to arrive a second time. */
const RESULT_MS = 5 * COMMAND_TIMEOUT_MS;

/** A script that arrives twice runs once: its result is under the second key. */
const ONCE = `${adoptRenamed(2)}
local known = redis.call('HGET', KEYS[2], 'result')
if known then return known end
local function done(result)
  redis.call('HSET', KEYS[2], 'result', result)
  redis.call('PEXPIRE', KEYS[2], ${RESULT_MS})
  return result
end
`;

/** From here on claims use current names, with the counts and members under the older ones. */
const ADOPT_NAMES = `
local function adopted(names)
  local current = ''
  for name in string.gmatch(names, '[^\\n]+') do
    if current == '' then
      current = name
    else
      local count = redis.call('HGET', KEYS[1], name)
      if count then
        redis.call('HINCRBY', KEYS[1], current, count)
        redis.call('HDEL', KEYS[1], name)
      end
    end
  end
  return current
end
for i = 2, #ARGV, 3 do
  ARGV[i], ARGV[i + 2] = adopted(ARGV[i]), adopted(ARGV[i + 2])
end
`;

/** Writes: a server that is full is not back. KEYS: a key of its own. */
const PROBE = `
redis.call('HSET', KEYS[1], 'probe', 1)
redis.call('PEXPIRE', KEYS[1], 1000)
return 1
`;

/**
 * A window is a hash: its counts by name, the number of claims of each member, and when it was opened, which tells it
 * from the next one. It ends as a whole.
 *
 * KEYS: the window, the result. ARGV: windowMs; for each claim its count, its limit and its member or ''.
 * Returns the place of the claim that is over or 0, the time left, when the window was opened, and the counts.
 */
const CLAIM = `${ONCE}${ADOPT_NAMES}
local left = redis.call('PTTL', KEYS[1])
local opened = redis.call('HGET', KEYS[1], 'opened')
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
  if left < 0 then
    opened = nowText
    redis.call('HSET', KEYS[1], 'opened', opened)
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
  end
end
if left < 0 then left = ARGV[1] end
return done(table.concat({ over, left, opened or 0, unpack(counts) }, ' '))
`;

/**
 * KEYS: the window, the result. ARGV: when the window of the claims was opened; for each claim its count, its limit and
 * its member or ''. A later window has nothing to give back.
 */
const GIVE_BACK = `${ONCE}
if tonumber(redis.call('HGET', KEYS[1], 'opened') or '0') ~= tonumber(ARGV[1]) then return done('') end
${ADOPT_NAMES}
local function lower(count)
  if tonumber(redis.call('HGET', KEYS[1], count) or '0') > 0 then redis.call('HINCRBY', KEYS[1], count, -1) end
end
for i = 2, #ARGV, 3 do
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
return done('')
`;

/** KEYS: the window. ARGV: windowMs, names of counts. Returns the time left and the counts. */
const READ = `${adoptRenamed(1)}
local left = redis.call('PTTL', KEYS[1])
if left < 0 then left = ARGV[1] end
local found = { left }
for i = 2, #ARGV do found[i] = redis.call('HGET', KEYS[1], ARGV[i]) or '0' end
return found
`;
