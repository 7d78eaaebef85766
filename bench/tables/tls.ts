import { Cast } from '../cast.ts';
import { other, ours, raw, type Contestant, type Place } from '../contestants/contestant.ts';
import { nameOf, type Workload } from '../workload.ts';
import { measure, row, type Plan } from './measure.ts';
import type { Table } from './table.ts';

/** The operator says that it refuses a token that was issued for another number; it does. */
const MISMATCHES_REFUSED = { OPERATOR_TOKEN_MISMATCH: 'refused' };

/** Who takes part behind TLS, from near or from far away. A silent operator echoes no correlator. */
export function tlsContestants(distance: Place['distance']) {
  const echo = { wire: 'echo', distance } as const;
  const silentTokens = { wire: 'silent tokens', distance } as const;
  const silent = { wire: 'silent', distance } as const;
  const http2 = { wire: 'HTTP/2', distance } as const;
  return {
    'raw undici': raw('kept', echo),
    'raw undici, fresh for lookups': raw('fresh for lookups', silent),
    'raw undici, HTTP/2': raw('HTTP/2', http2),
    'tuned Apollo': other('tunedApollo', echo),
    'ours, echo': ours(echo),
    'ours, echo again': ours(echo),
    'ours, silent tokens': ours(silentTokens),
    'ours, silent tokens, mismatches refused': ours({
      ...silentTokens,
      settings: MISMATCHES_REFUSED,
    }),
    'ours, silent': ours(silent),
    'ours, silent, mismatches refused': ours({ ...silent, settings: MISMATCHES_REFUSED }),
    'ours, HTTP/2 and silent': ours(http2),
  } as const satisfies Record<string, Contestant>;
}

export type TlsName = keyof ReturnType<typeof tlsContestants>;

/** A handshake is about as dear as ten lookups over connections that are kept: rounds stay as long. */
const SHARES: Readonly<Partial<Record<TlsName, number>>> = {
  'raw undici': 1.5,
  'raw undici, fresh for lookups': 0.25,
  'ours, silent tokens': 0.25,
  'ours, silent': 0.12,
  'ours, silent, mismatches refused': 0.25,
};

const WORKLOADS: readonly Workload[] = [
  { numbers: 1, fields: 'window', concurrency: 64, requests: 640 },
  { numbers: 100, fields: 'window', concurrency: 2, requests: 16 },
  { numbers: 1000, fields: 'window', concurrency: 1, requests: 2 },
];

/** What a number costs in CPU time where the operator is behind TLS, as fast as it goes. */
export async function measureTls(plainCast: Cast, plan: Plan): Promise<Table> {
  await using cast = new Cast(plainCast.stage, plan);
  const contestants = Object.entries(tlsContestants('near')) as [TlsName, Contestant][];
  const cases = WORKLOADS.map((workload) => ({
    name: nameOf(workload),
    rounds: { full: 12 },
    rows: contestants.map(([name, contestant]) => {
      const requests = Math.max(1, Math.round(workload.requests * (SHARES[name] ?? 1)));
      return row(cast, name, contestant, { ...workload, requests }, { countsAftermath: true });
    }),
  }));
  return {
    name: 'tls',
    title: 'CPU time a number behind TLS, as fast as it goes, until no more connections are opened',
    shows: [
      'cpuMicrosPerNumber',
      'handshakesPerLookup',
      'fullHandshakesPerLookup',
      'usedConnections',
      'bytesPerLookup',
    ],
    comparisons: [
      { figure: 'cpuMicrosPerNumber', against: 'ours, echo' },
      { figure: 'cpuMicrosPerNumber', against: 'raw undici' },
      { figure: 'cpuMicrosPerNumber', against: 'raw undici, fresh for lookups' },
    ],
    rows: await measure(cast, plan, 'tls', cases),
  };
}
