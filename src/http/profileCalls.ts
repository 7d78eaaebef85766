/*
 * A profile is an operator's own code, and may be anybody's: what its functions get is frozen, and what they return is
 * judged before any of it is sent or believed.
 */

/** A function of a profile did not keep to its type: OPERATOR_INVALID_REPLY for that operator. */
export class ProfileFault extends Error {
  override readonly name = 'ProfileFault';
  /** Which function, and what it did: in words from lists of ours, since what it threw may hold a number. */
  readonly detail: string;

  constructor(detail: string) {
    super(`A function of the profile failed: ${detail}.`);
    this.detail = detail;
  }
}

/** More than this of JSON is no request of ours. */
const MAX_JSON_CHARACTERS = 16_384;

/**
 * What a function of a profile returns, as JSON has it: nothing of the profile's own, such as a getter, is left in it.
 *
 * @throws {ProfileFault} for a throw, a promise, what is no object, or what is too large
 */
export function callProfile(name: string, call: () => unknown): Readonly<Record<string, unknown>> {
  let text: string | undefined;
  try {
    const returned = call();
    if (isThenable(returned)) {
      // Its rejection would end the process.
      Promise.resolve(returned).catch(() => undefined);
      throw new ProfileFault(`${name} returned a promise`);
    }
    text = JSON.stringify(returned);
  } catch (error) {
    throw error instanceof ProfileFault ? error : new ProfileFault(`${name} threw`);
  }
  if (text === undefined || !text.startsWith('{')) {
    throw new ProfileFault(`${name} returned no object`);
  }
  if (text.length > MAX_JSON_CHARACTERS) throw new ProfileFault(`${name} returned too much`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a text that begins with { is an object
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

/** The value and all that it holds, which no one can change from now on. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}

function isThenable(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  );
}
