import type { Operation } from './question.ts';

/** Money as whole millionths, so that sums are exact. */
export type Micros = number;

export interface Price {
  /** ISO 4217, such as `EUR`. */
  readonly currency: string;
  readonly microsPerLookup: Readonly<Record<Operation, Micros>>;
}

const MICROS = 1_000_000;
const AMOUNT = /^(?<whole>\d{1,6})(?:\.(?<decimals>\d{1,6}))?$/;

/** `undefined` for what is not an amount with at most six decimals, such as `0.0215`. */
export function parseAmount(text: string): Micros | undefined {
  const groups = AMOUNT.exec(text)?.groups;
  if (groups === undefined) return undefined;
  return Number(groups['whole']) * MICROS + Number((groups['decimals'] ?? '').padEnd(6, '0'));
}

/** With at least two decimals. */
export function formatAmount(micros: Micros): string {
  const decimals = String(micros % MICROS).padStart(6, '0');
  return `${Math.floor(micros / MICROS)}.${decimals.replace(/0{1,4}$/, '')}`;
}
