import { Cast } from '../cast.ts';
import { nameOf, type Workload } from '../workload.ts';
import { measure, row, type Case, type Plan } from './measure.ts';
import type { Table } from './table.ts';
import { tlsContestants, type TlsName } from './tls.ts';

/** Each way. */
const ONE_WAY_MS = 10;
/** Long enough for what is done in a quiet moment, such as opening connections; short enough to keep them. */
const PAUSE_MS = 600;

const BACK_TO_BACK: readonly TlsName[] = [
  'raw undici',
  'raw undici, fresh for lookups',
  'raw undici, HTTP/2',
  'tuned Apollo',
  'ours, echo',
  'ours, echo again',
  'ours, silent tokens',
  'ours, silent tokens, mismatches refused',
  'ours, silent',
  'ours, silent, mismatches refused',
  'ours, HTTP/2 and silent',
];
const WITH_PAUSES: readonly TlsName[] = [
  'ours, echo',
  'ours, echo again',
  'ours, silent',
  'ours, HTTP/2 and silent',
];

/** One query at a time. The first of a round is not timed: other contestants' turns lie before it. */
const ONE: Workload = { numbers: 1, fields: 'window', concurrency: 1, requests: 6 };
const HUNDRED: Workload = { numbers: 100, fields: 'window', concurrency: 1, requests: 5 };
const TERMS = { untimed: 1 };

/** How long a query takes where the operator is behind TLS and a network, connection set-up included. */
export async function measureNetwork(plainCast: Cast, plan: Plan): Promise<Table> {
  await using cast = new Cast(plainCast.stage, plan);
  const contestants = tlsContestants('far');
  const at = (workload: Workload, names: readonly TlsName[], full: number): Case => ({
    name: `${nameOf(workload)}${workload.pauseMs === undefined ? '' : `, ${PAUSE_MS} ms between`}`,
    rounds: { full },
    conditions: { oneWayMs: ONE_WAY_MS },
    rows: names.map((name) => row(cast, name, contestants[name], workload, TERMS)),
  });
  const pauses = { requests: 4, pauseMs: PAUSE_MS };
  return {
    name: 'network',
    title: `How long a query takes behind TLS, one at a time, at a round trip of ${2 * ONE_WAY_MS} ms`,
    shows: ['p50Ms', 'handshakesPerLookup', 'usedConnections'],
    comparisons: [
      { figure: 'p50Ms', against: 'ours, echo' },
      { figure: 'p50Ms', against: 'raw undici' },
    ],
    rows: await measure(cast, plan, 'network', [
      at(ONE, BACK_TO_BACK, 10),
      at(HUNDRED, BACK_TO_BACK, 10),
      at({ ...ONE, ...pauses }, WITH_PAUSES, 4),
      at({ ...HUNDRED, ...pauses }, WITH_PAUSES, 6),
    ]),
  };
}
