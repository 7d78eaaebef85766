import type { E164 } from './phoneNumber.ts';
import type { RowState } from './verdict.ts';

/** Who has a number, as the supergraph knows. */
export interface Customer {
  readonly id: string;
  readonly name: string;
}

/** A number on the desk. */
export interface DeskRow {
  /** Of this page alone: no number stands in it. */
  readonly id: number;
  readonly e164: E164;
  /** Where it stood in what was uploaded, from 1. */
  readonly line: number;
  /** `null` when no customer has the number; `undefined` until that was asked. */
  readonly customer: Customer | null | undefined;
  readonly state: RowState;
  /** Asking again before this brings nothing new; 0 where that was not told. */
  readonly retryAtMs: number;
}
