import { adoptRenamed } from '../sharedState/stateSeals.ts';

/**
 * What keeping facts does inside Redis, each in one step. Times are Redis's own, in milliseconds.
 *
 * Under one key lies a hash: for each fact a name, and its end before what is sealed. That end is for
 * clearing away; the one that counts is sealed.
 */

const ADOPT = adoptRenamed(1);

/**
 * KEYS: facts. ARGV: name, end, sealed fact, how many may lie there, whether it is `heard` or `unheard`, and what else
 * the fact may be named. An unheard fact takes no place of its own: the one that lies there may have been heard.
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

/** KEYS: facts. Returns the time, then names and sealed facts in turn. */
export const RECALL = `${ADOPT}
local found = { nowText }
local kept = redis.call('HGETALL', KEYS[1])
for i = 1, #kept, 2 do
  table.insert(found, kept[i])
  table.insert(found, string.match(kept[i + 1], '^%d+ (.+)$') or '')
end
return found
`;
