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

/** As `REQUEST_TIMEOUT_MS`. A timer takes little more, and fires at once for what it does not take. */
const MAX_TIMEOUT_MS = 300_000;

/**
 * How long the answers to a request may take.
 *
 * @throws {RangeError} when that is no time, or too long
 */
export function timeoutOf(
  { timeoutMs }: { readonly timeoutMs?: number },
  { requestTimeoutMs }: { readonly requestTimeoutMs: number },
): number {
  const chosen = timeoutMs ?? requestTimeoutMs;
  if (chosen >= 1 && chosen <= MAX_TIMEOUT_MS) return chosen;
  throw new RangeError(`timeoutMs is a number from 1 to ${MAX_TIMEOUT_MS}.`);
}
