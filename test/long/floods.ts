import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { laidOut } from '../../bench/report/markdown.ts';
import { youngGenerationBytes } from '../../src/config/loadLimits.ts';
import { TestIssuer } from '../caller/testIssuer.ts';
import { MemoryGroup } from '../support/memoryGroup.ts';
import { CrowdOperator } from './crowds.ts';
import { FLOODS, numberAt, ROLES, usualBody, type FloodKind, type Role } from './floodBodies.ts';
import type { Flood, FloodResult } from './floodClient.ts';
import { duration, longRun, oneOf, report, someOf, type Row, type Verdict } from './longRun.ts';
import { ProbedServer } from './probedServer.ts';
import { callingOperator } from './settings.ts';

const MIB = 1024 * 1024;
const MANY = '999999999';
const ROUTER_SECRET = 'a-router-secret-of-thirty-two-characters';
/** Of each exchange at the operator. */
const REPLY_MS = 50;

const FLOWS = ['2-legged', '3-legged'] as const;
const HEAPS = ['128', '256'] as const;
const OTHERS = ['kept', 'new'] as const;
const COUNTS = ['14', '40', '400', '4000', '5000'] as const;

/** How often others ask: a reply that waits for its owner takes three seconds, and keeps a connection. */
const EVERY_MS = { '2-legged': 25, '3-legged': 100 } as const;
/** What others' slowest replies may take, of what they take while nothing else is sent. */
const MAX_TIMES = 3;
/** On top of the heap and an eighth of it for bodies, with the young generation of deploy/'s container. */
const MAX_OUTSIDE_MIB = 150;
/** That of deploy/: V8's young generation follows from it. */
const CONTAINER_MIB = 512;
/** What the young generation takes more, where the process is in no group and V8 sees the whole machine. */
const MORE_YOUNG_MIB =
  (youngGenerationBytes(totalmem()) - youngGenerationBytes(CONTAINER_MIB * MIB)) / MIB;
/** Of the heap, collected, on top of what it was before. */
const MAX_MORE_HEAP_MIB = 16;
const QUIET_MS = 3000;

interface Service {
  readonly role: Role;
  readonly flow: (typeof FLOWS)[number];
  readonly heapMib: number;
  readonly others: (typeof OTHERS)[number];
}

interface Flooded {
  readonly verdict: Verdict;
  readonly cells: readonly string[];
}

const HEADS = [
  'role',
  'flow',
  'heap MiB',
  'bodies',
  'at once',
  'replies',
  'seconds',
  "others' requests",
  'refused',
  'p99 before, ms',
  'p50',
  'p99',
  'longest',
  'longest turn of its own',
  'heap before, MiB',
  'after',
  'resident at most',
  'load',
];

export const floods = longRun({
  about: 'junk in bodies, and bodies without an end: what others notice, and what stays of it',
  options: {
    role: someOf('the role', ROLES),
    flow: someOf('the flow', FLOWS),
    heap: someOf('the heap, in MiB', HEAPS),
    at: someOf('how many requests at once', COUNTS),
    bodies: someOf('what they send', FLOODS),
    others: oneOf("others' connections, of which only kept ones are judged by their time", OTHERS),
    seconds: duration('how long each flood is, at least', 5),
  },
  short: '--role bff --flow 2-legged --heap 128 --at 400 --bodies heaviest,endless'.split(' '),
  async *run({ role: roles, flow: flows, heap: heaps, at, bodies, others = 'kept', seconds }) {
    const rows: string[][] = [];
    for (const role of roles) {
      for (const flow of flows) {
        for (const heap of heaps) {
          const service = { role, flow, heapMib: Number(heap), others };
          const counts = at.map(Number);
          for await (const { verdict, cells } of floodedBy(bodies, counts, seconds, service)) {
            yield verdict;
            rows.push([role, flow, heap, ...cells]);
          }
        }
      }
    }
    process.stdout.write(`\n${laidOut([HEADS, ...rows])}\n`);
  },
});

