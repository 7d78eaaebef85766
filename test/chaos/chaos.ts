import { setTimeout as sleep } from 'node:timers/promises';
import { Counts } from '../long/counts.ts';
import { ProbedServer } from '../long/probedServer.ts';
import { callingOperator, SHORT_CONSENTS, UNLIMITED_PROMPTS } from '../long/settings.ts';
import { createCertificate, type Certificate } from '../tls/certificate.ts';
import { ChaosOperator, type ChaosSettings, type Fault } from './chaosOperator.ts';
import { flagsWithout, type Guard } from './guards.ts';
import type { Offence } from '../support/operatorBooks.ts';
import { LoopWatch, type LoopFigures } from '../long/loopWatch.ts';
import { Random } from '../support/random.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { MEMBERS, operatorsFile, ownerOf, type OperatorGuard } from './threeOperators.ts';
import { Truth } from './truth.ts';

export interface ChaosRun {
  /** The stretch ends when the operator has seen so many. */
  readonly exchanges: number;
  readonly seed: number;
  readonly flow: '2-legged' | '3-legged';
  /** Whether the operator echoes correlators; if not, `OPERATOR_CORRELATOR_ECHO=never`. */
  readonly echoes: boolean;
  /** Over TLS, where every reply comes on a stream of its own; in plain HTTP/1.1 where absent. */
  readonly http2?: boolean;
  /**
   * What a lookup does with the token of another number: `refuses` has `OPERATOR_TOKEN_MISMATCH=refused`, and
   * an operator that hands out such tokens.
   */
  readonly onMismatch?: ChaosSettings['onMismatch'];
  /** The only fault of a single operator, in three exchanges of ten; all faults, rarely, where absent. */
  readonly onlyFault?: Fault;
  /** Three, in both flows; one in `flow` where absent. */
  readonly operators?: 3;
  readonly without: Guard | OperatorGuard | undefined;
  /** Ends the stretch earlier: on a busy machine the operator is late and its circuit opens. */
  readonly maxMs?: number;
  /** Ends the stretch as soon as this is found. */
  readonly until?: keyof Wrongness;
}

export interface Findings {
  readonly exchanges: number;
  readonly lookups: number;
  readonly answers: number;
  readonly refusals: ReadonlyMap<string, number>;
  readonly faults: ReadonlyMap<string, number>;
  /** Tokens of other numbers that the operator issued and then refused, as configured. */
  readonly strayTokensRefused: number;
  /** The share of each operator's questions that were answered, of 1. */
  readonly answeredOf: ReadonlyMap<string, number>;
  readonly latestMs: number;
  /** Of the server: it reads a request, and notices a deadline, as late as this. */
  readonly server: LoopFigures;
  /** Of this process, with the clients and the operator: a reply is read as late as this. */
  readonly clients: LoopFigures;
  readonly wrong: Wrongness;
}

const OFFENCES = [
  'tokensUsedTwice',
  'tokensOnAnotherSubject',
  'tokensPastTheirEnd',
  'numbersOfOthers',
  'billedTwice',
  'promptsWhileOneLived',
] as const satisfies readonly Offence[];

/** Each must be zero. */
export type Wrongness = Readonly<
  Record<'wrongAnswers' | 'falseForUnknown' | 'withoutAnEnd' | (typeof OFFENCES)[number], number>
>;

const UNLIMITED_MS = 60_000;
const OPERATOR_TIMEOUT_MS = 500;
const REQUEST_TIMEOUT_MS = 1500;
/** A reply that is so late never comes, even on a busy machine. */
const GIVEN_UP_AFTER_MS = 30_000;
/** Without a time limit replies never come: a short wait shows it. */
const GIVEN_UP_WITHOUT_LIMIT_AFTER_MS = 3000;
const CLIENTS = 64;
/** Code of the server is cold at first: 64 clients at once would wait up to 0.7 s. */
const JOINS_EVERY_MS = 20;
/** How long kept facts answer; those of a consent that no request has received, longer. */
const KEEP_FACTS_SECONDS = 1;
const CONSENT_RESULT_SECONDS = 10;
const WINDOWS = [1, 24, 100, 240, 720, 1000, 2000, 2400] as const;

