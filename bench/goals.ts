import type { FigureName } from './measure/figures.ts';
import { differences, ratios, spreadOf, type Spread } from './measure/statistics.ts';
import { rowOf, type Table } from './tables/table.ts';

/** What is to be shown, and where it is found. */
export interface Goal {
  readonly says: string;
  readonly found: Found;
  /** Left out where a figure is only reported. */
  readonly atMost?: number;
  /**
   * What the guard holds the median to: what is held today, and so much more that noise cannot trip it.
   * Only counts, bytes and ratios to the same work in the same run: times and contestants move with the
   * machine, and CI runs on any. A ratio of p50s only where it counts round trips, of which one more shows.
   */
  readonly guard?: number;
}

/** A figure of a row; as it is, or against the same figure of another row of its case. */
export interface Found {
  readonly table: string;
  readonly case: string;
  readonly row: string;
  readonly figure: FigureName;
  readonly over?: { readonly row: string; readonly as: 'ratio' | 'difference' };
}

/** How a goal was done by. */
export interface Verdict {
  readonly goal: Goal;
  readonly measured: Spread;
}

const cpu = (caseName: string, against: string): Found => ({
  table: 'cost',
  case: caseName,
  row: 'ours',
  figure: 'cpuMicrosPerNumber',
  over: { row: against, as: 'ratio' },
});

/** Behind TLS. */
const tls = (caseName: string, row: string, against: string): Found => ({
  table: 'tls',
  case: caseName,
  row,
  figure: 'cpuMicrosPerNumber',
  over: { row: against, as: 'ratio' },
});

/** Behind TLS, as the operator's servers count. */
const tlsCount = (figure: FigureName, row: string): Found => ({
  table: 'tls',
  case: '100 × window',
  row,
  figure,
});

/** Behind TLS and a network. */
const network = (caseName: string, row: string): Found => ({
  table: 'network',
  case: caseName,
  row,
  figure: 'p50Ms',
  over: { row: 'ours, echo', as: 'ratio' },
});

const lookups = (caseName: string): Found => ({
  table: 'lookups',
  case: caseName,
  row: 'ours',
  figure: 'lookupsPerQuery',
});

const p50 = (caseName: string, against: string): Found => ({
  table: 'latency',
  case: caseName,
  row: 'ours',
  figure: 'p50Ms',
  over: { row: against, as: 'ratio' },
});

const production = (caseName: string, row = 'ours in production', against = 'ours'): Found => ({
  table: 'production',
  case: caseName,
  row,
  figure: 'cpuMicrosPerNumber',
  over: { row: against, as: 'ratio' },
});

const isolated = (figure: FigureName, row: string): Found => ({
  table: 'isolation',
  case: '4 + 4 clients, 10 numbers each, 20 ms a hop',
  row,
  figure,
  over: { row: 'third well', as: 'ratio' },
});

const ECHO = 'ours, echo';
const HTTP2 = 'ours, HTTP/2 and silent';
const SILENT = 'ours, silent';
const SILENT_REFUSED = 'ours, silent, mismatches refused';
const SILENT_TOKENS_REFUSED = 'ours, silent tokens, mismatches refused';
const RAW_FRESH = 'raw undici, fresh for lookups';

