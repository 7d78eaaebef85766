import { adoptRenamed } from '../sharedState/stateSeals.ts';

/**
 * The scripts of the consent store, each atomic. The time is Redis's own.
 * Next to the records of each bucket is one key, the memory. It holds the epoch: an even number, drawn when the bucket
 * was found empty. A process that knew another epoch sees from it that the store has lost what it knew, and notes until
 * when that casts doubt on every number of the bucket. The memory counts writes as well: a process that knew of more
 * sees from it that a replica has taken over without the last ones. And it counts removals, so that a copy of a first
 * write that arrives after its record was removed no longer matches.
 */

const ADOPT = adoptRenamed(2);

/**
 * ARGV of a script that uses it: the epoch that the process knows or '', how many writes it knows of in it, and doubtMs. Reads
 * the memory, and notes a doubt where the process knows of more writes than that: `behind` is 'behind' then.
 */
const REMEMBER = `${ADOPT}
local memory = redis.call('HMGET', KEYS[2], 'epoch', 'bornMs', 'doubtUntilMs', 'writes', 'removals')
local epoch, bornMs, doubtUntilMs, removals = memory[1], memory[2], memory[3], memory[5] or '0'
local writes, behind = tonumber(memory[4] or '0'), ''
if ARGV[1] == epoch and tonumber(ARGV[2]) > writes then
  local untilMs = math.max(math.floor(now) + ARGV[3], tonumber(doubtUntilMs or '0'))
  writes, behind, doubtUntilMs = tonumber(ARGV[2]), 'behind', string.format('%.0f', untilMs)
  redis.call('HSET', KEYS[2], 'doubtUntilMs', doubtUntilMs, 'writes', ARGV[2])
end
`;

/**
 * KEYS: record, memory. ARGV: as REMEMBER has them, and a new epoch. Returns now, epoch, the end of the doubt or '', version
 * or '', sealed record or '', how many writes there were, 'behind' or '', and how many removals.
 */
export const READ = `${REMEMBER}
now = math.floor(now)
if not epoch then
  epoch, bornMs = ARGV[4], now
  redis.call('HSET', KEYS[2], 'epoch', epoch, 'bornMs', bornMs)
end
if ARGV[1] ~= '' and ARGV[1] ~= epoch and not doubtUntilMs then
  doubtUntilMs = string.format('%.0f', bornMs + ARGV[3])
  redis.call('HSET', KEYS[2], 'doubtUntilMs', doubtUntilMs)
end
local record = redis.call('HMGET', KEYS[1], 'version', 'sealed')
return { now, epoch, doubtUntilMs or '', record[1] or '', record[2] or '', writes, behind, removals }
`;

/**
 * KEYS: record, memory. ARGV: as REMEMBER has them, the version as read, the new one, the sealed record, keepMs.
 * Returns 'written', for the same write once more as well, or 'conflict', also for a process that knows of writes which are
 * lost; now, how many writes there were, and 'behind' or ''.
 * The record knows the two writes before the last, since a write may be sent again after another one has followed it.
 */
export const WRITE = `${REMEMBER}
local record = redis.call('HMGET', KEYS[1], 'version', 'earlier')
local version, earlier = record[1], record[2] or ''
if version == ARGV[5] or string.find(' ' .. earlier .. ' ', ' ' .. ARGV[5] .. ' ', 1, true) then
  return { 'written', nowText, writes, behind }
end
if behind ~= '' then return { 'conflict', nowText, writes, behind } end
if not version and epoch then
  version = string.format('%.0f', epoch + 2 * removals + (doubtUntilMs and 1 or 0))
end
if version ~= ARGV[4] then return { 'conflict', nowText, writes, behind } end
earlier = (string.match(earlier, '%d+$') or '') .. ' ' .. version
redis.call('HSET', KEYS[1], 'version', ARGV[5], 'sealed', ARGV[6], 'earlier', earlier)
redis.call('PEXPIRE', KEYS[1], ARGV[7])
return { 'written', nowText, redis.call('HINCRBY', KEYS[2], 'writes', 1), behind }
`;

/** KEYS: record, memory. ARGV: version. */
export const REMOVE = `${ADOPT}
if redis.call('HGET', KEYS[1], 'version') == ARGV[1] then
  redis.call('DEL', KEYS[1])
  redis.call('HINCRBY', KEYS[2], 'removals', 1)
end
return 'done'
`;
