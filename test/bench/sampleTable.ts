import type { Table } from '../../bench/tables/table.ts';

/** Three rounds of ours, twice, and of the limit. */
export const SAMPLE_TABLE: Table = {
  name: 'cost',
  title: 'CPU time',
  shows: ['cpuMicrosPerNumber'],
  comparisons: [
    { figure: 'cpuMicrosPerNumber', against: 'raw undici' },
    { figure: 'cpuMicrosPerNumber', against: 'ours' },
  ],
  rows: [
    { case: '1 × window', name: 'raw undici', rounds: { cpuMicrosPerNumber: [100, 50, 100] } },
    { case: '1 × window', name: 'ours', rounds: { cpuMicrosPerNumber: [300, 200, 200] } },
    { case: '1 × window', name: 'ours again', rounds: { cpuMicrosPerNumber: [330, 200, 180] } },
    { case: '10 × window', name: 'ours', rounds: { cpuMicrosPerNumber: [120, 120, 120] } },
  ],
};
