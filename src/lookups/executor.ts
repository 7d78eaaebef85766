import DataLoader from 'dataloader';
import { planChannel, type PlanResult, traced } from '../log/diagnostics.ts';
import type { FailedLookup } from '../domain/failedLookup.ts';
import type { FieldAsk } from '../domain/fields.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { lookupOf, type TimedFact } from '../domain/fact.ts';
import { lookupFor, lookupKey, type Question } from '../domain/question.ts';
import type { LookupFailure, LookupFailureCode } from '../domain/errors.ts';
import type { ConsentStatus } from '../domain/consentStatus.ts';
import type { ConsentReading, LookupSession, LookupOutcome, LookupRequest } from './lookupRoute.ts';
import type { NumbersAtWork } from './numbersAtWork.ts';
import type { Operators, RoutedOperator, Routing } from './operators.ts';
import type { Answer, Plan } from './plan.ts';
import { answerTo, heardIn, mayBeElsewhere, nextLookup } from './planner.ts';

/** What a field hears: an answer, or how the consent stands, `undefined` when that cannot be told. */
export type FieldAnswer =
  Answer | { readonly kind: 'consent'; readonly consent: ConsentStatus | undefined };

/** Gathers one request's questions, tick by tick, and answers each. */
export interface SimSwapLoader {
  /**
   * The answer to what a field asks. The consent is told after what is asked in the same tick. Rejects for
   * a defect of ours alone: a lookup that failed is an answer.
   */
  answer(number: PhoneNumber, ask: FieldAsk): Promise<FieldAnswer>;
  /** Notes that the answers so far have reached the caller: without it they count as not heard. */
  told(): void;
}

/** Answers the questions of one request: plans, looks up, adds what was learned, until nothing is open. */
export class Executor implements SimSwapLoader {
  readonly #operators: Operators;
  readonly #request: LookupRequest;
  readonly #numbersAtWork: NumbersAtWork | undefined;
  /** Facts live as long as the request, so a later question finds what an earlier one learned. */
  readonly #sessions = new Map<PhoneNumber, NumberSession>();
  /** Gathers what all fields ask in one tick; sessions tell equal questions. */
  readonly #loader = new DataLoader<NumberAsk, FieldAnswer>(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- resolved with a promise, a promise takes it over
    (asks) => Promise.resolve(this.#answerAll(asks) as unknown as FieldAnswer[]),
    { cache: false },
  );

  /** @param numbersAtWork bounds the numbers of all requests together; there is no bound where absent */
  constructor(operators: Operators, request: LookupRequest, numbersAtWork?: NumbersAtWork) {
    this.#operators = operators;
    this.#request = request;
    this.#numbersAtWork = numbersAtWork;
    if (numbersAtWork === undefined) return;
    request.onOwnerWait = (number, isWaiting) => {
      const session = this.#sessions.get(number);
      if (session === undefined || session.openAnswers === 0) return;
      if (isWaiting !== session.waitsForOwner) numbersAtWork.wait(request.caller.key, isWaiting);
      session.waitsForOwner = isWaiting;
    };
  }

  answer(number: PhoneNumber, { asked }: FieldAsk): Promise<FieldAnswer> {
    const session = this.#session(number);
    if (session.openAnswers === 0 && this.#numbersAtWork !== undefined) {
      // For good where a number was refused once: its fields say the same.
      session.isRefused ||= !this.#numbersAtWork.take(this.#request.caller.key);
      if (session.isRefused) return Promise.resolve(REFUSED);
    }
    session.openAnswers += 1;
    return this.#loader.load({ session, asked });
  }

