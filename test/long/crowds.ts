import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { laidOut } from '../../bench/report/markdown.ts';
import { TestIssuer } from '../caller/testIssuer.ts';
import { processUsage } from '../support/processUsage.ts';
import { freshStateKey, startRedis } from '../support/redisServer.ts';
import { slowness } from '../support/slowness.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { Counts } from './counts.ts';
import type { CrowdCounts } from './crowdOperator.ts';
import {
  count,
  duration,
  longRun,
  report,
  someOf,
  tallied,
  wrongIf,
  type Row,
  type Verdict,
} from './longRun.ts';
import { ProbedServer } from './probedServer.ts';
import { callingOperator } from './settings.ts';

const FLOWS = ['2-legged', '3-legged'] as const;
const STORES = ['memory', 'redis'] as const;

interface Crowd {
  readonly flow: (typeof FLOWS)[number];
  readonly store: (typeof STORES)[number];
  readonly lists: number;
  readonly heapMib: number;
  readonly replicas: number;
}

const PER_LIST = 100;
const CALLERS = 4;
const MANY = '999999999';
/** Of each exchange at the operator. */
const REPLY_MS: Readonly<Record<Crowd['flow'], number>> = { '2-legged': 300, '3-legged': 50 };

const DEADLINE_MS = 10_000;
/** On a machine as fast as the one that {@link slowness} compares with. */
const MAX_LATE_MS = 1500;
const MAX_TURN_MS = 200;
/** Where others have the processor, they have its caches as well. */
const BUSY_FACTOR = 2;
/** Of the operator: less than that is none of its lateness. */
const OPERATOR_WAITED_MS = 1000;
/** Owners consent after a second; those prompted in the crowd are queried again for so long. */
const TAKEN_UP_WITHIN_MS = 60_000;
/** Meanwhile there is no crowd. */
const AT_A_TIME = 4;

const HEADS = [
  'flow',
  'store',
  'heap MiB',
  'lists',
  'right',
  'UNAVAILABLE',
  'pending',
  'other',
  'longest turn ms',
  'of its own',
  'p50 ms',
  'last reply ms',
  'CPU s',
  'waited s',
  'prompted',
  'and refused',
  'of no use',
];

export const crowds = longRun({
  about: 'many lists at once, at a process that has just started',
  options: {
    lists: count('lists of 100 numbers at once', 400),
    heap: duration('the heap, in MiB', 2048),
    flow: someOf('the flow', FLOWS),
    store: someOf('the store', STORES),
    replicas: count('processes, which share no store in memory', 1),
  },
  short: '--lists 50 --flow 3-legged --store memory'.split(' '),
  needsRedis: true,
  async *run({ lists, heap: heapMib, flow: flows, store: stores, replicas }) {
    const rows: string[][] = [];
    for (const flow of flows) {
      for (const store of stores) {
        const { verdict, figures } = await seen({ flow, store, lists, heapMib, replicas });
        yield verdict;
        rows.push([flow, store, String(heapMib), String(lists), ...figures.map(String)]);
      }
    }
    process.stdout.write(`\n${laidOut([HEADS, ...rows])}\n`);
  },
});