interface Answered {
  readonly e164: string;
  readonly lastSimSwap?: string | null;
  readonly [alias: `within${number}`]: boolean | null;
}

interface GraphqlReply {
  readonly data?: { readonly phoneNumbers?: readonly (Answered | null)[] } | null;
  readonly errors?: readonly {
    readonly path?: readonly (string | number)[];
    readonly extensions?: { readonly code?: string };
  }[];
}

/** Clients query the real server over HTTP while its operators fail in every way. */
export async function runChaos(run: ChaosRun): Promise<Findings> {
  const truth = new Truth(run.seed, Date.now());
  const certificate = run.http2 === true ? createCertificate() : undefined;
  const operators = operatorsOf(run, truth, certificate);
  const urls = new Map<string, string>();
  for (const [name, operator] of operators) urls.set(name, await operator.listen());
  const files = writeFiles(run, urls, certificate);
  const server = await startServerUnderTest(run, urls, files);
  const asksOwners = run.flow === '3-legged' || run.operators !== undefined;
  const oldestSeconds = asksOwners ? CONSENT_RESULT_SECONDS : KEEP_FACTS_SECONDS;
  const tally = new Tally(truth, oldestSeconds * 1000);
  const random = new Random(run.seed + 1);
  const giveUpAfterMs =
    REQUEST_TIMEOUT_MS +
    (run.without === 'time-limit' ? GIVEN_UP_WITHOUT_LIMIT_AFTER_MS : GIVEN_UP_AFTER_MS);
  const handsOutStrays = run.onMismatch === 'refuses';
  const all = [...operators.values()];
  const sum = (count: (operator: ChaosOperator) => number): number =>
    all.reduce((total, operator) => total + count(operator), 0);
  const strays = (): number => sum(({ books }) => books.count('tokensOnAnotherSubject'));
  const wrong = (): Wrongness => ({
    wrongAnswers: tally.wrongAnswers,
    falseForUnknown: tally.falseForUnknown,
    withoutAnEnd: tally.withoutAnEnd,
    ...offencesTo(all),
    ...(handsOutStrays ? { tokensOnAnotherSubject: 0 } : {}),
  });
  const exchanges = (): number => sum((one) => one.exchanges);
  const endsAtMs = performance.now() + (run.maxMs ?? Infinity);
  const isOver = (): boolean =>
    exchanges() >= run.exchanges ||
    performance.now() > endsAtMs ||
    (run.until !== undefined && wrong()[run.until] > 0);
  const client = async (_: unknown, index: number): Promise<void> => {
    await sleep(index * JOINS_EVERY_MS);
    while (!isOver()) {
      await ask(server, random, truth, tally, giveUpAfterMs);
    }
  };
  let figures: LoopFigures;
  const watch = new LoopWatch();
  try {
    await Promise.all(Array.from({ length: CLIENTS }, client));
    figures = await server.figures();
  } finally {
    watch.stop();
    await server[Symbol.asyncDispose]();
    for (const operator of all) await operator.close();
  }
  const faults = new Counts();
  for (const [name, times] of all.flatMap((one) => [...one.faults])) faults.add(name, times);
  return {
    exchanges: exchanges(),
    lookups: sum(({ books }) => books.lookups),
    answers: tally.answers,
    answeredOf: tally.answeredOf(),
    refusals: tally.refusals,
    faults,
    strayTokensRefused: handsOutStrays ? strays() : 0,
    latestMs: tally.latestMs,
    server: figures,
    clients: watch.figures,
    wrong: wrong(),
  };
}

function offencesTo(operators: readonly ChaosOperator[]) {
  const count = (offence: Offence): number =>
    operators.reduce((all, { books }) => all + books.count(offence), 0);
  const counted = OFFENCES.map((offence) => [offence, count(offence)] as const);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each of them
  return Object.fromEntries(counted) as Record<(typeof OFFENCES)[number], number>;
}

