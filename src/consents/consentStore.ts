import { randomInt } from 'node:crypto';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { ConsentRecord } from './consentRecord.ts';

/** A record as it stood at one moment of the store's clock, the only one that counts for what is in it. */
export interface Snapshot {
  readonly record: ConsentRecord | undefined;
  readonly nowMs: number;
  /** Until then a prompt may live that has no record. */
  readonly doubtUntilMs?: number;
  /** Changes with every write; to be handed back with the next one. */
  readonly version: number;
}

/**
 * What became of a write: the version that it left, and the store's clock by its reply; or another writer was first, or there
 * is no room.
 */
export type Written = Pick<Snapshot, 'version' | 'nowMs'> | 'conflict' | 'full';

/**
 * Holds what is known of asking the owner of each number, for all operators.
 *
 * Every change is a compare-and-set, so that any number of processes may share one store. Methods of a
 * shared one reject with {@link SharedStateLost} while it cannot be asked.
 */
export interface ConsentStore {
  /** Whether other processes share it, so that it can lose what this one knows. */
  readonly isShared: boolean;

  read(number: PhoneNumber): Promise<Snapshot>;

  /**
   * Writes if the record is still that of `version`; keeps it for `keepMs`. Live records never give
   * way.
   *
   * @param writeId of {@link newWriteId}: a write that was lost may be sent again with it, and succeeds where it was done
   */
  write(
    number: PhoneNumber,
    version: number,
    record: ConsentRecord,
    keepMs: number,
    writeId?: number,
  ): Promise<Written>;

  /** Removes the record if it is still that of `version`. */
  remove(number: PhoneNumber, version: number): Promise<void>;
}

/** Tells one write from every other one, by whichever process: two that write the same are not both first. */
export function newWriteId(): number {
  return randomInt(1, 2 ** 47);
}
