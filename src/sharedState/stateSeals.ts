import { StateSeal } from './stateSeal.ts';

/** 32 bytes each: the key in force, and the one whose place it takes or that is to take its place. */
export type StateKeys = readonly [Uint8Array, ...Uint8Array[]];

/**
 * The seals of all keys that count. The first names and seals what is written, and whatever one of them has named is
 * found, and moved to the name that the first one gives it: replicas may have the same keys in another order.
 */
export class StateSeals {
  /** The first is the current one. */
  readonly all: readonly [StateSeal, ...StateSeal[]];

  constructor([first, ...others]: StateKeys) {
    this.all = [new StateSeal(first), ...others.map((key) => new StateSeal(key))];
  }

  get current(): StateSeal {
    return this.all[0];
  }
}

/**
 * Opens what lies in a place, whichever key has sealed it.
 *
 * @param placeOf how the place is named under each seal
 * @throws when none of them has
 */
export function openSealed(
  seals: readonly StateSeal[],
  sealed: string,
  placeOf: (seal: StateSeal) => string,
): string {
  for (const seal of seals) {
    try {
      return seal.open(sealed, placeOf(seal));
    } catch {
      continue;
    }
  }
  throw new Error('None of the keys opens what lies there.');
}

/**
 * A script's first step, in Lua: what lies under the name that another key gives is moved to the current name. After
 * the script's own keys come the same ones as each other key names them.
 *
 * @param keys how many keys the script has by itself
 */
export function adoptRenamed(keys: number): string {
  return `
for i = ${keys + 1}, #KEYS do
  local current = KEYS[(i - 1) % ${keys} + 1]
  if redis.call('EXISTS', current) == 0 and redis.call('EXISTS', KEYS[i]) == 1 then
    redis.call('RENAME', KEYS[i], current)
  end
end
`;
}