  /** Looks up until these questions have answers. Never rejects; {@link answerTo} tells what came of it. */
  ask(number: PhoneNumber, questions: readonly Question[]): Promise<void> {
    const session = this.#session(number);
    session.gathered.push(...questions);
    return (session.run ??= this.#run(session));
  }

  /** The answer to a question that was asked; an `Error` for a defect of ours. */
  answerTo(number: PhoneNumber, question: Question): Answer | Error {
    return answerIn(this.#session(number), question);
  }

  told(): void {
    for (const { current } of this.#sessions.values()) {
      if (current === undefined) continue;
      const { offer, route } = current.operator;
      route.told?.(heardIn(current, offer), current);
    }
  }

  /**
   * How the consent about a number stands once what this request asks is answered. What an answer said
   * of it holds: an expiry is told once, and a pending one may have ended a moment later.
   */
  async consent(number: PhoneNumber): Promise<ConsentReading> {
    const session = this.#session(number);
    session.asksConsent = true;
    do await this.ask(number, []);
    while (session.current?.operator === this.#operators.kept && !isOver(session));
    const { current, unrouted, defect } = session;
    if (unrouted !== undefined) return { kind: 'failed', failure: unrouted };
    if (current === undefined) throw defect ?? new Error('A number was left without an operator.');
    const reading = await current.operator.route.consent(number, this.#request);
    switch (reading.kind) {
      case 'read':
        return { kind: 'read', status: statusBeside(current, reading.status) };
      case 'failed':
        return reading;
    }
  }

  /**
   * Questions about one number are planned together, whatever fields they come from (docs/design.md, "From
   * questions to lookups"). Each number has its answers as soon as its own operator has given them.
   */
  #answerAll(asks: readonly NumberAsk[]): Promise<FieldAnswer>[] {
    for (const { session, asked } of asks) {
      if (asked.asks !== 'consent') session.gathered.push(asked);
    }
    return asks.map((ask) => this.#answerOf(ask));
  }

  async #answerOf({ session, asked }: NumberAsk): Promise<FieldAnswer> {
    try {
      if (asked.asks === 'consent') {
        return consentAnswer(await (session.consent ??= this.consent(session.number)));
      }
      await (session.run ??= this.#run(session));
      const answer = answerIn(session, asked);
      if (answer instanceof Error) throw answer;
      return answer;
    } finally {
      session.openAnswers -= 1;
      if (session.openAnswers === 0) {
        this.#numbersAtWork?.giveBack(this.#request.caller.key, session.waitsForOwner);
        session.waitsForOwner = false;
      }
    }
  }

  async #run(session: NumberSession): Promise<void> {
    try {
      do {
        takeUp(session);
        await (planChannel.hasSubscribers ? this.#askTraced(session) : this.#askInTurn(session));
      } while (session.gathered.length > 0);
    } catch (defect) {
      session.defect = defect instanceof Error ? defect : new Error('A lookup broke.');
    }
    // In one turn with the end: a question that comes later begins another run.
    session.run = undefined;
  }

  #askTraced(session: NumberSession): Promise<void> {
    const { name: correlator } = this.#request.correlator;
    const message = { correlator, questions: session.questions.length };
    const work = () => this.#askInTurn(session);
    return traced(planChannel, message, work, () => planned(session));
  }

  /**
   * The next operator is asked where the one before does not know the number. What that one said counts no
   * more: a number that moved has another SIM.
   */
  async #askInTurn(session: NumberSession): Promise<void> {
    let routing = (session.routing ??= this.#operators.of(session.number, this.#request));
    if (typeof routing === 'function' || routing.kind === 'failed') {
      if (await this.#isKept(session)) return;
      if (typeof routing === 'function') session.routing = routing = await routing();
    }
    switch (routing.kind) {
      case 'failed':
        session.unrouted = routing.failure;
        return;
      case 'served':
    }
    const { inTurn } = routing;
    const { current } = session;
    let turn =
      current === undefined || current.operator === this.#operators.kept
        ? this.#turnOf(inTurn[0], session, current)
        : current;
    session.current = turn;
    for (;;) {
      const { offer, route } = turn.operator;
      // One lookup at a time: the next one may not be needed, and some operators refuse a second.
      for (let lookup; (lookup = nextLookup(turn, offer)) !== undefined;) {
        learn(turn, await route.lookUp(lookup, turn));
        takeUp(session);
      }
      const next = mayBeElsewhere(turn) ? inTurn[inTurn.indexOf(turn.operator) + 1] : undefined;
      if (next === undefined) return;
      session.current = turn = this.#turnOf(next, session);
    }
  }

  /** Whether what is kept answers all that is asked, so that nobody has to be chosen for it. */
  async #isKept(session: NumberSession): Promise<boolean> {
    const { kept } = this.#operators;
    if (kept === undefined || session.questions.length === 0) return false;
    const turn = (session.current ??= this.#turnOf(kept, session));
    for (let lookup; (lookup = nextLookup(turn, kept.offer)) !== undefined;) {
      learn(turn, await kept.route.lookUp(lookup, turn));
      takeUp(session);
    }
    // What is not kept is still to be looked up, and the consent's status to be read.
    return turn.failures.splice(0).length === 0 && !session.asksConsent;
  }

  #turnOf(
    operator: RoutedOperator,
    { number, questions }: NumberSession,
    { facts = [], besides = [] }: Partial<OperatorSession> = {},
  ): OperatorSession {
    const known = { facts, besides, failures: [] };
    return { operator, number, questions, request: this.#request, ...known };
  }

  #session(number: PhoneNumber): NumberSession {
    let session = this.#sessions.get(number);
    if (session === undefined) {
      session = {
        number,
        gathered: [],
        questions: [],
        routing: undefined,
        unrouted: undefined,
        current: undefined,
        consent: undefined,
        asksConsent: false,
        run: undefined,
        openAnswers: 0,
        isRefused: false,
        waitsForOwner: false,
        deducedBefore: 0,
        defect: undefined,
      };
      this.#sessions.set(number, session);
    }
    return session;
  }
}

function answerIn(
  { current, unrouted, defect }: NumberSession,
  question: Question,
): Answer | Error {
  const answer =
    current === undefined ? undefined : answerTo(question, current, current.operator.offer);
  if (answer === undefined && unrouted !== undefined) return { kind: 'failure', failure: unrouted };
  return answer ?? defect ?? new Error('A question was left open.');
}

function isOver({ unrouted, defect }: NumberSession): boolean {
  return unrouted !== undefined || defect !== undefined;
}

/** What a number hears that is not taken in. */
const REFUSED: FieldAnswer = {
  kind: 'failure',
  failure: { code: 'UNAVAILABLE', reach: 'number', retryAfterSeconds: 1 },
};

function consentAnswer(reading: ConsentReading): FieldAnswer {
  switch (reading.kind) {
    case 'read':
      return { kind: 'consent', consent: reading.status };
    case 'failed':
      return { kind: 'failure', failure: reading.failure };
  }
}

/** Takes what was gathered into the plan; equal questions are one. */
function takeUp({ gathered, questions }: NumberSession): void {
  for (const question of gathered.splice(0)) {
    if (!questions.some((known) => isEqual(known, question))) questions.push(question);
  }
}

function isEqual(one: Question, other: Question): boolean {
  return one.asks === 'date' || other.asks === 'date'
    ? one.asks === other.asks
    : one.maxAgeHours === other.maxAgeHours;
}

/** What is published of a plan: no number and no answer. */
function planned(session: NumberSession): PlanResult {
  return {
    outcome: 'planned',
    facts: session.current?.facts.length ?? 0,
    deduced: newlyDeduced(session),
    failures: session.current?.failures.map(({ failure }) => failure.code) ?? [],
  };
}

/** Since the last time: a number's questions may be run more than once. */
function newlyDeduced(session: NumberSession): number {
  const { deducedBefore } = session;
  session.deducedBefore = deducedOf(session);
  return Math.max(0, session.deducedBefore - deducedBefore);
}

/** Fields that ask the same count once. */
function deducedOf({ questions, current }: NumberSession): number {
  // A single question needs its lookup: nothing is deduced.
  if (current === undefined || questions.length < 2) return 0;
  const { offer } = current.operator;
  const told = new Set(current.facts.map((fact) => lookupKey(lookupOf(fact))));
  const asked = new Map(questions.map((question) => [lookupKey(lookupFor(question)), question]));
  let deduced = 0;
  for (const [key, question] of asked) {
    if (!told.has(key) && isAnswer(answerTo(question, current, offer))) deduced += 1;
  }
  return deduced;
}

function isAnswer(answer: Answer | undefined): boolean {
  switch (answer?.kind) {
    case 'date':
    case 'window':
      return true;
    case 'failure':
    case undefined:
      return false;
  }
}

function learn(session: OperatorSession, outcome: LookupOutcome): void {
  switch (outcome.kind) {
    case 'facts':
      session.facts.push(...outcome.facts);
      session.besides.push(...(outcome.besides ?? []));
      if (outcome.closed !== undefined) session.failures.push(outcome.closed);
      break;
    case 'failed':
      session.failures.push(outcome.failed);
      break;
    default:
      outcome satisfies never;
  }
}

/** How a consent stands beside what a request was told; `stored` is how it stands by itself. */
function statusBeside(
  { facts, failures }: Plan,
  stored: ConsentStatus | undefined,
): ConsentStatus | undefined {
  if (stored?.state === 'NOT_NEEDED') return stored;
  const told = failures.findLast(({ failure }) => failure.code in STATES)?.failure;
  const state = told === undefined ? undefined : STATES[told.code];
  if (told === undefined || state === undefined) {
    return facts.length > 0 ? { state: 'ANSWERED' } : stored;
  }
  if (stored?.state === state) return stored;
  const { retryAfterSeconds } = told;
  return { state, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

const STATES: Readonly<Partial<Record<LookupFailureCode, ConsentStatus['state']>>> = {
  CONSENT_PENDING: 'PENDING',
  CONSENT_DENIED: 'DENIED',
  CONSENT_EXPIRED: 'EXPIRED',
};

interface NumberAsk {
  readonly session: NumberSession;
  readonly asked: FieldAsk['asked'];
}

interface NumberSession {
  readonly number: PhoneNumber;
  /** Not yet planned. */
  readonly gathered: Question[];
  readonly questions: Question[];
  routing: Routing | (() => Promise<Routing>) | undefined;
  /** Why no operator is asked. */
  unrouted: LookupFailure | undefined;
  /** At the operator whose turn it is. */
  current: OperatorSession | undefined;
  /** Read once, for all fields that ask. */
  consent: Promise<ConsentReading> | undefined;
  /** How it stands is for the number's operator to say. */
  asksConsent: boolean;
  /** Under way. */
  run: Promise<void> | undefined;
  /** The number has a place as long as there are any. */
  openAnswers: number;
  isRefused: boolean;
  waitsForOwner: boolean;
  /** So many deduced answers have been published. */
  deducedBefore: number;
  defect: Error | undefined;
}

/** What was asked of one operator, and what it said. */
interface OperatorSession extends LookupSession {
  readonly operator: RoutedOperator;
  readonly questions: Question[];
  readonly facts: TimedFact[];
  readonly besides: TimedFact[];
  readonly failures: FailedLookup[];
}
