import type { Caller } from './caller.ts';

/** The header that says what a question is for, where the token does not. */
export const PURPOSE_HEADER = 'x-purpose';

/**
 * What a request is for: what the token says, or else the header, or else the first that is allowed.
 * `undefined` when that is none of those allowed. Pure.
 */
export function purposeOf(
  caller: Caller,
  header: string | undefined,
  allowed: readonly string[],
): string | undefined {
  const purpose = caller.purpose ?? header ?? allowed[0];
  return allowed.find((one) => one === purpose);
}
