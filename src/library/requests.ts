/**
 * What a request is for: what it says, or else the first that is allowed.
 *
 * @throws {RangeError} when that is none of those allowed
 */
export function purposeOf(
  purpose: string | undefined,
  allowed: readonly [string, ...string[]],
): string {
  const found = allowed.find((one) => one === (purpose ?? allowed[0]));
  if (found === undefined) throw new RangeError('The purpose is not one of PURPOSES.');
  return found;
}

/**
 * How long a request would wait for the owner of a number.
 *
 * @throws {RangeError} where that is no time: a timer would take it for none
 */
export function waitAskedOf({ waitMs }: { readonly waitMs?: number }): number | undefined {
  if (waitMs !== undefined && !(waitMs >= 0)) {
    throw new RangeError('waitMs is a number of milliseconds, from 0.');
  }
  return waitMs;
}