/** What came of one crowd, and what of it must not be. */
async function seen(
  crowd: Crowd,
): Promise<{ verdict: Verdict; figures: readonly (string | number | undefined)[] }> {
  const { flow, store, lists, heapMib, replicas } = crowd;
  const slower = slowness();
  await using stage = new AsyncDisposableStack();
  const issuer = await TestIssuer.start();
  stage.defer(() => issuer.close());
  const operator = await CrowdOperator.start(REPLY_MS[flow]);
  stage.defer(() => operator.stop());
  const redis = store === 'redis' ? await startRedis() : undefined;
  if (redis !== undefined) stage.defer(() => redis.kill());
  const settings = {
    ...callingOperator(operator.url, flow),
    ...issuer.settings,
    AUDIT_KEY: randomBytes(32).toString('hex'),
    QUOTA_NUMBERS_PER_HOUR: MANY,
    QUOTA_LOOKUPS_PER_HOUR: MANY,
    REQUEST_TIMEOUT_MS: String(DEADLINE_MS),
    CONSENT_DOUBT_SECONDS: '120',
    ...(redis === undefined ? {} : { REDIS_URL: redis.url, STATE_KEY: freshStateKey() }),
  };
  const servers: ProbedServer[] = [];
  for (let n = 0; n < replicas; n += 1) {
    const AUDIT_LOG = join(temporaryFolder(), `audit-${n}.jsonl`);
    const flags = [`--max-old-space-size=${heapMib}`];
    servers.push(stage.use(await ProbedServer.start({ ...settings, AUDIT_LOG }, flags)));
  }
  const agent = new Agent({ connections: lists, headersTimeout: 0, bodyTimeout: 0 });
  stage.defer(() => agent.destroy());
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const tokens = await Promise.all(
    Array.from({ length: CALLERS }, (_, n) =>
      issuer.token({ sub: 'crowd', client_id: `crowd-${n}`, exp, scope: 'sim-swap:read' }),
    ),
  );
  const answers = new Answers();
  const send = async (list: number, numbers: readonly string[]): Promise<number> => {
    const sentAtMs = performance.now();
    const e164s = JSON.stringify(numbers);
    const query = `{ phoneNumbers(e164s: ${e164s}) { e164 simSwappedWithin(maxAgeHours: 240) } }`;
    // Each caller is at each replica.
    const server = servers[Math.floor(list / CALLERS) % replicas];
    const reply = await request(`${server?.url}/graphql`, {
      dispatcher: agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${tokens[list % CALLERS]}`,
      },
      body: JSON.stringify({ query }),
    });
    answers.add(numbers, (await reply.body.json()) as Reply);
    return performance.now() - sentAtMs;
  };
  for (const server of servers) {
    await server.figures();
    server.resetDelay();
  }
  const usage = () => usageOf([process.pid, operator.pid, ...servers.map(({ pid }) => pid)]);
  const before = usage();
  const crowded = Array.from({ length: lists }, (_, list) => list);
  const tookMs = (await Promise.all(crowded.map((list) => send(list, numbersOf(list))))).toSorted(
    (a, b) => a - b,
  );
  const [own, atOperator, ...atServers] = usage().map(({ cpuSeconds, waitedMs }, n) => ({
    cpuSeconds: cpuSeconds - (before[n]?.cpuSeconds ?? 0),
    waitedMs: waitedMs - (before[n]?.waitedMs ?? 0),
  }));
  const cpuSeconds = Math.max(...atServers.map((one) => one.cpuSeconds));
  const waitedMs = Math.max(...atServers.map((one) => one.waitedMs));
  const loops = await Promise.all(servers.map((server) => server.figures()));
  const longestTurnMs = Math.max(...loops.map((loop) => loop.longestTurnMs));
  const ownTurnMs = Math.max(...loops.map((loop) => loop.ownTurnMs));
  const outcomes = answers.outcomes();

  // Whose owner was prompted: the caller queries them again as long as the answer is pending.
  const untilMs = performance.now() + TAKEN_UP_WITHIN_MS;
  let counts = await operator.counts();
  // Their callers do not know that a prompt is on the phone.
  const promptedAndRefused = Object.keys(counts.prompts).filter((number) =>
    answers.isRefused(number),
  );
  for (;;) {
    const open = crowded.flatMap((list) => {
      const numbers = numbersOf(list).filter((number) => counts.prompts[number] !== undefined);
      const unanswered = numbers.filter((number) => !answers.isRight(number));
      return unanswered.length === 0 ? [] : [{ list, numbers: unanswered }];
    });
    if (open.length === 0 || performance.now() > untilMs) break;
    await sleep(1000);
    const left = [...open];
    const sendOn = async (): Promise<void> => {
      for (let next; (next = left.shift()) !== undefined;) await send(next.list, next.numbers);
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, sendOn));
    counts = await operator.counts();
  }

  const prompted = Object.keys(counts.prompts);
  const ofNoUse = prompted.filter((number) => !answers.isRight(number)).length;
  const lastMs = tookMs.at(-1) ?? 0;
  const isBusy = waitedMs > 1000 * cpuSeconds;
  const maxTurnMs = slower * (isBusy ? BUSY_FACTOR : 1) * MAX_TURN_MS;
  // What waits for the processor is late by that, at most.
  const lateBecauseBusyMs = waitedMs + (own?.waitedMs ?? 0);
  const isOperatorLate = waitedMs + (atOperator?.waitedMs ?? 0) > OPERATOR_WAITED_MS;
  const blamed = outcomes.of('OPERATOR_UNAVAILABLE') + outcomes.of('OPERATOR_TIMEOUT');
  const faults = [
    answers.wrong > 0 && `wrong answers: ${answers.wrong}`,
    counts.secondPrompts > 0 && `second prompts: ${counts.secondPrompts}`,
    ofNoUse > 0 && `owners prompted whose answer nobody received: ${ofNoUse}`,
    blamed > 0 && !isOperatorLate && `the operator is blamed: ${blamed}`,
    ownTurnMs > maxTurnMs && `the event loop was held up: ${ownTurnMs.toFixed(0)} ms`,
    lastMs > DEADLINE_MS + slower * MAX_LATE_MS + lateBecauseBusyMs &&
      `the last reply: ${lastMs.toFixed(0)} ms`,
  ].filter((fault) => fault !== false);
  report(`${flow}, ${store}, ${lists} lists, ${heapMib} MiB, replicas: ${replicas}`, [
    ...faults.map((fault): Row => [`WRONG: ${fault}`]),
    ...tallied('numbers', outcomes),
  ]);
  const [right, refused, pending] = ['right', 'UNAVAILABLE', 'CONSENT_PENDING'].map((outcome) =>
    outcomes.of(outcome),
  );
  const other = lists * PER_LIST - (right ?? 0) - (refused ?? 0) - (pending ?? 0);
  const times = [longestTurnMs, ownTurnMs, tookMs[Math.floor(lists / 2)] ?? 0, lastMs];
  const figures = [
    right,
    refused,
    pending,
    other,
    ...times.map((ms) => ms.toFixed(0)),
    cpuSeconds.toFixed(1),
    (waitedMs / 1000).toFixed(1),
    prompted.length,
    promptedAndRefused.length,
    ofNoUse,
  ];
  return { verdict: wrongIf(faults.length > 0), figures };
}

function usageOf(pids: readonly number[]) {
  return pids.map((pid) => processUsage(pid));
}

/** 555-0100 to 555-0199 are reserved for fiction in every North American area. */
function numbersOf(list: number): readonly string[] {
  const lines = Array.from({ length: PER_LIST }, (_, line) => String(line).padStart(2, '0'));
  return lines.map((line) => `+1${200 + list}55501${line}`);
}

/** As the operator has it (crowdOperator.ts). */
function isSwapped(number: string): boolean {
  return Number(number.slice(1)) % 7 === 0;
}

interface Reply {
  readonly data?: {
    readonly phoneNumbers: readonly ({ readonly simSwappedWithin: boolean | null } | null)[];
  };
  readonly errors?: readonly {
    readonly path?: readonly [string, number];
    readonly extensions: { readonly code: string };
  }[];
}

class Answers {
  wrong = 0;
  readonly #outcomes = new Map<string, string>();

  add(numbers: readonly string[], { data, errors = [] }: Reply): void {
    const [whole] = errors;
    for (const [at, number] of numbers.entries()) {
      const answer = data?.phoneNumbers[at]?.simSwappedWithin ?? undefined;
      const code = errors.find(({ path }) => path?.[1] === at)?.extensions.code;
      if (answer === undefined) {
        this.#outcomes.set(number, code ?? whole?.extensions.code ?? '?');
        continue;
      }
      if (answer !== isSwapped(number)) this.wrong += 1;
      this.#outcomes.set(number, 'right');
    }
  }

  isRight(number: string): boolean {
    return this.#outcomes.get(number) === 'right';
  }

  isRefused(number: string): boolean {
    return !['right', 'CONSENT_PENDING'].includes(this.#outcomes.get(number) ?? '');
  }

  outcomes(): Counts {
    const counts = new Counts();
    for (const outcome of this.#outcomes.values()) counts.add(outcome);
    return counts;
  }
}

/** Its process (crowdOperator.ts). */
export class CrowdOperator {
  readonly url: string;
  readonly pid: number;
  readonly #child: ReturnType<typeof fork>;

  private constructor(child: ReturnType<typeof fork>, port: number) {
    this.#child = child;
    this.pid = child.pid ?? 0;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(replyMs: number): Promise<CrowdOperator> {
    const child = fork(new URL('crowdOperator.ts', import.meta.url), [String(replyMs)]);
    const [port] = (await once(child, 'message')) as [number];
    return new CrowdOperator(child, port);
  }

  async counts(): Promise<CrowdCounts> {
    const counted = once(this.#child, 'message');
    this.#child.send('counts');
    const [counts] = (await counted) as [CrowdCounts];
    return counts;
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.disconnect();
    await ended;
  }
}
