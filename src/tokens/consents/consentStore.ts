import type { PhoneNumber } from '../../domain/phoneNumber.ts';
import type { Operation } from '../../domain/question.ts';
import type { ConsentRecord } from './consentRecord.ts';
import type { Recorded } from './standing.ts';

/** A record as it stood at one moment of the store's clock, the only one that counts for what is in it. */
export interface Snapshot extends Recorded {
  /** Changes with every write; to be handed back with the next one. */
  readonly version: number;
}

/** What became of a write: another writer may have been first, or there may be no room. */
export type Written = { readonly version: number } | 'conflict' | 'full';

/** The store cannot be asked; what was sent to it last may have been done all the same. */
export class ConsentStoreLost extends Error {
  override readonly name = 'ConsentStoreLost';

  constructor() {
    super('The consent store cannot be asked.');
  }
}

/** A shared store that cannot be asked is no reason to break; what needed it is done without. */
export function unlessLost(error: unknown): undefined {
  if (!(error instanceof ConsentStoreLost)) throw error;
  return undefined;
}

/**
 * Holds what is known of asking the owner of each number.
 *
 * Every change is a compare-and-set, so that any number of processes may share one store. Methods of a
 * shared one reject with {@link ConsentStoreLost} while it cannot be asked.
 */
export interface ConsentStore {
  /** Whether other processes share it, so that it can lose what this one knows. */
  readonly isShared: boolean;

  read(number: PhoneNumber): Promise<Snapshot>;

  /**
   * Writes if the record is still that of `version`; keeps it for `keepMs`. Live records never give
   * way. The same write may be sent again when it was lost.
   */
  write(
    number: PhoneNumber,
    version: number,
    record: ConsentRecord,
    keepMs: number,
  ): Promise<Written>;

  /** Removes the record if it is still that of `version`. */
  remove(number: PhoneNumber, version: number): Promise<void>;

  /** Notes that the operator refuses us an operation: nobody is prompted for it for so long. */
  refuse(operation: Operation, forMs: number): Promise<void>;
}
