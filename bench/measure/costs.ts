import type { RawOrder, RawResult } from '../contestants/rawOrder.ts';
import type { Program } from '../processes/conversation.ts';
import type { Gauge } from '../processes/gauge.ts';
import type { ServerUnderTest, Stage } from '../stage.ts';
import { bodyOf, LOOKUPS_ONE_BY_ONE, numbersOf, type Workload } from '../workload.ts';
import { refuseUnlike, type Expected } from './answers.ts';
import type { Figures } from './figures.ts';
import type { Entrant } from './interleave.ts';
import { quantile } from './statistics.ts';

/** What is looked at in a round beside what it costs. */
export interface Terms {
  /** What an answer must be like to count. */
  readonly expected?: Expected;
  /** Watching how long the event loop is held up has a cost of its own. */
  readonly watchesLoop?: boolean;
}

/** Servers that answer a workload between them. */
export function serving(
  name: string,
  stage: Stage,
  servers: readonly ServerUnderTest[],
  workload: Workload,
  { expected = 'whole', ...terms }: Terms = {},
): Entrant<Figures> {
  const { requests, concurrency } = workload;
  const order = {
    urls: servers.map(({ url }) => url),
    body: bodyOf(workload),
    headers: servers[0]?.headers ?? {},
    requests,
    concurrency,
  };
  const programs = servers.map(({ program }) => program);
  return {
    name,
    round: () =>
      costOf(stage, programs, workload, terms, async () => {
        const { latenciesMs, answer } = await stage.send(order);
        refuseUnlike(expected, name, answer, workload);
        return latenciesMs;
      }),
  };
}

/** The limit: the exchanges alone. */
export function exchanging(
  name: string,
  stage: Stage,
  program: Program,
  workload: Workload,
  terms: Terms = {},
): Entrant<Figures> {
  const { fields, requests, concurrency } = workload;
  const order: RawOrder = {
    numbers: numbersOf(workload),
    operation: fields === 'date' ? 'retrieve-date' : 'check',
    lookups: LOOKUPS_ONE_BY_ONE[fields],
    batches: requests,
    concurrency,
  };
  return {
    name,
    round: () =>
      costOf(stage, [program], workload, terms, async () => {
        const { latenciesMs } = await program.ask<RawResult>('run', order);
        return latenciesMs;
      }),
  };
}

/** What the programs under test use, and what reaches the operator, while something runs. */
export async function costOf(
  stage: Stage,
  programs: readonly Program[],
  { numbers, requests }: Pick<Workload, 'numbers' | 'requests'>,
  { watchesLoop = false }: Pick<Terms, 'watchesLoop'>,
  run: () => Promise<readonly number[]>,
): Promise<Figures> {
  await stage.counts();
  if (watchesLoop) await all(programs, 'watchLoop');
  const before = await cpuMs(programs);
  const latenciesMs = await run();
  const after = await cpuMs(programs);
  const delays = watchesLoop ? await all<{ longestMs: number }>(programs, 'loopDelay') : [];
  const { tokens, polls, lookups, prompts } = await stage.counts();
  return {
    cpuMicrosPerNumber: ((after - before) * 1000) / (numbers * requests),
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    lookupsPerQuery: lookups / requests,
    // Whoever polls here has consented: each poll brings a token.
    tokensPerQuery: (tokens + polls) / requests,
    promptsPerQuery: prompts / requests,
    ...(watchesLoop
      ? { longestLoopDelayMs: Math.max(...delays.map(({ longestMs }) => longestMs)) }
      : {}),
  };
}

async function cpuMs(programs: readonly Program[]): Promise<number> {
  const gauges = await all<Gauge>(programs, 'gauge', {});
  return gauges.reduce((sum, gauge) => sum + gauge.cpuMs, 0);
}

function all<T>(programs: readonly Program[], name: string, details?: unknown): Promise<T[]> {
  return Promise.all(programs.map((program) => program.ask<T>(name, details)));
}
