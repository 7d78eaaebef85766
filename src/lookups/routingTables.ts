import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { NumberDirectorySettings } from '../operator/operatorSettings.ts';
import { OperatorsByPrefix, type ServingOperator } from './operatorsByPrefix.ts';

/** An operator by what consents are kept under, which may be the same for other settings. */
export interface TabledOperator extends ServingOperator {
  readonly storeName: string;
}

/** Where the numbers go by some settings, and so where consents about them begin. */
export class RoutingTable {
  readonly byPrefix: OperatorsByPrefix;
  /** When the last consent is over that began by it; no end while requests begin them. */
  endsAtMs = Infinity;
  readonly #directory: NumberDirectorySettings | undefined;
  readonly #places: readonly object[];
  readonly #storeNames: ReadonlyMap<string, string>;
  /** By the table that it was compared with: both stay as they are, and are compared for each number. */
  readonly #likeness = new WeakMap<RoutingTable, boolean>();

  /** @throws {Error} when `others` names an operator that is not there */
  constructor(
    operators: readonly TabledOperator[],
    directory: NumberDirectorySettings | undefined,
  ) {
    this.byPrefix = new OperatorsByPrefix(operators);
    this.#directory = directory;
    this.#places = operators.map(placeOf);
    this.#storeNames = new Map(operators.map(({ name, storeName }) => [name, storeName]));
  }

  /** The store names of those where a consent about the number may have begun; all, where a directory decides. */
  storeNamesFor(number: PhoneNumber): readonly string[] {
    if (this.#directory !== undefined) return [...this.#storeNames.values()];
    const routing = this.byPrefix.of(number);
    if (routing.kind === 'failed') return [];
    return routing.inTurn.flatMap(({ name }) => this.#storeNames.get(name) ?? []);
  }

  /** Whether every number goes where it goes by the other one. */
  isLike(other: RoutingTable): boolean {
    const known = this.#likeness.get(other);
    if (known !== undefined) return known;
    const isLike =
      isDeepStrictEqual(this.#directory, other.#directory) &&
      isDeepStrictEqual(this.#places, other.#places);
    this.#likeness.set(other, isLike);
    return isLike;
  }
}

/** Of so many settings it is known where their consents began; of more, those before are forgotten. */
const MAX_TABLES = 16;

/** Where numbers go, and where they went as long as consents may live there: prefixes move between operators. */
export class RoutingTables {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** The latest last. */
  #tables: readonly RoutingTable[] = [];

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Puts a table in force. */
  add(table: RoutingTable): void {
    const others = this.#alive().filter((one) => !one.isLike(table));
    this.#tables = [...others, table].slice(-MAX_TABLES);
  }

  /** The store names of those where a consent about the number may live, though this table sends it elsewhere. */
  elsewhere(own: RoutingTable, number: PhoneNumber): ReadonlySet<string> {
    const others = this.#alive().filter((table) => table !== own && !table.isLike(own));
    if (others.length === 0) return NONE;
    const names = own.storeNamesFor(number);
    return new Set(
      others
        .map((table) => table.storeNamesFor(number))
        .filter((theirs) => !isDeepStrictEqual(theirs, names))
        .flat(),
    );
  }

  #alive(): readonly RoutingTable[] {
    const nowMs = this.#clock.monotonicMs();
    return this.#tables.filter(({ endsAtMs }) => nowMs < endsAtMs);
  }
}

const NONE: ReadonlySet<string> = new Set();

function placeOf({ storeName, name, prefixes, others }: TabledOperator): object {
  return { storeName, name, prefixes, others };
}
