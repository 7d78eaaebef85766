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
