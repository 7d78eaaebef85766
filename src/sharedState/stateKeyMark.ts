import type { Log } from '../log/log.ts';
import { unlessLost, type Redis } from './redis.ts';
import type { StateSeals } from './stateSeals.ts';

/** Not a name that a key makes: all replicas find it. */
const MARK = 'sim-swap:state-key';

const LEAVE_MARK = `
local before = redis.call('HGET', KEYS[1], 'mark')
redis.call('HSET', KEYS[1], 'mark', ARGV[1])
return before
`;

/**
 * Warns where the replica that started last has none of these keys: neither finds the consents of the other, and both
 * prompt the same owners. Never rejects.
 */
export async function compareStateKeys(
  redis: Pick<Redis, 'run'>,
  { all, current }: StateSeals,
  log: Log,
): Promise<void> {
  const before = await redis.run(LEAVE_MARK, [MARK], [current.name('mark')]).catch(unlessLost);
  const isKnown = all.some((seal) => seal.name('mark') === before);
  if (typeof before === 'string' && !isKnown) log.warn(OTHER_KEY, { setting: 'STATE_KEY' });
}

const OTHER_KEY =
  'The replica that started last has another STATE_KEY: neither finds what the other has written, and owners may be prompted by both. Give all replicas the same one, and change it in three steps.';
