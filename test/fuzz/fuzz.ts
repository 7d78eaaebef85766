import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { Counts } from '../long/counts.ts';
import { ProbedServer } from '../long/probedServer.ts';
import { callingOperator } from '../long/settings.ts';
import { inputOf, type Input, type Role } from './inputs.ts';
import { RubbishOperator } from './operatorReplies.ts';
import {
  count,
  longRun,
  numeric,
  seed,
  stretch,
  tallied,
  wrongIf,
  type Row,
} from '../long/longRun.ts';
import type { ProbeFigures } from '../long/probe.ts';
import { slowness } from '../support/slowness.ts';

interface FuzzRun {
  /** How many inputs, rubbish of the operator's among them. */
  readonly inputs: number;
  /** The number of the first one, to send it again. */
  readonly from: number;
  readonly seed: number;
  readonly role: Role;
  readonly flow: '2-legged' | '3-legged';
}

interface Held {
  readonly bytes: number;
  readonly threads: number;
  readonly fileDescriptors: number;
}

/** No input may delay the others for longer, on a machine as fast as the one that {@link slowness} compares with. */
const MAX_DELAY_MS = 100;
/** Caches fill, code is compiled: more than this is a leak, or a cache without a bound. */
const MAX_GROWTH_BYTES = 64 * 1024 * 1024;
/** libuv starts its threads when they are needed. */
const MAX_MORE_THREADS = 4;
/** Connections to the operator that are kept alive. */
const MAX_MORE_DESCRIPTORS = 64;

const STRETCHES: readonly (Pick<FuzzRun, 'role' | 'flow'> & { readonly share: number })[] = [
  { role: 'bff', flow: '2-legged', share: 0.5 },
  { role: 'subgraph', flow: '2-legged', share: 0.35 },
  { role: 'bff', flow: '3-legged', share: 0.15 },
];

/** With more at a time a delay would be that of many inputs. */
const AT_A_TIME = 8;
const BATCH = 500;
/** Well over a request's deadline: a later reply never comes. */
const GIVEN_UP_AFTER_MS = 15_000;
/** How long bytes that may not be a whole request stay without an end. */
const RAW_PATIENCE_MS = 20;
/** Code is compiled and caches fill for so many batches; what is held then is the baseline. */
const WARM_UP_BATCHES = 2;
/** The limit of the service, with what surrounds the data. */
const MAX_REPLY_BYTES = 2 * 1024 * 1024 + 64 * 1024;
const MAX_SHOWN = 10;
const FINAL_STATUS = /^HTTP\/1\.1 ([2-9]\d\d)/m;
const GOOD_NUMBER = '+447700900500';

interface GraphqlReply {
  readonly errors?: readonly {
    readonly message?: string;
    readonly extensions?: { readonly code?: string };
  }[];
}

export const fuzz = longRun({
  about: 'rubbish as HTTP, documents, variables, tokens and replies of the operator',
  options: {
    inputs: count("how many inputs, rubbish of the operator's among them", 10_000),
    seed: seed('the same inputs'),
    from: numeric('the number of the first input of each stretch, to send one again', 0, isIndex),
  },
  short: ['--inputs', '5000'],
  async *run({ inputs, from, seed: used }) {
    for (const { role, flow, share } of STRETCHES) {
      const run = { inputs: Math.ceil(inputs * share), from, seed: used, role, flow };
      yield wrongIf(hasFailed(await stretch(`${role}, ${flow}`, () => runFuzz(run), rowsOf)));
    }
  },
});