function operatorsOf(
  run: ChaosRun,
  truth: Truth,
  certificate: Certificate | undefined,
): ReadonlyMap<string, ChaosOperator> {
  const common = { echoes: run.echoes, lateMs: OPERATOR_TIMEOUT_MS + 50 };
  if (run.operators === undefined) {
    const settings: ChaosSettings = {
      ...common,
      ...(certificate === undefined ? {} : { http2: certificate }),
      ...(run.onMismatch === undefined ? {} : { onMismatch: run.onMismatch }),
      ...(run.onlyFault === undefined ? {} : { onlyFault: run.onlyFault }),
      refusesOperations: run.flow === '2-legged',
    };
    return new Map([[ALONE, new ChaosOperator(truth, new Random(run.seed), settings)]]);
  }
  return new Map(
    MEMBERS.map(({ name, contract, faultShare, entry }, index) => {
      const settings: ChaosSettings = {
        ...common,
        refusesOperations: entry['flow'] === '2-legged',
        contract: { ...contract, serves: (number) => ownerOf(number) === name },
        ...(faultShare === undefined ? {} : { faultShare }),
      };
      return [name, new ChaosOperator(truth, new Random(run.seed + index), settings)];
    }),
  );
}

const ALONE = 'operator';

type Files = Readonly<Partial<Record<'NODE_EXTRA_CA_CERTS' | 'OPERATORS_FILE', string>>>;

function writeFiles(
  { operators, echoes, without }: ChaosRun,
  urls: ReadonlyMap<string, string>,
  certificate: Certificate | undefined,
): Files {
  const files = new TemporaryFiles();
  const written: Partial<Record<keyof Files, string>> = {};
  if (certificate !== undefined) {
    written.NODE_EXTRA_CA_CERTS = files.write('operator.pem', certificate.cert);
  }
  if (operators !== undefined) {
    const common = {
      echo: echoes ? 'auto' : 'never',
      dateMarginHours: dateMarginHours(without),
      limits: { timeoutMs: operatorTimeoutMs(without) },
    };
    const text = JSON.stringify(operatorsFile(urls, common, without, files));
    written.OPERATORS_FILE = files.write('operators.json', text);
  }
  return written;
}

/** The limits of the run, small enough for faults to cost little time. */
function startServerUnderTest(
  run: ChaosRun,
  urls: ReadonlyMap<string, string>,
  files: Files,
): Promise<ProbedServer> {
  const { without } = run;
  const requestTimeoutMs = without === 'time-limit' ? UNLIMITED_MS : REQUEST_TIMEOUT_MS;
  const settings = {
    ...(run.operators === undefined ? callingOne(run, urls.get(ALONE) ?? '') : CALLING_SEVERAL),
    ...SHORT_CONSENTS,
    ...files,
    REQUEST_TIMEOUT_MS: String(requestTimeoutMs),
    CONSENT_WAIT_MS: '500',
    // Longer than a prompt lives.
    CONSENT_DOUBT_SECONDS: '30',
    CONSENT_RESULT_SECONDS: String(CONSENT_RESULT_SECONDS),
    KEEP_FACTS_SECONDS: String(without === 'fact-age' ? 60 : KEEP_FACTS_SECONDS),
  };
  return ProbedServer.start(settings, flagsWithout(without));
}

const CALLING_SEVERAL = { CHAOS_SECRET: 'long-run', ...UNLIMITED_PROMPTS };

function callingOne(
  { flow, echoes, http2, onMismatch, without }: ChaosRun,
  operatorUrl: string,
): Readonly<Record<string, string>> {
  return {
    ...callingOperator(operatorUrl, flow),
    OPERATOR_CORRELATOR_ECHO: echoes || http2 === true ? 'auto' : 'never',
    OPERATOR_TOKEN_MISMATCH: onMismatch === 'refuses' ? 'refused' : 'accepted',
    OPERATOR_DATE_MARGIN_HOURS: String(dateMarginHours(without)),
    OPERATOR_TIMEOUT_MS: String(operatorTimeoutMs(without)),
  };
}

function dateMarginHours(without: ChaosRun['without']): number {
  return without === 'date-margin' ? 0 : 48;
}

function operatorTimeoutMs(without: ChaosRun['without']): number {
  return without === 'time-limit' ? UNLIMITED_MS : OPERATOR_TIMEOUT_MS;
}

