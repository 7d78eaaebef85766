import type { Cast } from '../cast.ts';
import { ours, type Third } from '../contestants/contestant.ts';
import { costOf } from '../measure/costs.ts';
import type { RunningServer } from '../stage.ts';
import { bodyOf, type Workload } from '../workload.ts';
import { measure, type Candidate, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const HOP_MS = 20;
const NUMBERS_OF_ONE = 100;
const WORKLOAD: Workload = { numbers: 10, fields: 'window', concurrency: 4, requests: 400 };

/** What the clients of two operators notice when the third is dead, or takes requests and replies to none. */
export async function measureIsolation(cast: Cast, plan: Plan): Promise<Table> {
  const thirds: readonly (readonly [string, Third])[] = [
    ['third well', 'well'],
    ['third well again', 'well'],
    ['third dead', 'dead'],
    ['third hangs', 'hangs'],
  ];
  const servers = new Map<Third, Promise<RunningServer>>();
  return {
    name: 'isolation',
    title: 'Queries about two of three operators, with as many clients that ask about the third',
    shows: ['p50Ms', 'p99Ms', 'cpuMicrosPerNumber'],
    comparisons: [
      { figure: 'p50Ms', against: 'third well' },
      { figure: 'p99Ms', against: 'third well' },
    ],
    rows: await measure(cast, plan, 'isolation', [
      {
        name: `4 + 4 clients, 10 numbers each, ${HOP_MS} ms a hop`,
        rounds: { full: 12 },
        conditions: { hopMs: HOP_MS },
        rows: thirds.map(([name, third]) => candidate(cast, servers, name, third)),
      },
    ]),
  };
}

function candidate(
  cast: Cast,
  servers: Map<Third, Promise<RunningServer>>,
  name: string,
  third: Third,
): Candidate {
  return {
    name,
    async start() {
      const { stage } = cast;
      // Not warmed up as the others are: that asks about the third operator's numbers as well.
      const starting = servers.get(third) ?? stage.server(ours({ third }));
      servers.set(third, starting);
      const server = await starting;
      const { url: asked, headers } = server;
      const { requests, concurrency, numbers } = WORKLOAD;
      const order = { urls: [asked], headers, pauseMs: 0 };
      const bodies = (firstOperator: number, operators: number): string[] =>
        Array.from({ length: concurrency }, (_, client) => {
          const operator = firstOperator + (client % operators);
          const place = Math.floor(client / operators);
          return bodyOf(WORKLOAD, (operator * NUMBERS_OF_ONE) / numbers + place);
        });
      return {
        name,
        round: () =>
          stage.beside({ ...order, bodies: bodies(2, 1), pauseMs: HOP_MS }, () =>
            costOf(stage, [server], { numbers, requests }, {}, async () => {
              const { latenciesMs } = await stage.send({
                ...order,
                bodies: bodies(0, 2),
                requests,
              });
              return latenciesMs;
            }),
          ),
      };
    },
  };
}
