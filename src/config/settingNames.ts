/** First words of settings that other programs use too: REDIS_HOST, LOG_FORMAT. */
const SHARED_WORDS: ReadonlySet<string> = new Set(
  'ALLOWED DRAIN HOST LOG MAX NODE OTEL PORT PURPOSES REDIS REQUEST ROLE STATE TRACE TRUSTED'.split(
    ' ',
  ),
);

/** Kubernetes sets these in each pod for each Service, for example `router` (Service, Environment variables). */
const SERVICE_LINK =
  /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;

/** How other programs' variables describe a Redis: if they were ignored, the connection would go elsewhere. */
const OF_REDIS_URL = /^REDIS_(?:CLUSTER|PASSWORD|SENTINEL|TLS|TOPOLOGY|USER)/;
const IN_REDIS_URL =
  '. User, password, sentinels and the name of the server belong in REDIS_URL, certificates into the files of REDIS_TLS_CA_FILE, REDIS_TLS_CERT_FILE and REDIS_TLS_KEY_FILE';

/** A suggestion differs by at most this many letters. */
const MAX_LETTERS = 3;

/**
 * Finds typos among the names of variables, each with a hint that ends a sentence: unknown names with a first word of
 * ours, and names one letter away from a setting. Pure.
 *
 * @param hasRedis without a Redis, variables for one are another program's
 */
export function findTypos(
  names: readonly string[],
  settings: ReadonlySet<string>,
  hasRedis: boolean,
): readonly { readonly name: string; readonly hint: string }[] {
  const ownWords = new Set([...settings].map(firstWord).filter((word) => !SHARED_WORDS.has(word)));
  return names
    .filter((name) => !settings.has(name) && !SERVICE_LINK.test(name))
    .flatMap((name) => {
      const typo = didYouMean(name, settings, 1);
      if (typo !== '') return [{ name, hint: typo }];
      if (hasRedis && OF_REDIS_URL.test(name)) return [{ name, hint: IN_REDIS_URL }];
      if (!name.includes('_') || !ownWords.has(firstWord(name))) return [];
      const longer = [...settings].find((setting) => setting.startsWith(`${name}_`));
      return [{ name, hint: didYouMean(name, settings) || hintOf(longer) }];
    });
}

function firstWord(name: string): string {
  return name.split('_', 1).join('');
}

/** The end of a sentence about an unknown name: the one that was probably meant. Pure. */
export function didYouMean(
  name: string,
  names: Iterable<string>,
  maxLetters = MAX_LETTERS,
): string {
  const [nearest] = [...names]
    .map((one) => ({ one, letters: lettersBetween(name, one, maxLetters) }))
    .filter(({ letters }) => letters <= maxLetters)
    .toSorted((a, b) => a.letters - b.letters);
  return hintOf(nearest?.one);
}

function hintOf(meant: string | undefined): string {
  return meant === undefined ? '' : `. Did you mean ${meant}?`;
}

/** How many letters to add, drop, replace or swap turn one name into the other. */
function lettersBetween(from: string, to: string, most: number): number {
  // Too different: this keeps a large environment fast.
  if (Math.abs(from.length - to.length) > most) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, above] = [above, current];
  }
  return above[to.length] ?? 0;
}
