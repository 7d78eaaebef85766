import type { Cast } from '../cast.ts';
import { costOf, serving } from '../measure/costs.ts';
import type { Figures } from '../measure/figures.ts';
import { hops } from '../measure/hops.ts';
import { renamed, type Entrant } from '../measure/interleave.ts';
import type { Program } from '../processes/conversation.ts';
import type { Stage } from '../stage.ts';
import { nameOf, numbers, type Workload } from '../workload.ts';
import { measure, type Plan } from './measure.ts';
import type { Table } from './table.ts';

const HOP_MS = 20;
/** bc-authorize, the poll that brings the token, and the lookup that it buys. */
const HOPS = 3;

/** One query at a time: a second one about the same number would share the first one's consent. */
const ONE: Workload = { numbers: 1, fields: 'window', concurrency: 1, requests: 5 };
const FOUR_FIELDS: Workload = { ...ONE, fields: 'date and three windows' };
const HUNDRED: Workload = { numbers: 100, fields: 'window', concurrency: 1, requests: 2 };

/** One number is asked about again and again: each time anew, and as often as it takes. */
const ASKING_ANEW = {
  OPERATOR_FLOW: '3-legged',
  KEEP_FACTS_SECONDS: '0',
  QUOTA_PROMPTS_PER_HOUR: '999999999',
  QUOTA_PROMPTS_PER_HOUR_ALL_CALLERS: '999999999',
};

/** The flow in which the number's owner consents; here they have done so before they are asked. */
export async function measureConsent(cast: Cast, plan: Plan): Promise<Table> {
  const openidClient = plan.isQuick ? undefined : await cast.stage.program('openidClient.ts');
  const entrants = async (workload: Workload): Promise<Entrant<Figures>[]> => {
    const consented = await cast.kept('ours, 3-legged', () => cast.stage.ours(ASKING_ANEW));
    const ours = serving('ours, 3-legged', cast.stage, [consented], workload);
    const always = [hops(HOPS * HOP_MS), ours, renamed(ours, 'ours, 3-legged again')];
    if (openidClient === undefined) return always;
    const inProduction = await cast.kept('ours in production, 3-legged', () =>
      cast.stage.oursInProduction(ASKING_ANEW),
    );
    const unasked = await cast.entrants(['ours'], workload);
    const beside = [
      serving('ours in production, 3-legged', cast.stage, [inProduction], workload),
      ...unasked.map((one) => renamed(one, 'ours, 2-legged')),
    ];
    const others =
      workload.fields === 'window' ? [polling(cast.stage, openidClient, workload)] : [];
    return [...always, ...beside, ...others];
  };
  const at = (workload: Workload, rounds: { readonly full: number; readonly quick: number }) => ({
    name: `${nameOf(workload)}, ${HOP_MS} ms a hop`,
    rounds,
    manners: { hopMs: HOP_MS },
    entrants: () => entrants(workload),
  });
  return {
    name: 'consent',
    title: 'A consent already granted',
    shows: ['p50Ms', 'promptsPerQuery', 'tokensPerQuery', 'lookupsPerQuery', 'cpuMicrosPerNumber'],
    comparisons: [
      { figure: 'p50Ms', against: 'the hops' },
      { figure: 'p50Ms', against: 'ours, 3-legged' },
    ],
    rows: await measure(cast, plan, [
      at(ONE, { full: 10, quick: 0 }),
      at(FOUR_FIELDS, { full: 5, quick: 0 }),
      at(HUNDRED, { full: 5, quick: 0 }),
    ]),
  };
}

/** openid-client, which waits for the operator's interval before it polls. Once a round is enough of that. */
function polling(stage: Stage, program: Program, workload: Workload): Entrant<Figures> {
  const once = { numbers: workload.numbers, requests: 1 };
  const asked = numbers(workload.numbers);
  return {
    name: 'openid-client',
    round: () =>
      costOf(stage, [program], once, {}, async () => {
        const tookMs = await Promise.all(
          asked.map((number) => program.ask<number>('consent', number)),
        );
        return [Math.max(...tookMs)];
      }),
  };
}
