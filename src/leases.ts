import { isDeepStrictEqual } from 'node:util';

/** What is made for some settings, and ends once it is not needed. */
export interface Closable {
  /** Waits for what must not be cut, then closes. */
  close(): Promise<void>;
}

/** The right to use a part until it is given back. */
export interface Lease<Part> {
  readonly part: Part;
  /** Once at most. Resolves when the part is closed, if this was its last lease. */
  release(): Promise<void>;
}

interface Leased<Settings, Part> {
  readonly settings: Settings;
  readonly part: Part;
  leases: number;
}

/**
 * Parts by name, each made for its settings. What is taken under a name with settings that are equal is the same part,
 * as long as one of its holders is left; with others it is a new one, and the former serves its holders to their end.
 */
export class Leases<Settings, Part extends Closable> {
  readonly #leased = new Map<string, readonly Leased<Settings, Part>[]>();

  take(name: string, settings: Settings, make: () => Part): Lease<Part> {
    const known = this.#leased.get(name) ?? [];
    const equal = known.find((one) => isDeepStrictEqual(one.settings, settings));
    const leased = equal ?? { settings, part: make(), leases: 0 };
    if (equal === undefined) this.#leased.set(name, [...known, leased]);
    leased.leases += 1;
    let isReleased = false;
    return {
      part: leased.part,
      release: async () => {
        if (isReleased) return;
        isReleased = true;
        leased.leases -= 1;
        if (leased.leases > 0) return;
        this.#forget(name, leased);
        await leased.part.close();
      },
    };
  }

  #forget(name: string, leased: Leased<Settings, Part>): void {
    const others = (this.#leased.get(name) ?? []).filter((one) => one !== leased);
    if (others.length === 0) this.#leased.delete(name);
    else this.#leased.set(name, others);
  }
}
