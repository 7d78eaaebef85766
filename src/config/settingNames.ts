/** First words of settings with which variables of other programs begin as well: REDIS_HOST, LOG_FORMAT. */
const SHARED_WORDS: ReadonlySet<string> = new Set(
  'ALLOWED DRAIN HOST LOG MAX NODE OTEL PORT PURPOSES REDIS REQUEST ROLE STATE TRACE TRUSTED'.split(
    ' ',
  ),
);

/**
 * What Kubernetes sets in each pod for a Service that may be called `router` or `operator`
 * (its documentation: Service, Environment variables).
 */
const SERVICE_LINK =
  /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;

/** A suggestion behind a word of ours differs by no more letters. */
const MAX_LETTERS = 3;

/** A variable that was not read although it looks like a setting. */
export interface UnknownName {
  readonly name: string;
  readonly meant: string | undefined;
}

/**
 * Finds typos among the names of variables: unknown ones that begin with a word of ours, and those that are
 * one letter away from a setting. Pure.
 */
export function findTypos(names: Iterable<string>, settings: ReadonlySet<string>): UnknownName[] {
  const ownWords = new Set([...settings].map(firstWord).filter((word) => !SHARED_WORDS.has(word)));
  return [...names]
    .filter((name) => !settings.has(name) && !SERVICE_LINK.test(name))
    .flatMap((name) => {
      const isLikeOurs = name.includes('_') && ownWords.has(firstWord(name));
      const nearest = nearestName(name, settings, isLikeOurs ? MAX_LETTERS : 1);
      if (nearest !== undefined && nearest.letters <= 1) return [{ name, meant: nearest.name }];
      if (!isLikeOurs) return [];
      const longer = [...settings].find((setting) => setting.startsWith(`${name}_`));
      return [{ name, meant: nearest?.name ?? longer }];
    });
}

function firstWord(name: string): string {
  return name.split('_', 1).join('');
}

/** The end of a sentence about a name that is not one of some: which was probably meant. Pure. */
export function didYouMean(name: string, names: Iterable<string>): string {
  const meant = nearestName(name, names);
  return meant === undefined ? '' : `. Did you mean ${meant.name}?`;
}

/** The one of some names that is the fewest letters away, and no more than so many. Pure. */
function nearestName(
  name: string,
  names: Iterable<string>,
  maxLetters = MAX_LETTERS,
): { readonly name: string; readonly letters: number } | undefined {
  const [nearest] = [...names]
    .map((one) => ({ name: one, letters: lettersBetween(name, one, maxLetters) }))
    .toSorted((a, b) => a.letters - b.letters);
  return nearest !== undefined && nearest.letters <= maxLetters ? nearest : undefined;
}

/** How many letters to add, drop, replace or swap with their neighbour make one name of the other. */
function lettersBetween(from: string, to: string, most: number): number {
  // Too far apart to matter: the names of a large environment are compared in no time.
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
    // No row after two such is nearer.
    if (Math.min(...above, ...current) > most) return Number.POSITIVE_INFINITY;
    before = above;
    above = current;
  }
  return above[to.length] ?? 0;
}
