import type { PhoneNumber } from '../../domain/phoneNumber.ts';
import { hashNumber } from './numberHash.ts';

/** What a search of the trail came to. */
export interface SearchCount {
  found: number;
  /** Lines that look like the trail's but are torn. */
  torn: number;
}

/**
 * The lines of a trail that are about a person, or in which the person asked, as they stand: for a subject
 * access request. Other lines, such as the log's on the same standard output, are passed over.
 */
export async function* findEntries(
  lines: AsyncIterable<string>,
  number: PhoneNumber,
  keys: readonly string[],
  count: SearchCount,
): AsyncGenerator<string> {
  const hashes = keys.map((key) => hashNumber(key, number));
  for await (const line of lines) {
    if (!line.includes('"audit":')) continue;
    if (!isJson(line)) count.torn += 1;
    else if (hashes.some((hash) => line.includes(`"${hash}"`))) {
      count.found += 1;
      yield line;
    }
  }
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
