import type { Cast } from '../cast.ts';
import { ours } from '../contestants/contestant.ts';
import { costOf } from '../measure/costs.ts';
import type { Figures } from '../measure/figures.ts';
import type { Entrant } from '../measure/interleave.ts';
import type { Running, Stage } from '../stage.ts';
import { nameOf, numbers, type Workload } from '../workload.ts';
import { hops } from './hops.ts';
import { measure, row, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const HOP_MS = 20;
/** bc-authorize, the poll that brings the token, and the lookup that it buys. */
const HOPS = 3;

/** One query at a time: a second one about the same number would share the first one's consent. */
const ONE: Workload = { numbers: 1, fields: 'window', concurrency: 1, requests: 5 };

/** One number is asked about again and again: each time anew, and as often as it takes. */
const ASKING_ANEW = {
  OPERATOR_FLOW: '3-legged',
  KEEP_FACTS_SECONDS: '0',
  QUOTA_PROMPTS_PER_HOUR: '999999999',
  QUOTA_PROMPTS_PER_HOUR_ALL_CALLERS: '999999999',
};

/** The flow in which the number's owner consents; here they have done so before they are asked. */
export async function measureConsent(cast: Cast, plan: Plan): Promise<Table> {
  const consented = ours({ settings: ASKING_ANEW });
  const consentedInProduction = ours({ settings: ASKING_ANEW, production: 'whole' });
  const rows = [
    hops(HOPS * HOP_MS),
    row(cast, 'ours, 3-legged', consented, ONE),
    row(cast, 'ours, 3-legged again', consented, ONE),
    row(cast, 'ours in production, 3-legged', consentedInProduction, ONE),
    row(cast, 'ours, 2-legged', ours(), ONE),
    {
      name: 'openid-client',
      async start() {
        const place = { wire: 'plain', distance: 'near' } as const;
        return polling(cast.stage, await cast.stage.program('openidClient.ts', place));
      },
    },
  ];
  return {
    name: 'consent',
    title: 'A consent already granted',
    shows: ['p50Ms', 'promptsPerQuery', 'tokensPerQuery', 'lookupsPerQuery', 'cpuMicrosPerNumber'],
    comparisons: [
      { figure: 'p50Ms', against: 'the hops' },
      { figure: 'p50Ms', against: 'ours, 3-legged' },
    ],
    rows: await measure(cast, plan, 'consent', [
      {
        name: `${nameOf(ONE)}, ${HOP_MS} ms a hop`,
        rounds: { full: 10 },
        conditions: { hopMs: HOP_MS },
        rows,
      },
    ]),
  };
}

/** openid-client, which waits for the operator's interval before it polls. Once a round is enough of that. */
function polling(stage: Stage, running: Running): Entrant<Figures> {
  const once = { numbers: ONE.numbers, requests: 1 };
  const asked = numbers(ONE.numbers);
  return {
    name: 'openid-client',
    round: () =>
      costOf(stage, [running], once, {}, async () => {
        const tookMs = await Promise.all(
          asked.map((number) => running.program.ask<number>('consent', number)),
        );
        return [Math.max(...tookMs)];
      }),
  };
}
