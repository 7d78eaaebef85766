/** An unknown variable that starts with one of these is a typo. */
const OWN_PREFIXES = /^(?:OPERATORS?|CONSENT|JWT|ROUTER|QUOTA|BATCH|AUDIT|KEEP|METRICS)_/;

/**
 * What Kubernetes sets in each pod for a Service that may be called `router` or `operator`
 * (its documentation: Service, Environment variables).
 */
const SERVICE_LINK =
  /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;

/** A suggestion inside a prefix of ours differs by no more letters. */
const MAX_LETTERS = 3;

/** A variable that was not read although it looks like a setting. */
export interface UnknownName {
  readonly name: string;
  /** The setting that was probably meant. */
  readonly meant: string | undefined;
}

/**
 * Finds typos among the names of variables: unknown ones with a prefix of ours, and those that are one letter
 * away from a setting. Pure.
 */
export function findTypos(names: Iterable<string>, settings: ReadonlySet<string>): UnknownName[] {
  return [...names]
    .filter((name) => !settings.has(name) && !SERVICE_LINK.test(name))
    .flatMap((name) => {
      const nearest = nearestName(name, settings);
      if (nearest !== undefined && nearest.letters <= 1) return [{ name, meant: nearest.name }];
      if (!OWN_PREFIXES.test(name)) return [];
      const longer = [...settings].find((setting) => setting.startsWith(`${name}_`));
      return [{ name, meant: nearest?.name ?? longer }];
    });
}

/** The one of some names that is the fewest letters away, three at most. Pure. */
export function nearestName(
  name: string,
  names: Iterable<string>,
): { readonly name: string; readonly letters: number } | undefined {
  const [nearest] = [...names]
    .map((one) => ({ name: one, letters: lettersBetween(name, one) }))
    .toSorted((a, b) => a.letters - b.letters);
  return nearest !== undefined && nearest.letters <= MAX_LETTERS ? nearest : undefined;
}

/** How many letters to add, drop, replace or swap with their neighbour make one name of the other. */
function lettersBetween(from: string, to: string): number {
  // Too far apart to matter: the names of a large environment are compared in no time.
  if (Math.abs(from.length - to.length) > MAX_LETTERS) return Number.POSITIVE_INFINITY;
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
    before = above;
    above = current;
  }
  return above[to.length] ?? 0;
}
