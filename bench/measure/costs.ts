import { setTimeout as sleep } from 'node:timers/promises';
import type { RawOrder, RawResult } from '../contestants/rawOrder.ts';
import type { OperatorCounts } from '../operator/traffic.ts';
import type { Program } from '../processes/conversation.ts';
import type { Gauge } from '../processes/gauge.ts';
import type { Running, RunningServer, Stage } from '../stage.ts';
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
  /** Counts what is done after the last answer as well, such as connections that are opened for the next query. */
  readonly countsAftermath?: boolean;
  /** The first queries of a round find connections that other contestants' turns have let age: not in p50. */
  readonly untimed?: number;
}

/** Servers that answer a workload between them. */
export function serving(
  name: string,
  stage: Stage,
  servers: readonly RunningServer[],
  workload: Workload,
  { expected = 'whole', ...terms }: Terms = {},
): Entrant<Figures> {
  const { requests, concurrency, pauseMs = 0 } = workload;
  const order = {
    urls: servers.map(({ url }) => url),
    bodies: Array.from({ length: concurrency }, (_, client) => bodyOf(workload, client)),
    headers: servers[0]?.headers ?? {},
    requests,
    pauseMs,
  };
  return {
    name,
    async round() {
      const figures = await costOf(stage, servers, workload, terms, async () => {
        const { latenciesMs, answer } = await stage.send(order);
        refuseUnlike(expected, name, answer, workload);
        return latenciesMs;
      });
      refuseSavedLookups(name, figures, workload);
      return figures;
    },
  };
}

/** What asks the operator about fewer numbers than it was asked about is measured for work that it did not do. */
function refuseSavedLookups(
  name: string,
  { lookupsPerQuery = 0 }: Figures,
  { numbers, isOneNumber = false }: Workload,
): void {
  if (isOneNumber || lookupsPerQuery >= numbers) return;
  throw new Error(`${name} made ${lookupsPerQuery} lookups for ${numbers} numbers.`);
}

/** The limit: the exchanges alone. */
export function exchanging(
  name: string,
  stage: Stage,
  raw: Running,
  workload: Workload,
  terms: Terms = {},
): Entrant<Figures> {
  const { fields, requests, concurrency, pauseMs = 0 } = workload;
  const order: RawOrder = {
    numbers: numbersOf(workload, 0),
    operation: fields === 'date' ? 'retrieve-date' : 'check',
    lookups: LOOKUPS_ONE_BY_ONE[fields],
    batches: requests,
    concurrency,
    pauseMs,
  };
  return {
    name,
    round: () =>
      costOf(stage, [raw], workload, terms, async () => {
        const { latenciesMs } = await raw.program.ask<RawResult>('run', order);
        return latenciesMs;
      }),
  };
}

/** What these use, and what reaches the operator's server that they ask, while something runs. */
export async function costOf(
  stage: Stage,
  running: readonly Running[],
  { numbers, requests }: Pick<Workload, 'numbers' | 'requests'>,
  { watchesLoop = false, countsAftermath = false, untimed = 0 }: Omit<Terms, 'expected'>,
  run: () => Promise<readonly number[]>,
): Promise<Figures> {
  const programs = running.map(({ program }) => program);
  const wire = running[0]?.wire ?? 'plain';
  await stage.counts(wire);
  if (watchesLoop) await all(programs, 'watchLoop');
  const redisBefore = await stage.redisUse();
  const before = await cpuMs(programs);
  const latenciesMs = (await run()).slice(untimed);
  const counts: OperatorCounts[] = [await stage.counts(wire)];
  if (countsAftermath) counts.push(...(await aftermath(() => stage.counts(wire))));
  const after = await cpuMs(programs);
  const redis = await stage.redisUse();
  const delays = watchesLoop ? await all<{ longestMs: number }>(programs, 'loopDelay') : [];
  const sum = (kind: keyof OperatorCounts): number =>
    counts.reduce((total, one) => total + one[kind], 0);
  const lookups = sum('lookups');
  return {
    cpuMicrosPerNumber: ((after - before) * 1000) / (numbers * requests),
    scriptsPerQuery: (redis.scripts - redisBefore.scripts) / requests,
    redisMicrosPerNumber: (redis.micros - redisBefore.micros) / (numbers * requests),
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    lookupsPerQuery: lookups / requests,
    // A contestant that polls here has consent: each poll brings a token.
    tokensPerQuery: (sum('tokens') + sum('polls')) / requests,
    promptsPerQuery: sum('prompts') / requests,
    handshakesPerLookup: sum('handshakes') / lookups,
    fullHandshakesPerLookup: (sum('handshakes') - sum('resumedHandshakes')) / lookups,
    bytesPerLookup: sum('bytes') / lookups,
    // After the last answer none carries a request.
    usedConnections: counts[0]?.usedConnections ?? 0,
    ...(watchesLoop
      ? { longestLoopDelayMs: Math.max(...delays.map(({ longestMs }) => longestMs)) }
      : {}),
  };
}

/** So long nothing new must reach the operator until a round is over. */
const QUIET_MS = 200;
const MAX_AFTERMATH_MS = 3000;

/** What reaches the operator until no connection has been opened for a while. */
async function aftermath(take: () => Promise<OperatorCounts>): Promise<OperatorCounts[]> {
  const counts: OperatorCounts[] = [];
  const startedMs = performance.now();
  do {
    await sleep(QUIET_MS);
    counts.push(await take());
  } while (
    (counts.at(-1)?.connections ?? 0) > 0 &&
    performance.now() - startedMs < MAX_AFTERMATH_MS
  );
  return counts;
}

async function cpuMs(programs: readonly Program[]): Promise<number> {
  const gauges = await all<Gauge>(programs, 'gauge', {});
  return gauges.reduce((sum, gauge) => sum + gauge.cpuMs, 0);
}

function all<T>(programs: readonly Program[], name: string, details?: unknown): Promise<T[]> {
  return Promise.all(programs.map((program) => program.ask<T>(name, details)));
}