async function ask(
  server: ProbedServer,
  random: Random,
  truth: Truth,
  tally: Tally,
  giveUpAfterMs: number,
): Promise<void> {
  const askedAtMs = Date.now();
  const numbers = Array.from({ length: 1 + random.below(5) }, () => truth.pick(random, askedAtMs));
  const windows = WINDOWS.filter(() => random.chance(0.3));
  const fields = [
    'e164',
    ...(random.chance(0.4) || windows.length === 0 ? ['lastSimSwap'] : []),
    ...windows.map((hours) => `within${hours}: simSwappedWithin(maxAgeHours: ${hours})`),
  ];
  const query = `query ($numbers: [ID!]!) { phoneNumbers(e164s: $numbers) { ${fields.join(' ')} } }`;
  const startedAtMs = performance.now();
  try {
    const body = JSON.stringify({ query, variables: { numbers } });
    const { text } = await server.post(body, giveUpAfterMs);
    tally.late(performance.now() - startedAtMs - REQUEST_TIMEOUT_MS);
    tally.count(JSON.parse(text) as GraphqlReply, windows, { askedAtMs, answeredAtMs: Date.now() });
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'TimeoutError')) throw error;
    tally.withoutAnEnd += 1;
  }
}

interface Asked {
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
}

/** Compares answers with the truth, as old as facts may be when the request was sent. */
class Tally {
  answers = 0;
  wrongAnswers = 0;
  falseForUnknown = 0;
  withoutAnEnd = 0;
  latestMs = 0;
  readonly refusals = new Counts();
  readonly #asked = new Counts();
  readonly #answered = new Counts();
  readonly #truth: Truth;
  readonly #oldestMs: number;

  constructor(truth: Truth, oldestMs: number) {
    this.#truth = truth;
    this.#oldestMs = oldestMs;
  }

  answeredOf(): ReadonlyMap<string, number> {
    return new Map(
      [...this.#asked].map(([name, asked]) => [name, this.#answered.of(name) / asked]),
    );
  }

  late(ms: number): void {
    this.latestMs = Math.max(this.latestMs, ms);
  }

  count({ data, errors = [] }: GraphqlReply, windows: readonly number[], asked: Asked): void {
    const failed = new Set(errors.map(({ path = [] }) => path.slice(1).join('.')));
    for (const { extensions } of errors) this.refusals.add(extensions?.code ?? 'no code');
    for (const [index, answered] of (data?.phoneNumbers ?? []).entries()) {
      if (answered === null) continue;
      if (answered.lastSimSwap !== undefined) {
        this.#date(answered, asked, failed.has(`${index}.lastSimSwap`));
      }
      for (const hours of windows) {
        this.#window(answered, hours, asked, failed.has(`${index}.within${hours}`));
      }
    }
  }

  #date({ e164, lastSimSwap = null }: Answered, asked: Asked, hasFailed: boolean): void {
    this.#asked.add(ownerOf(e164));
    if (hasFailed && lastSimSwap === null) return;
    this.#answered.add(ownerOf(e164));
    this.answers += 1;
    const dates = this.#times(asked).map((atMs) => this.#truth.latestSimChange(e164, atMs));
    if (hasFailed || !dates.includes(lastSimSwap)) this.wrongAnswers += 1;
  }

  #window(answered: Answered, hours: number, asked: Asked, hasFailed: boolean): void {
    const value = answered[`within${hours}`] ?? null;
    this.#asked.add(ownerOf(answered.e164));
    if (value === null) {
      if (!hasFailed) this.wrongAnswers += 1;
      return;
    }
    const { e164 } = answered;
    this.#answered.add(ownerOf(e164));
    this.answers += 1;
    const truths = this.#times(asked).map((atMs) => this.#truth.swappedWithin(e164, hours, atMs));
    const isRight = truths.includes(value);
    if (!isRight) this.wrongAnswers += 1;
    if (!value && (hasFailed || !isRight)) this.falseForUnknown += 1;
  }

  /** A line swaps once: what is true at neither moment is never true between them. */
  #times({ askedAtMs, answeredAtMs }: Asked): readonly number[] {
    return [askedAtMs - this.#oldestMs, answeredAtMs];
  }
}