/** In the order of the report. The guard's bounds are changed here and nowhere else. */
export const GOALS: readonly Goal[] = [
  {
    says: 'lookups for 50 numbers × (date and three windows), none swapped',
    found: lookups('50 × date and three windows'),
    atMost: 50,
    guard: 50,
  },
  {
    says: 'lookups for 1,000 numbers × (date and three windows), 1 % of them swapped',
    found: lookups('1,000 × date and three windows, 1 % swapped'),
    atMost: 1050,
    guard: 1050,
  },
  {
    says: 'lookups for the same number fifty times',
    found: lookups('50 × the same number, window'),
    atMost: 1,
    guard: 1,
  },
  {
    says: 'TLS: CPU of one number, HTTP/2 echoing nothing, against HTTP/1.1 with echo',
    found: tls('1 × window', HTTP2, ECHO),
    atMost: 1.3,
  },
  {
    says: 'TLS: CPU a number, 100 numbers, HTTP/2 echoing nothing, against HTTP/1.1 with echo',
    found: tls('100 × window', HTTP2, ECHO),
    atMost: 1.3,
    guard: 2.2,
  },
  {
    says: 'TLS: CPU a number, 1,000 numbers, HTTP/2 echoing nothing, against HTTP/1.1 with echo',
    found: tls('1,000 × window', HTTP2, ECHO),
    atMost: 1.3,
  },
  {
    says: 'TLS, 20 ms: p50 of one number, HTTP/2 echoing nothing, against HTTP/1.1 with echo',
    found: network('1 × window', HTTP2),
    atMost: 1.1,
    guard: 1.6,
  },
  {
    says: 'TLS, 20 ms: p50 of 100 numbers, HTTP/2 echoing nothing, against HTTP/1.1 with echo',
    found: network('100 × window', HTTP2),
    atMost: 1.15,
  },
  {
    says: 'TLS, 20 ms: p50 of one number, HTTP/1.1 echoing nothing, against with echo',
    found: network('1 × window', SILENT),
    atMost: 1.05,
    guard: 1.9,
  },
  {
    says: 'TLS, 20 ms: p50 of 100 numbers, 600 ms between, HTTP/1.1 echoing nothing, against with echo',
    found: network('100 × window, 600 ms between', SILENT),
    atMost: 1.25,
  },
  {
    says: 'TLS: CPU of one number, silent tokens, mismatches refused, against echo',
    found: tls('1 × window', SILENT_TOKENS_REFUSED, ECHO),
    atMost: 1.05,
  },
  {
    says: 'TLS: CPU a number, 100 numbers, silent tokens, mismatches refused, against echo',
    found: tls('100 × window', SILENT_TOKENS_REFUSED, ECHO),
    atMost: 1.05,
    guard: 1.7,
  },
  {
    says: 'TLS: CPU a number, 1,000 numbers, silent tokens, mismatches refused, against echo',
    found: tls('1,000 × window', SILENT_TOKENS_REFUSED, ECHO),
    atMost: 1.05,
  },
  {
    says: 'TLS: CPU of one number, silent, mismatches refused, against raw undici, fresh',
    found: tls('1 × window', SILENT_REFUSED, RAW_FRESH),
    atMost: 1.35,
  },
  {
    says: 'TLS: CPU a number, 100 numbers, silent, mismatches refused, against raw undici, fresh',
    found: tls('100 × window', SILENT_REFUSED, RAW_FRESH),
    atMost: 1,
    guard: 2,
  },
  {
    says: 'TLS: CPU of one number, echo everywhere, against raw undici kept alive',
    found: tls('1 × window', ECHO, 'raw undici'),
    atMost: 4.5,
  },
  {
    says: 'TLS: CPU a number, 100 numbers, echo everywhere, against raw undici kept alive',
    found: tls('100 × window', ECHO, 'raw undici'),
    atMost: 1.3,
    guard: 2.8,
  },
  {
    says: 'TLS: CPU a number, 1,000 numbers, echo everywhere, against raw undici kept alive',
    found: tls('1,000 × window', ECHO, 'raw undici'),
    atMost: 1.5,
  },
  {
    says: 'TLS: handshakes a lookup, 100 numbers, HTTP/1.1 with echo',
    found: tlsCount('handshakesPerLookup', ECHO),
    guard: 0.3,
  },
  {
    says: 'TLS: handshakes a lookup, 100 numbers, HTTP/2 echoing nothing',
    found: tlsCount('handshakesPerLookup', HTTP2),
    guard: 0.01,
  },
  {
    says: 'TLS: connections that 200 numbers at a time take, HTTP/2 echoing nothing',
    found: tlsCount('usedConnections', HTTP2),
    guard: 16,
  },
  {
    says: 'TLS: handshakes a lookup, 100 numbers, silent tokens, mismatches refused',
    found: tlsCount('handshakesPerLookup', SILENT_TOKENS_REFUSED),
    guard: 0.3,
  },
  {
    says: 'TLS: handshakes a lookup, 100 numbers, silent, mismatches refused',
    found: tlsCount('handshakesPerLookup', SILENT_REFUSED),
    guard: 1.6,
  },
  {
    says: 'TLS: full handshakes a lookup, 100 numbers, silent, mismatches refused',
    found: tlsCount('fullHandshakesPerLookup', SILENT_REFUSED),
    guard: 0.1,
  },
  {
    says: 'TLS: bytes a lookup on the wire, 100 numbers, HTTP/1.1 with echo',
    found: tlsCount('bytesPerLookup', ECHO),
    guard: 2500,
  },
  {
    says: 'plain: CPU a number, 100 numbers, against raw undici',
    found: cpu('100 × window', 'raw undici'),
    atMost: 1.4,
    guard: 2.8,
  },
  {
    says: 'plain: CPU a number, 1,000 numbers, against raw undici',
    found: cpu('1,000 × window', 'raw undici'),
    atMost: 1.55,
    guard: 2.8,
  },
  {
    says: 'CPU a number, 100 numbers, against rest data source',
    found: cpu('100 × window', 'rest data source'),
    atMost: 0.25,
  },
  {
    says: 'CPU a number, 1,000 numbers, against rest data source',
    found: cpu('1,000 × window', 'rest data source'),
    atMost: 0.25,
  },
  {
    says: 'plain: CPU of one number, against raw undici',
    found: cpu('1 × window', 'raw undici'),
    atMost: 3.6,
    guard: 9,
  },
  {
    says: 'CPU of a one-number query with one field, against mercurius with loaders',
    found: cpu('1 × window', 'mercurius'),
    atMost: 1.25,
  },
  {
    says: 'CPU of a one-number query with two fields, against mercurius with loaders',
    found: cpu('1 × date and window', 'mercurius'),
    atMost: 1,
  },
  {
    says: 'CPU of 100 numbers that all fail, against 100 that succeed',
    found: {
      table: 'failures',
      case: '100 × window',
      row: 'all fail',
      figure: 'cpuMicrosPerNumber',
      over: { row: 'all succeed', as: 'ratio' },
    },
    atMost: 1.5,
    guard: 1.8,
  },
  {
    says: 'p50 of one number at 20 ms a hop, against raw undici',
    found: p50('1 × window, 20 ms a hop', 'raw undici'),
    atMost: 1.03,
  },
  {
    says: 'p50 of 100 numbers at 20 ms a hop, against raw undici',
    found: p50('100 × window, 20 ms a hop', 'raw undici'),
    atMost: 1.08,
  },
  {
    says: 'p50 of 1,000 numbers at 20 ms a hop, against raw undici',
    found: p50('1,000 × window, 20 ms a hop', 'raw undici'),
    atMost: 1.15,
  },
  {
    says: 'p50 of one number at 20 ms a hop, against its two hops',
    found: p50('1 × window, 20 ms a hop', 'the hops'),
    atMost: 1.1,
  },
  {
    says: 'CPU a number at 1,000 numbers, against that at 100',
    found: {
      table: 'sizes',
      case: 'window',
      row: '1,000 numbers',
      figure: 'cpuMicrosPerNumber',
      over: { row: '100 numbers', as: 'ratio' },
    },
    atMost: 1,
    guard: 2.2,
  },
  {
    says: 'heap a number in flight, in one query of 1,000, bytes',
    found: {
      table: 'memory',
      case: '1,000 × window in flight',
      row: 'ours',
      figure: 'heapBytesPerNumber',
    },
    atMost: 5000,
    guard: 11_500,
  },
  {
    says: 'event loop held up at 1,000 numbers, ms',
    found: {
      table: 'latency',
      case: '1,000 × window, 20 ms a hop',
      row: 'ours',
      figure: 'longestLoopDelayMs',
    },
    atMost: 50,
  },
  {
    says: 'heap at full rate, the last third of the time against the first',
    found: {
      table: 'sustained',
      case: 'full rate',
      row: 'last third',
      figure: 'heapMebibytes',
      over: { row: 'first third', as: 'ratio' },
    },
    atMost: 1.05,
  },
  {
    says: 'p50 of a consent already granted, over its hops, ms',
    found: {
      table: 'consent',
      case: '1 × window, 20 ms a hop',
      row: 'ours, 3-legged',
      figure: 'p50Ms',
      over: { row: 'the hops', as: 'difference' },
    },
    atMost: 10,
  },
  {
    says: 'production: CPU of one number with tokens, audit log and Redis, against without',
    found: production('1 × window'),
    atMost: 1.35,
  },
  {
    says: 'production: CPU of 100 numbers with tokens, audit log and Redis, against without',
    found: production('100 × window'),
    atMost: 1.35,
    guard: 1.9,
  },
  {
    says: 'production: CPU of 1,000 numbers with tokens, audit log and Redis, against without',
    found: production('1,000 × window'),
    atMost: 1.35,
  },
  ...(['1 × window', '100 × window'] as const).flatMap((caseName): Goal[] => [
    {
      says: `production: CPU of ${caseName} with metrics, against without`,
      found: production(caseName, 'ours in production, metrics', 'ours in production'),
      atMost: 1.03,
    },
    {
      says: `production: CPU of ${caseName} with traces of which 1 % are recorded, against metrics`,
      found: production(
        caseName,
        'ours in production, and traces at 1 %',
        'ours in production, metrics',
      ),
      atMost: 1.05,
    },
  ]),
  {
    says: 'production: scripts in Redis for a list of 100',
    found: {
      table: 'production',
      case: '100 × window',
      row: 'ours in production',
      figure: 'scriptsPerQuery',
    },
    atMost: 6,
    guard: 6,
  },
  {
    says: 'CPU a lookup with four processes, against one',
    found: {
      table: 'processes',
      case: '100 × window',
      row: '4 processes',
      figure: 'cpuMicrosPerNumber',
      over: { row: '1 process', as: 'ratio' },
    },
    atMost: 1.15,
  },
  ...(['third dead', 'third hangs'] as const).flatMap((row): Goal[] => [
    {
      says: `p50 of two operators' clients, ${row}, against well`,
      found: isolated('p50Ms', row),
      atMost: 1.05,
    },
    {
      says: `p99 of two operators' clients, ${row}, against well`,
      found: isolated('p99Ms', row),
      atMost: 1.2,
    },
  ]),
];

/** What came of the goals, as far as these tables tell. */
export function judge(goals: readonly Goal[], tables: readonly Table[]): Verdict[] {
  return goals.flatMap((goal) => {
    const measured = measuredFor(goal.found, tables);
    return measured === undefined ? [] : [{ goal, measured }];
  });
}

/** Whether the median meets the goal; a figure that is only reported meets it in any case. */
export function isMet({ goal: { atMost = Infinity }, measured: { median } }: Verdict): boolean {
  return median <= atMost;
}

/** Whether the guard lets it pass. */
export function isGuarded({ goal: { guard = Infinity }, measured: { median } }: Verdict): boolean {
  return median <= guard;
}

function measuredFor(found: Found, tables: readonly Table[]): Spread | undefined {
  const { figure, over } = found;
  const table = tables.find(({ name }) => name === found.table);
  const own = table && rowOf(table, found.case, found.row)?.rounds[figure];
  if (table === undefined || own === undefined) return undefined;
  if (over === undefined) return spreadOf(own);
  const base = rowOf(table, found.case, over.row)?.rounds[figure];
  if (base === undefined) return undefined;
  return spreadOf(over.as === 'ratio' ? ratios(own, base) : differences(own, base));
}
