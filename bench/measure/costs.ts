import type { RawOrder, RawResult } from '../contestants/rawOrder.ts';
import type { Program } from '../processes/conversation.ts';
import type { Gauge } from '../processes/gauge.ts';
import type { ServerUnderTest, Stage } from '../stage.ts';
import { bodyOf, LOOKUPS_ONE_BY_ONE, numbersOf, type Workload } from '../workload.ts';
import type { Entrant } from './interleave.ts';
import { quantile } from './statistics.ts';

/** What one round came to. */
export interface Cost {
  /** User and system time of the process under test, for each number that was asked about. */
  readonly cpuMicrosPerNumber: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A server that answers a workload. */
export function serving(
  name: string,
  stage: Stage,
  { program, url, headers }: ServerUnderTest,
  workload: Workload,
): Entrant<Cost> {
  const { requests, concurrency } = workload;
  const body = bodyOf(workload);
  return {
    name,
    round: () =>
      costOf(program, workload, async () => {
        const { latenciesMs, answer } = await stage.send({
          urls: [url],
          body,
          headers,
          requests,
          concurrency,
        });
        refuseEmpty(name, answer, workload);
        return latenciesMs;
      }),
  };
}

/** The limit: the exchanges alone. */
export function exchanging(name: string, program: Program, workload: Workload): Entrant<Cost> {
  const { fields, requests, concurrency } = workload;
  return {
    name,
    round: () =>
      costOf(program, workload, async () => {
        const order: RawOrder = {
          numbers: numbersOf(workload),
          operation: fields === 'date' ? 'retrieve-date' : 'check',
          lookups: LOOKUPS_ONE_BY_ONE[fields],
          batches: requests,
          concurrency,
        };
        const { latenciesMs } = await program.ask<RawResult>('run', order);
        return latenciesMs;
      }),
  };
}

async function costOf(
  program: Program,
  { numbers, requests }: Workload,
  run: () => Promise<readonly number[]>,
): Promise<Cost> {
  const before = await program.ask<Gauge>('gauge', {});
  const latenciesMs = await run();
  const after = await program.ask<Gauge>('gauge', {});
  return {
    cpuMicrosPerNumber: ((after.cpuMs - before.cpuMs) * 1000) / (numbers * requests),
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
  };
}

/** A server that is fast because it answers nothing is measured by nobody. */
function refuseEmpty(name: string, text: string, { numbers }: Workload): void {
  const { data, errors } = JSON.parse(text) as {
    data?: { phoneNumbers?: readonly Record<string, unknown>[] } | null;
    errors?: readonly { readonly extensions?: { readonly code?: string } }[];
  };
  const answered = data?.phoneNumbers ?? [];
  const isWhole = answered.every((one) => Object.values(one).every((field) => field !== null));
  if (answered.length === numbers && isWhole && errors === undefined) return;
  throw new Error(`${name} did not answer: ${errors?.[0]?.extensions?.code ?? 'fields are missing'}`);
}
