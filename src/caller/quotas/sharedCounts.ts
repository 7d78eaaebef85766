import { randomUUID } from 'node:crypto';
import { setImmediate as afterReads } from 'node:timers/promises';
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
  'Each replica counts quotas by itself while the shared store does not reply.';

export const COUNTED_TOGETHER = 'All replicas count quotas together again.';

/** Claims, give-backs and readings: everything that one script does to a window, in order. */
interface Operation extends PromiseWithResolvers<Outcome | undefined> {
  /** When the window of what is given back was opened, or `''`; each claim's count, limit, and member or `''`. */
  readonly text: readonly [opened: string, claims: readonly (readonly [string, number, string])[]];
  /** The counts that its outcome includes. */
  readonly shown: readonly string[];
  readonly cameAtMs: number;
  /** No request waits for it any longer: it is not sent. */
  isDropped: boolean;
}

/** A window after a script. */
interface Seen {
  readonly atMs: number;
  readonly resetMs: number;
  readonly opened: string;
  readonly shown: ReadonlyMap<string, number>;
}

interface Outcome extends Pick<Claimed, 'over' | 'counts'> {
  readonly seen: Seen;
}

/** The most operations of one script: a larger one would delay other callers. */
const MAX_OPERATIONS = 100;

/** A script wakes Redis and this process, which costs more than its claims: those of two milliseconds are one. */
const BETWEEN_SCRIPTS_MS = 2;

/** How far a standing may lag behind other replicas; an answer this soon after its claim needs no further script. */
const SEEN_FOR_MS = 1000;

/**
 * Counts that replicas share in one Redis, under names that only holders of STATE_KEY can make. The operations that
 * arrive for one window in one turn of the event loop, while a script for it is under way, or within two milliseconds
 * after it began, form the next script. While the server of a window is away or full, each replica counts by itself, and
 * only the first script waits for the server.
 */
export class SharedCounts implements HourlyCounts {
  readonly #redis: Redis;
  readonly #seals: StateSeals;
  readonly #local: MemoryCounts;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Servers that did not answer, and whether they are being probed. */
  readonly #away = new Map<string, boolean>();
  /** For each window with a script under way, the operations for the next one, and the end of all of them. */
  readonly #running = new Map<
    string,
    { readonly waiting: Operation[]; readonly ended: Promise<void> }
  >();
  /** Windows after the scripts of the last second, the oldest first. */
  readonly #seen = new Map<string, Seen>();

  constructor(redis: Redis, seals: StateSeals, clock: Clock, log: Log) {
    this.#redis = redis;
    this.#seals = seals;
    this.#local = new MemoryCounts(clock);
    this.#clock = clock;
    this.#log = log;
  }

  /** Its name, followed by its names under other seals, one per line. */
  nameOf(text: string): string {
    return this.#seals.all.map((seal) => seal.name('counts', text)).join('\n');
  }