async function* floodedBy(
  kinds: readonly FloodKind[],
  counts: readonly number[],
  seconds: number,
  { role, flow, heapMib, others: way }: Service,
): AsyncGenerator<Flooded> {
  await using stage = new AsyncDisposableStack();
  const issuer = await TestIssuer.start();
  stage.defer(() => issuer.close());
  const operator = await CrowdOperator.start(REPLY_MS);
  stage.defer(() => operator.stop());
  const group = MemoryGroup.make(CONTAINER_MIB);
  const maxResidentMib =
    1.125 * heapMib + MAX_OUTSIDE_MIB + (group === undefined ? MORE_YOUNG_MIB : 0);
  stage.defer(() => group?.[Symbol.dispose]());
  const server = await ProbedServer.start(
    {
      ...callingOperator(operator.url, flow),
      ...issuer.settings,
      ...(role === 'subgraph' ? { ROLE: role, ROUTER_SECRET } : {}),
      AUDIT_LOG: '/dev/null',
      AUDIT_KEY: 'a-key-of-at-least-thirty-two-characters',
      QUOTA_NUMBERS_PER_HOUR: MANY,
      QUOTA_LOOKUPS_PER_HOUR: MANY,
    },
    [`--max-old-space-size=${heapMib}`],
    group,
  );
  stage.use(server);
  const client = fork(new URL('floodClient.ts', import.meta.url));
  stage.defer(() => client.disconnect());
  const exp = Math.floor(Date.now() / 1000) + 7200;
  const headersOf = async (sub: string): Promise<Record<string, string>> => ({
    authorization: `Bearer ${await issuer.token({ sub, client_id: sub, exp, scope: 'sim-swap:read' })}`,
    'content-type': 'application/json',
    ...(role === 'subgraph' ? { 'x-router-secret': ROUTER_SECRET } : {}),
  });
  const others = new Others({
    url: server.url,
    headers: await headersOf('other'),
    role,
    everyMs: EVERY_MS[flow],
    isNew: way === 'new',
  });
  stage.defer(() => others.close());
  const headers = {
    ...(await headersOf('hostile')),
    ...(flow === '3-legged' ? { prefer: 'wait=5' } : {}),
  };
  await others.warmUp();
  const quiet = await others.during(sleep(QUIET_MS));

  for (const kind of kinds) {
    for (const connections of counts) {
      const load = loadavg()[0] ?? 0;
      const before = await server.figures();
      server.resetDelay();
      // The highest so far is from now on.
      await writeFile(`/proc/${server.pid}/clear_refs`, '5');
      const port = Number(new URL(server.url).port);
      const forMs = seconds * 1000;
      const flood: Flood = { port, role, kind, headers, connections, forMs };
      const ended = once(client, 'message') as Promise<[FloodResult]>;
      client.send(flood);
      const noticed = await others.during(ended);
      const [{ statuses, tookMs }] = await ended;
      const residentMib = await mostResidentMib(server.pid);
      const after = await server.figures();
      const stays = (after.heapBytes - before.heapBytes) / MIB;
      const faults = [
        residentMib > maxResidentMib && `memory is over ${maxResidentMib.toFixed(0)} MiB`,
        stays > MAX_MORE_HEAP_MIB && 'memory stays',
      ].filter((fault) => fault !== false);
      const late = [
        noticed.refused > 0 && 'others are refused',
        way === 'kept' && noticed.p99 > MAX_TIMES * quiet.p99 && 'others are late',
      ].filter((fault) => fault !== false);
      const isBusy = load > availableParallelism();
      report(`${role}, ${flow}, ${heapMib} MiB, ${connections} ${kind}`, [
        ...faults.map((fault): Row => [`WRONG: ${fault}`]),
        ...late.map((fault): Row => [`${isBusy ? 'busy' : 'WRONG'}: ${fault}`]),
      ]);
      const isLate: Verdict =
        late.length === 0 ? 'nothing wrong' : isBusy ? 'INCONCLUSIVE' : 'WRONG';
      const replies = Object.entries(statuses).map(([status, times]) => `${times} × ${status}`);
      const [seen, heap] = [
        [quiet.p99, noticed.p50, noticed.p99, noticed.longest, after.ownTurnMs],
        [before.heapBytes / MIB, after.heapBytes / MIB, residentMib],
      ];
      yield {
        verdict: faults.length > 0 ? 'WRONG' : isLate,
        cells: [
          kind,
          String(connections),
          replies.join(', '),
          (tookMs / 1000).toFixed(1),
          String(noticed.requests),
          String(noticed.refused),
          ...[...seen, ...heap].map((figure) => figure.toFixed(0)),
          load.toFixed(1),
        ],
      };
    }
  }
}

interface Answered {
  readonly tookMs: number;
  readonly isRefused: boolean;
}

interface OthersParts {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly role: Role;
  readonly everyMs: number;
  /** Whether each query makes a connection. */
  readonly isNew: boolean;
}

/** Another caller, who queries one number each so often, whether the last reply has come or not. */
class Others {
  static readonly #CONNECTIONS = 64;
  readonly #agent: Agent;
  readonly #parts: OthersParts;
  #sent = 0;

  constructor(parts: OthersParts) {
    this.#parts = parts;
    this.#agent = new Agent({
      connections: parts.isNew ? null : Others.#CONNECTIONS,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 60_000,
    });
  }

  /** Its connections are made, where they are kept, and the server's code is compiled. */
  async warmUp(): Promise<void> {
    for (let wave = 0; wave < 3; wave += 1) {
      await Promise.all(Array.from({ length: Others.#CONNECTIONS }, () => this.#one()));
    }
  }

  async during(over: Promise<unknown>) {
    const progress = { isOver: false };
    void over.then(() => (progress.isOver = true));
    const all: Promise<Answered>[] = [];
    const startedAtMs = performance.now();
    while (!progress.isOver) {
      all.push(this.#one());
      await sleep(Math.max(0, startedAtMs + all.length * this.#parts.everyMs - performance.now()));
    }
    const noticed = await Promise.all(all);
    const took = noticed.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b);
    const below = (share: number): number => took[Math.floor(took.length * share)] ?? 0;
    return {
      requests: took.length,
      refused: noticed.filter(({ isRefused }) => isRefused).length,
      p50: below(0.5),
      p99: below(0.99),
      longest: took.at(-1) ?? 0,
    };
  }

  async #one(): Promise<Answered> {
    // From the other end.
    const number = numberAt(79_999 - (this.#sent % 20_000));
    this.#sent += 1;
    const { url, headers, role, isNew } = this.#parts;
    const body = usualBody(role).join(number);
    const sentAtMs = performance.now();
    const isRefused = await request(`${url}/graphql`, {
      dispatcher: this.#agent,
      method: 'POST',
      reset: isNew,
      headers,
      body,
    }).then(
      async (reply) => {
        const text = await reply.body.text();
        return reply.statusCode !== 200 || /UNAVAILABLE|TIMEOUT|RATE_LIMITED/.test(text);
      },
      () => true,
    );
    return { tookMs: performance.now() - sentAtMs, isRefused };
  }

  close(): Promise<void> {
    return this.#agent.close();
  }
}

async function mostResidentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
}
