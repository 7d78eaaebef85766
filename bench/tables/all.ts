import { measureCost } from './cost.ts';
import type { Measurement } from './measure.ts';
import type { Table } from './table.ts';

/** Every table, by its name, in the order in which they are measured. */
export const TABLES: Readonly<Record<string, Measurement<Table>>> = {
  cost: measureCost,
};