function isIndex(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

/** Sends seeded rubbish to a real server whose operator replies with rubbish. */
async function runFuzz(run: FuzzRun) {
  const maxDelayMs = MAX_DELAY_MS * slowness();
  const operator = new RubbishOperator(run.seed);
  const server = await startProcess(run, await operator.listen());
  const tally = new Tally();
  try {
    await expectGoodAnswer(server, run.role);
    server.resetDelay();
    let next = run.from;
    let answeredGoods = 0;
    let heldBefore: Held | undefined;
    const client = async (end: number): Promise<void> => {
      while (next < end) {
        const index = next;
        next += 1;
        const input = inputOf(run.seed, index, run.role);
        tally.inputs.add(input.kind);
        await (input.kind === 'HTTP'
          ? sendBytes(server.url, input.bytes, index, tally)
          : send(server, input, index, tally));
      }
    };
    const sent = (): number => next - run.from + operator.rubbish;
    while (sent() < run.inputs) {
      const end = next + Math.min(BATCH, run.inputs - sent());
      await Promise.all(Array.from({ length: AT_A_TIME }, () => client(end)));
      try {
        await expectGoodAnswer(server, run.role);
        answeredGoods += 1;
      } catch {
        tally.violation(`no good answer after the batch that ends before input ${end}`);
        if (server.hasEnded) {
          throw new Error(`The service ended. ${server.err}${tally.violations.join('\n')}`);
        }
      }
      if (answeredGoods <= WARM_UP_BATCHES) heldBefore = heldBy(server, await server.figures());
    }
    tally.inputs.add('operator reply', operator.rubbish);
    tally.statuses.add('good questions answered', answeredGoods);
    const figures = await server.figures();
    const heldAfter = heldBy(server, figures);
    const defects = server.lines.filter((line) =>
      line.includes('A request failed because of a defect in this service. Report it.'),
    );
    heldBefore ??= heldAfter;
    return { tally, figures, maxDelayMs, defects, heldBefore, heldAfter };
  } finally {
    await server[Symbol.asyncDispose]();
    await operator[Symbol.asyncDispose]();
  }
}

type Findings = Awaited<ReturnType<typeof runFuzz>>;

function hasFailed(findings: Findings): boolean {
  const { tally, figures, maxDelayMs, defects, heldBefore, heldAfter } = findings;
  return (
    heldAfter.bytes - heldBefore.bytes > MAX_GROWTH_BYTES ||
    heldAfter.threads - heldBefore.threads > MAX_MORE_THREADS ||
    heldAfter.fileDescriptors - heldBefore.fileDescriptors > MAX_MORE_DESCRIPTORS ||
    tally.violationCount > 0 ||
    defects.length > 0 ||
    figures.ownTurnMs > maxDelayMs
  );
}

function mebibytes({ bytes }: Held): string {
  return (bytes / 1024 / 1024).toFixed(1);
}

function rowsOf(findings: Findings): Row[] {
  const { tally, figures, maxDelayMs, defects, heldBefore, heldAfter } = findings;
  return [
    ...tallied('inputs', tally.inputs),
    ...tallied('replies with', tally.statuses),
    ...tallied('GraphQL errors with', tally.codes),
    ['longest event-loop delay by own work, ms', figures.ownTurnMs.toFixed(1)],
    ['the same, at most', maxDelayMs.toFixed(1)],
    ['longest event-loop delay by the wall clock, ms', figures.longestTurnMs.toFixed(1)],
    ['longest reply, bytes', tally.longestReplyBytes],
    ['heap after collection, MiB, before and after', mebibytes(heldBefore), mebibytes(heldAfter)],
    ['threads, before and after', heldBefore.threads, heldAfter.threads],
    ['file descriptors, before and after', heldBefore.fileDescriptors, heldAfter.fileDescriptors],
    ['wrong: 5xx, no answer, resolvers, numbers, too long', tally.violationCount],
    ['wrong: requests that broke', defects.length],
    ...[...tally.violations, ...defects.slice(0, MAX_SHOWN)].map((one): Row => [`  ${one}`]),
  ];
}

function startProcess({ role, flow }: FuzzRun, operatorUrl: string): Promise<ProbedServer> {
  const settings = {
    ...callingOperator(operatorUrl, flow),
    ROLE: role,
    NODE_ENV: 'test',
    OPERATOR_TIMEOUT_MS: '300',
    REQUEST_TIMEOUT_MS: '1000',
    CONSENT_WAIT_MS: '100',
  };
  return ProbedServer.start(settings);
}

function heldBy({ pid }: ProbedServer, { heapBytes, externalBytes }: ProbeFigures): Held {
  return {
    bytes: heapBytes + externalBytes,
    threads: readdirSync(`/proc/${pid}/task`).length,
    fileDescriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

async function expectGoodAnswer(server: ProbedServer, role: Role): Promise<void> {
  const query =
    role === 'bff'
      ? `{ phoneNumbers(e164s: ["${GOOD_NUMBER}"]) { e164 } }`
      : `{ _entities(representations: [{ __typename: "PhoneNumber", e164: "${GOOD_NUMBER}" }]) { ... on PhoneNumber { e164 } } }`;
  const { status, text } = await server.post(JSON.stringify({ query }), GIVEN_UP_AFTER_MS);
  if (status !== 200 || !text.includes(`[{"e164":"${GOOD_NUMBER}"}]`)) {
    throw new Error(`A good question was answered with ${status}.`);
  }
}

async function send(
  server: ProbedServer,
  { headers, body }: Exclude<Input, { kind: 'HTTP' }>,
  index: number,
  tally: Tally,
): Promise<void> {
  try {
    const { status, text } = await server.post(body, GIVEN_UP_AFTER_MS, headers);
    tally.answered(status, text, index);
  } catch (error) {
    tally.violation(`input ${index} has no answer (${String(error)})`);
  }
}

/** Writes bytes as they are, and waits until the server has closed the connection. */
async function sendBytes(url: string, bytes: string, index: number, tally: Tally): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let received = '';
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const tellEnd = setTimeout(() => socket.end(), RAW_PATIENCE_MS);
  const giveUp = setTimeout(() => {
    tally.violation(`input ${index} (HTTP) has no end`);
    socket.destroy();
  }, GIVEN_UP_AFTER_MS);
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
    if (FINAL_STATUS.test(received)) socket.end();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearTimeout(tellEnd);
    clearTimeout(giveUp);
    resolve();
  });
  socket.write(bytes, 'latin1');
  await promise;
  const status = FINAL_STATUS.exec(received)?.[1];
  if (status === undefined) tally.statuses.add('no reply (HTTP)');
  else tally.answered(Number(status), received.slice(received.indexOf('\r\n\r\n') + 4), index);
}

