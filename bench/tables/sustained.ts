import type { Cast } from '../cast.ts';
import { ours } from '../contestants/contestant.ts';
import { serving } from '../measure/costs.ts';
import type { Figures } from '../measure/figures.ts';
import type { Gauge } from '../processes/gauge.ts';
import type { RunningServer } from '../stage.ts';
import type { Workload } from '../workload.ts';
import type { Plan } from './measure.ts';
import { roundsOf, type Table } from './table.ts';

const STEPS = 30;
const WARM_UP_SECONDS = 10;
const MEBIBYTE = 1024 * 1024;
const CASE = 'full rate';
const THIRDS = ['first third', 'middle third', 'last third'];
const WORKLOAD = { numbers: 1, fields: 'date and three windows', concurrency: 64 } as const;

/**
 * Whether anything grows while queries come as fast as they are answered. The garbage is collected and the
 * heap read at even steps; what the middle third shows against the first tells how much to make of the last.
 */
export async function measureSustained(cast: Cast, plan: Plan): Promise<Table> {
  const rows: Table['rows'][number][] = [];
  if (THIRDS.some((name) => plan.selects('sustained', CASE, name))) {
    plan.announce(`sustained: full rate, ${plan.sustainedMinutes} min`);
    await cast.stage.behave();
    // A process of its own: what other tables left behind in one would be let go here.
    const steps = await fullRate(cast, await cast.stage.server(ours()), plan.sustainedMinutes * 60);
    for (const [third, name] of THIRDS.entries()) {
      const [from, to] = [(third * STEPS) / 3, ((third + 1) * STEPS) / 3];
      rows.push({ case: CASE, name, rounds: roundsOf(steps.slice(from, to)) });
    }
  }
  return {
    name: 'sustained',
    title: 'Full rate, kept up',
    shows: ['heapMebibytes', 'residentMebibytes', 'queriesPerSecond'],
    comparisons: [{ figure: 'heapMebibytes', against: 'first third' }],
    rows,
  };
}

async function fullRate(cast: Cast, server: RunningServer, seconds: number): Promise<Figures[]> {
  await keepUp(cast, server, WARM_UP_SECONDS);
  const steps: Figures[] = [];
  while (steps.length < STEPS) {
    const queriesPerSecond = await keepUp(cast, server, seconds / STEPS);
    const { heapBytes, residentBytes } = await server.program.ask<Gauge>('gauge', {
      collectsGarbage: true,
    });
    steps.push({
      heapMebibytes: heapBytes / MEBIBYTE,
      residentMebibytes: residentBytes / MEBIBYTE,
      queriesPerSecond,
    });
  }
  return steps;
}

/** @returns how many queries a second were answered */
async function keepUp(cast: Cast, server: RunningServer, seconds: number): Promise<number> {
  const workload: Workload = { ...WORKLOAD, requests: 500 };
  const entrant = serving('ours', cast.stage, [server], workload);
  const startedMs = performance.now();
  let queries = 0;
  while (performance.now() - startedMs < seconds * 1000) {
    await entrant.round();
    queries += workload.requests;
  }
  return queries / ((performance.now() - startedMs) / 1000);
}