  /** Its key, followed by its keys under other seals, separated by blanks. */
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
    shown: readonly string[] = [],
  ): Promise<Claimed> {
    if (timeLimitMs <= 0) return this.#local.claim(window, claims);
    const texts = claims.map(({ count, limit, member = '' }) => [count, limit, member] as const);
    const giveBack = async ({ seen: { opened } }: Outcome): Promise<void> => {
      await this.#inNextScript(window, [opened, texts], shown).promise;
    };
    const claiming = this.#inNextScript(window, ['', texts], shown);
    const outcome = await this.#inTime(claiming, timeLimitMs);
    if (outcome === undefined) {
      // The claim was counted in this process. If it was sent and still arrives, it is given back in Redis.
      void claiming.promise.then((late) =>
        late === undefined || late.over !== undefined ? undefined : giveBack(late),
      );
      return this.#local.claim(window, claims);
    }
    const { over, counts, seen } = outcome;
    return { over, counts, resetMs: seen.resetMs, giveBack: () => giveBack(outcome) };
  }

  async read(window: string, names: readonly string[], timeLimitMs: number): Promise<Standing> {
    let seen = this.#lately(window, names);
    if (seen === undefined && timeLimitMs > 0) {
      const reading = this.#inNextScript(window, ['', []], names);
      seen = (await this.#inTime(reading, timeLimitMs))?.seen;
    }
    if (seen === undefined) return this.#local.read(window, names);
    const { atMs, resetMs, shown } = seen;
    return {
      counts: names.map((name) => shown.get(name) ?? 0),
      resetMs: resetMs - (this.#clock.monotonicMs() - atMs),
    };
  }

  /** Resolves once no script is under way: claims of requests that have ended are given back. */
  async close(): Promise<void> {
    while (this.#running.size > 0) {
      await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    }
  }

  #lately(window: string, names: readonly string[]): Seen | undefined {
    const seen = this.#seen.get(window);
    if (seen === undefined || this.#isOld(seen)) return undefined;
    return names.every((name) => seen.shown.has(name)) ? seen : undefined;
  }

  #note(window: string, seen: Seen): void {
    // Moved to the end, as the newest.
    this.#seen.delete(window);
    if (seen.shown.size > 0) this.#seen.set(window, seen);
    for (const [oldest, before] of this.#seen) {
      if (!this.#isOld(before)) break;
      this.#seen.delete(oldest);
    }
  }

  #isOld({ atMs }: Seen): boolean {
    return this.#clock.monotonicMs() - atMs > SEEN_FOR_MS;
  }

  /** The outcome is `undefined` when Redis is away. */
  #inNextScript(window: string, text: Operation['text'], shown: readonly string[]): Operation {
    const cameAtMs = this.#clock.monotonicMs();
    const coming = Promise.withResolvers<Outcome | undefined>();
    const operation = { text, shown, cameAtMs, isDropped: false, ...coming };
    const running = this.#running.get(window);
    if (running === undefined) {
      const waiting = [operation];
      this.#running.set(window, { waiting, ended: this.#runAll(window, waiting) });
    } else running.waiting.push(operation);
    return operation;
  }

  /** Waits no longer than the request may. A short limit does not mark Redis as away: the script has a whole second. */
  async #inTime(operation: Operation, timeLimitMs: number): Promise<Outcome | undefined> {
    const { promise } = operation;
    if (timeLimitMs >= COMMAND_TIMEOUT_MS) return promise;
    const outcome = await withinTime(this.#clock, timeLimitMs, promise, undefined);
    operation.isDropped = outcome === undefined;
    return outcome;
  }

  async #runAll(window: string, waiting: Operation[]): Promise<void> {
    // Later than in this tick: requests whose bytes are read in one turn share one script.
    await afterReads();
    while (waiting.length > 0) {
      const nextAtMs = this.#clock.monotonicMs() + BETWEEN_SCRIPTS_MS;
      const operations = waiting.splice(0, MAX_OPERATIONS).filter(({ isDropped }) => !isDropped);
      const outcomes = operations.length === 0 ? [] : await this.#run(window, operations);
      for (const [place, { resolve }] of operations.entries()) resolve(outcomes[place]);
      const earlyMs = nextAtMs - this.#clock.monotonicMs();
      if (earlyMs > 0 && waiting.length < MAX_OPERATIONS) await this.#clock.sleep(earlyMs);
    }
    this.#running.delete(window);
  }

  /** No outcomes when Redis is away; never rejects. The first operation waits for at most a second in all. */
  async #run(window: string, operations: readonly Operation[]): Promise<readonly Outcome[]> {
    const names = window.split(' ');
    const [key = ''] = names;
    const server = this.#redis.serverOf(key);
    if (this.#away.has(server)) {
      if (this.#away.get(server) === false) void this.#probe(server, key);
      return [];
    }
    // A script that arrives twice runs once.
    const id = randomUUID();
    const keys = names.flatMap((name) => [name, `${name}:${id}`]);
    const shown = [...new Set(operations.flatMap((one) => one.shown))];
    const texts = JSON.stringify(operations.map(({ text }) => text));
    const nowMs = this.#clock.monotonicMs();
    const timeLimitMs = COMMAND_TIMEOUT_MS - (nowMs - (operations[0]?.cameAtMs ?? nowMs));
    try {
      const values = [WINDOW_MS, texts, ...shown];
      const reply = await this.#redis.run(OPERATE, keys, values, timeLimitMs);
      const [state = '', ...lines] = String(reply).split('\n');
      const [resetText, opened = '', ...counts] = state.split(' ');
      const seen = {
        atMs: this.#clock.monotonicMs(),
        resetMs: Number(resetText),
        opened,
        shown: new Map(shown.map((name, place) => [name, Number(counts[place])])),
      };
      this.#note(window, seen);
      return lines.map((line) => {
        const [over = 0, ...found] = line.split(' ').map(Number);
        return { seen, over: over === 0 ? undefined : over - 1, counts: found };
      });
    } catch {
      if (!this.#away.has(server)) {
        this.#log.warn(COUNTED_APART, { host: server });
        this.#away.set(server, false);
      }
      return [];
    }
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

/** Probes by a write, since a server that is full is not back. KEYS: a key of its own. */
const PROBE = `
redis.call('HSET', KEYS[1], 'probe', 1)
redis.call('PEXPIRE', KEYS[1], 1000)
return 1
`;

/**
 * A window is a hash: its counts by name, the number of claims of each member, and when it was opened, which distinguishes it
 * from the next one. It ends as a whole. A script that arrives twice runs once: its result is under the second key.
 *
 * KEYS: the window, the result. ARGV: windowMs; the operations as JSON; names of counts to show.
 * Returns lines: the time left, when the window was opened, and the counts to show; then for each operation the place of the
 * claim that is over or 0, and its counts.
 */
const OPERATE = `${adoptRenamed(2)}
local window = KEYS[1]
local known = redis.call('HGET', KEYS[2], 'result')
if known then return known end
local left = redis.call('PTTL', window)
local opened = redis.call('HGET', window, 'opened') or '0'

-- Read once, and written at the end.
local values, changed = {}, {}
local function valueOf(name)
  values[name] = values[name] or tonumber(redis.call('HGET', window, name) or '0')
  return values[name]
end
local function add(name, value)
  values[name], changed[name] = valueOf(name) + value, true
end

-- From here on claims use current names, with the counts and members under the older ones.
local function adopted(names)
  if not string.find(names, '\\n', 1, true) then return names end
  local current
  for name in string.gmatch(names, '[^\\n]+') do
    current = current or name
    if name ~= current and valueOf(name) > 0 then
      add(current, valueOf(name))
      add(name, -valueOf(name))
    end
  end
  return current
end

-- All of an operation's claims are made, or none.
local function claim(claims)
  local result, raised = { 0 }, {}
  for place, one in ipairs(claims) do
    local count, limit, member = one[1], one[2], one[3]
    result[place + 1] = valueOf(count)
    raised[place] = member == '' or valueOf(member) == 0
    if raised[place] and valueOf(count) >= limit and result[1] == 0 then result[1] = place end
  end
  if result[1] > 0 then return result end
  for place, one in ipairs(claims) do
    if raised[place] then
      add(one[1], 1)
      result[place + 1] = valueOf(one[1])
    end
    if one[3] ~= '' then add(one[3], 1) end
  end
  if left < 0 and #claims > 0 then
    opened, left = nowText, tonumber(ARGV[1])
    redis.call('HSET', window, 'opened', opened)
    redis.call('PEXPIRE', window, left)
  end
  return result
end

-- A member of other claims stays counted.
local function giveBack(claims)
  for _, one in ipairs(claims) do
    local count, member = one[1], one[3]
    local claimedBy = member == '' and 1 or valueOf(member)
    if member ~= '' and claimedBy > 0 then add(member, -1) end
    if claimedBy == 1 and valueOf(count) > 0 then add(count, -1) end
  end
  return { 0 }
end

local lines = { '' }
for _, operation in ipairs(cjson.decode(ARGV[2])) do
  local from, claims = operation[1], operation[2]
  local result = { 0 }
  -- A later window has nothing to give back.
  if from == '' or tonumber(from) == tonumber(opened) then
    for _, one in ipairs(claims) do one[1], one[3] = adopted(one[1]), adopted(one[3]) end
    result = from == '' and claim(claims) or giveBack(claims)
  end
  lines[#lines + 1] = table.concat(result, ' ')
end
local kept, gone = { 'HSET', window }, { 'HDEL', window }
for name in pairs(changed) do
  if values[name] > 0 then
    kept[#kept + 1], kept[#kept + 2] = name, values[name]
  else
    gone[#gone + 1] = name
  end
end
for _, command in ipairs({ kept, gone }) do
  if #command > 2 then redis.call(unpack(command)) end
end
local state = { left < 0 and ARGV[1] or left, opened }
for i = 3, #ARGV do state[i] = valueOf(ARGV[i]) end
lines[1] = table.concat(state, ' ')
local result = table.concat(lines, '\\n')
redis.call('HSET', KEYS[2], 'result', result)
redis.call('PEXPIRE', KEYS[2], ${RESULT_MS})
return result
`;
