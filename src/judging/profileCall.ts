/** A function of a profile did not keep to its type: OPERATOR_INVALID_REPLY for that operator. */
export class ProfileFault extends Error {
  override readonly name = 'ProfileFault';
  /** In our own words, since what it threw may contain a number. */
  readonly detail: string;

  constructor(detail: string) {
    super(`A function of the profile failed: ${detail}.`);
    this.detail = detail;
  }
}

const MAX_JSON_CHARACTERS = 16_384;

/**
 * Calls a function of a profile and returns a JSON copy of its result: a profile may be third-party code, and a copy has
 * no getters.
 *
 * @throws {ProfileFault} for an error, a promise, and a result that is not an object or too large
 */
export function callProfile<About>(
  name: string,
  call: (about: About) => unknown,
  about: About,
): Readonly<Record<string, unknown>> {
  let text: string | undefined;
  try {
    const returned = call(about);
    const isObject = typeof returned === 'object' && returned !== null;
    if (isObject && 'then' in returned && typeof returned.then === 'function') {
      // An unhandled rejection would end the process.
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

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}
