import type { E164 } from './phoneNumber.ts';
import type { TableRow } from './upload.ts';
import type { RowState } from './verdict.ts';

/** Who has a number, as the supergraph knows. */
export interface Customer {
  readonly id: string;
  readonly name: string;
}

/** A number on the desk. */
export interface DeskRow {
  /** Of this page: it is not a part of the number, and may be in the browser's history. */
  readonly id: number;
  readonly e164: E164;
  /** In what was uploaded, from 1. */
  readonly line: number;
  /** The rows of the list that have this number, the first one first; none for a single number. */
  readonly own: readonly TableRow[];
  /** `null` when no customer has the number; `undefined` until the first check. */
  readonly customer: Customer | null | undefined;
  readonly state: RowState;
  /** Checking again before this brings nothing new; 0 where that is not known. */
  readonly retryAtMs: number;
  /** By which the platform team finds the latest check in its log. */
  readonly correlator: string | null;
}