class Tally {
  readonly inputs = new Counts();
  readonly statuses = new Counts();
  readonly codes = new Counts();
  readonly violations: string[] = [];
  violationCount = 0;
  longestReplyBytes = 0;

  answered(status: number, body: string, index: number): void {
    this.statuses.add(String(status));
    const bytes = Buffer.byteLength(body);
    this.longestReplyBytes = Math.max(this.longestReplyBytes, bytes);
    if (bytes > MAX_REPLY_BYTES) this.violation(`input ${index} was answered with ${bytes} bytes`);
    if (status >= 500) this.violation(`input ${index} was answered with ${status}`);
    for (const { message = '', extensions } of errorsIn(body)) {
      const code = extensions?.code ?? 'no code';
      this.codes.add(code);
      if (code === 'INTERNAL_SERVER_ERROR') this.violation(`input ${index} broke a resolver`);
      if (/\+447700900\d{3}/.test(message)) this.violation(`input ${index}: a number in a message`);
    }
  }

  violation(what: string): void {
    this.violationCount += 1;
    if (this.violations.length < MAX_SHOWN) this.violations.push(what);
  }
}

function errorsIn(body: string): NonNullable<GraphqlReply['errors']> {
  try {
    return (JSON.parse(body) as GraphqlReply | null)?.errors ?? [];
  } catch {
    return [];
  }
}
