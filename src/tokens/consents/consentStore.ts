import type { Fact } from '../../domain/fact.ts';
import type { PhoneNumber } from '../../domain/phoneNumber.ts';
import type { ConsentRecord } from './consentRecord.ts';

/** A record as it stood at one moment of the store's clock. */
export interface Snapshot {
  readonly record: ConsentRecord | undefined;
  /** Changes with every write; to be handed back with the next one. */
  readonly version: number;
  /** The store's own clock, milliseconds: the only one that counts for what is in it. */
  readonly nowMs: number;
}

/** What became of a write: somebody else may have been first, or there may be no room. */
export type Written = { readonly version: number } | 'conflict' | 'full';

/**
 * Holds the consent that lives about each number, and the facts that wait for their caller.
 *
 * Every change is a compare-and-set, so that any number of processes may share one store.
 */
export interface ConsentStore {
  read(number: PhoneNumber): Promise<Snapshot>;

  /** Writes if the record is still that of `version`; keeps it for `keepMs`. Live records never give way. */
  write(
    number: PhoneNumber,
    version: number,
    record: ConsentRecord,
    keepMs: number,
  ): Promise<Written>;

  /** Removes the record if it is still that of `version`. */
  remove(number: PhoneNumber, version: number): Promise<void>;

  /** Keeps facts for one caller, each for `keepMs`; those that it has already keep their time. */
  keepFacts(
    number: PhoneNumber,
    caller: string,
    facts: readonly { readonly fact: Fact; readonly keepMs: number }[],
  ): Promise<void>;

  /** The facts kept for a caller whose time is not over. */
  recallFacts(number: PhoneNumber, caller: string): Promise<readonly Fact[]>;
}
