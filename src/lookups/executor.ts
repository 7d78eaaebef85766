import DataLoader from 'dataloader';
import { BROKEN, planChannel, traced, type Broken, type PlanResult } from '../log/diagnostics.ts';
import type { FailedLookup, TimedFact } from '../domain/fact.ts';
import type { FieldQuestion, ConsentStatus } from '../domain/fields.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { lookupFor, lookupKey, type Lookup, type Question } from '../domain/question.ts';
import type { LookupFailure, LookupFailureCode } from '../domain/errors.ts';
import type { Admitted, Denied, LookupAuthorizer } from './lookupAuthorizer.ts';
import type { LookupSession, LookupOutcome, LookupRequest } from './lookupRoute.ts';
import type { NumbersAtWork } from './numbersAtWork.ts';
import type { Operators, RoutedOperator, Routing } from './operators.ts';
import {
  answerTo,
  heardIn,
  mayBeElsewhere,
  nextLookup,
  type Answer,
  type Plan,
} from './planner.ts';

/** An answer, or the consent's status; `undefined` where that cannot be said. */
export type FieldAnswer =
  Answer | { readonly kind: 'consent'; readonly consent: ConsentStatus | undefined };

export type SimSwapLoader = Pick<Executor, 'ask' | 'askAhead' | 'isAnswered' | 'answerTo' | 'told'>;

/** Answers the questions of one request: plans, looks up and adds the facts, until nothing is open. */
export class Executor {
  readonly #operators: Operators;
  readonly #request: LookupRequest;
  readonly #numbersAtWork: NumbersAtWork | undefined;
  readonly #admission: Pick<LookupAuthorizer, 'admit'> | undefined;
  /** Facts live as long as the request, so a later question finds the facts of an earlier one. */
  readonly #sessions = new Map<PhoneNumber, NumberSession>();
  /** Gathers the questions of one tick. Each number is done as soon as its own operator has answered. */
  readonly #loader = new DataLoader<() => Promise<unknown>, void>(
    (begins) => {
      const over = begins.map((begin) => begin());
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- resolved with a promise, a promise takes it over
      return Promise.resolve(over as unknown as void[]);
    },
    { cache: false },
  );

  /**
   * @param numbersAtWork bounds the numbers of all requests together; no bound where absent
   * @param admission of numbers whose operator no prefix says; all are admitted where absent
   */
  constructor(
    operators: Operators,
    request: LookupRequest,
    numbersAtWork?: NumbersAtWork,
    admission?: Pick<LookupAuthorizer, 'admit'>,
  ) {
    this.#operators = operators;
    this.#admission = admission;
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

  /** Resolves once {@link answerTo} knows the answer (docs/design.md, "From questions to lookups"). Never rejects. */
  ask(number: PhoneNumber, asked: FieldQuestion): Promise<void> {
    const session = this.#noted(number, asked.asks === 'consent' ? NOTHING : [asked]);
    if (asked.asks !== 'consent') return this.#loader.load(() => this.#run(session));
    session.asksConsent = true;
    return this.#loader.load(() => (session.consent ??= this.#readConsent(session)));
  }

  /** The same for many numbers at once, with one promise for all; their fields need none once it is resolved. */
  askAhead(numbers: readonly PhoneNumber[], questions: readonly Question[]): Promise<void> {
    const sessions: NumberSession[] = [];
    for (const number of numbers) sessions.push(this.#noted(number, questions));
    return this.#loader.load(async () => {
      for (const session of sessions) void this.#run(session);
      for (const session of sessions) await session.run;
    });
  }

  /** Whether a run that included it is over. */
  isAnswered(number: PhoneNumber, asked: FieldQuestion): boolean {
    const session = this.#sessions.get(number);
    return session !== undefined && (session.isRefused || session.taken.includes(asked));
  }

  #noted(number: PhoneNumber, questions: readonly Question[]): NumberSession {
    let session = this.#sessions.get(number);
    if (session === undefined) {
      session = new NumberSession(number, this.#request);
      this.#sessions.set(number, session);
    }
    for (const asked of questions) {
      if (!session.questions.includes(asked)) session.questions = [...session.questions, asked];
    }
    return session;
  }

  /** A lookup that failed is an answer; an `Error` is a defect of ours. */
  answerTo(number: PhoneNumber, asked: FieldQuestion): FieldAnswer | Error {
    const session = this.#sessions.get(number);
    if (session === undefined) return new Error('A number was not asked about.');
    if (session.isRefused) return REFUSED;
    const { operator, unrouted, defect, consentAnswer } = session;
    let answer: FieldAnswer | undefined;
    if (asked.asks === 'consent') answer = consentAnswer;
    else if (operator !== undefined) answer = answerTo(asked, session, operator.offer);
    if (answer !== undefined) return answer;
    if (unrouted !== undefined) return { kind: 'failure', failure: unrouted };
    return defect ?? new Error('A question was left open.');
  }

  /** The answers so far have reached the caller; without this call they count as not heard. */
  told(): void {
    for (const session of this.#sessions.values()) {
      const { operator } = session;
      operator?.route.told?.(heardIn(session, operator.offer), session);
    }
  }

  /** After the answers, which take precedence: an expiry is reported once, and a pending consent may have ended since. */
  async #readConsent(session: NumberSession): Promise<void> {
    if (!this.#takePlace(session)) return;
    try {
      await this.#run(session);
      // Kept facts may have answered everything before the consent became a question.
      const { kept } = this.#operators;
      if (kept !== undefined && session.operator === kept && session.unrouted === undefined) {
        await this.#run(session);
      }
      const { operator, unrouted, number } = session;
      if (unrouted !== undefined || operator === undefined) return;
      const reading = await operator.route.consent(number, this.#request);
      session.consentAnswer =
        reading.kind === 'failed'
          ? { kind: 'failure', failure: reading.failure }
          : { kind: 'consent', consent: statusBeside(session, reading.status) };
    } catch (defect) {
      session.defect = errorOf(defect);
    } finally {
      this.#leavePlace(session);
    }
  }

  /** A run under way includes the questions that arrive meanwhile. Never rejects. */
  #run(session: NumberSession): Promise<void> {
    if (session.isRunning || !this.#takePlace(session)) return session.run;
    session.isRunning = true;
    session.run = planChannel.hasSubscribers ? this.#lookUpTraced(session) : this.#lookUp(session);
    return session.run;
  }

  #lookUpTraced(session: NumberSession): Promise<void> {
    const { correlator } = this.#request;
    const message = { correlator: correlator.name, questions: session.questions.length };
    const work = () => this.#lookUp(session);
    return traced(planChannel, message, work, () => planned(session));
  }

  /**
   * Tries kept facts first where the number's operator is not known at once. Where an operator does not know the number
   * the next one is called; what the first said no longer counts, since a number that moved has another SIM.
   */
  async #lookUp(session: NumberSession): Promise<void> {
    const { kept } = this.#operators;
    try {
      let routing = (session.routing ??= this.#operators.of(session.number, this.#request));
      const isRouted = typeof routing !== 'function' && routing.kind === 'served';
      // Which operator has a number is said of those only that count for the caller.
      const claim = isRouted ? undefined : await this.#claim(session);
      if (claim?.kind === 'denied') {
        session.unrouted = claim.failure;
        return;
      }
      if (!isRouted && (await this.#isKept(session))) return;
      const { questions } = session;
      if (typeof routing === 'function') session.routing = routing = await routing();
      if (routing.kind === 'failed') {
        const attempts = routing.isUnsent === true ? 0 : 1;
        await claim?.ended({ outcome: routing.failure.code, attempts });
        // Kept facts may answer questions that arrived meanwhile, although no operator can be called.
        if (session.questions !== questions) await this.#isKept(session);
        session.unrouted = routing.failure;
        return;
      }
      const { inTurn } = routing;
      let { operator } = session;
      if (operator === undefined || operator === kept) [operator] = inTurn;
      for (;;) {
        session.operator = operator;
        const { offer, route }: RoutedOperator = operator;
        // One lookup at a time: the next one may not be needed, and some operators refuse a second.
        for (let lookup; (lookup = nextLookup(session, offer)) !== undefined;) {
          learn(session, await route.lookUp(lookup, session));
        }
        if (!mayBeElsewhere(session)) return;
        operator = inTurn[inTurn.indexOf(operator) + 1];
        if (operator === undefined) return;
        session.facts = session.besides = [];
        session.failures = [];
        session.answered = [];
      }
    } catch (defect) {
      session.defect = errorOf(defect);
    } finally {
      // In one turn with the end: a question that comes later begins another run.
      session.isRunning = false;
      session.taken = session.questions;
      this.#leavePlace(session);
    }
  }

  #claim({ number }: NumberSession): Promise<Admitted | Denied> | Admitted | Denied | undefined {
    return this.#admission?.admit({ event: 'routing', number, request: this.#request });
  }

  /** Whether kept facts answer everything, so that no operator has to be chosen. */
  async #isKept(session: NumberSession): Promise<boolean> {
    const { kept } = this.#operators;
    if (kept === undefined || session.questions.length === 0) return false;
    session.operator ??= kept;
    for (let lookup; (lookup = nextLookup(session, kept.offer)) !== undefined;) {
      learn(session, await kept.route.lookUp(lookup, session));
    }
    const isAnswered = session.failures.length === 0;
    // Everything else is still to be looked up, and the consent's status to be read.
    session.failures = [];
    return isAnswered && !session.asksConsent;
  }

  /** A number has one place until its run and the reading of its consent are over; `false` where no place is free. */
  #takePlace(session: NumberSession): boolean {
    // For good where a number was refused once: its fields say the same.
    if (session.openAnswers === 0) {
      session.isRefused ||= this.#numbersAtWork?.take(this.#request.caller.key) === false;
    }
    if (session.isRefused) return false;
    session.openAnswers += 1;
    return true;
  }

  #leavePlace(session: NumberSession): void {
    session.openAnswers -= 1;
    if (session.openAnswers > 0) return;
    const { key } = this.#request.caller;
    if (session.waitsForOwner) this.#numbersAtWork?.wait(key, false);
    session.waitsForOwner = false;
    this.#numbersAtWork?.giveBack(key);
  }
}

const NOTHING: readonly never[] = [];
const NOT_BEGUN = Promise.resolve();

function errorOf(defect: unknown): Error {
  return defect instanceof Error ? defect : new Error('A lookup broke.');
}

const REFUSED: FieldAnswer = {
  kind: 'failure',
  failure: { code: 'UNAVAILABLE', reach: 'number', retryAfterSeconds: 1 },
};

function planned(session: NumberSession): PlanResult | Broken {
  if (session.defect !== undefined) return BROKEN;
  // A number may have several runs: counts what was deduced since the last one.
  const { deducedBefore } = session;
  session.deducedBefore = deducedOf(session);
  return {
    outcome: 'planned',
    facts: session.facts.length,
    deduced: Math.max(0, session.deducedBefore - deducedBefore),
    failures: session.failures.map(({ failure }) => failure.code),
  };
}

/** How many questions were answered without their own lookup; those that take the same one count once. */
function deducedOf(session: NumberSession): number {
  const { questions, facts, operator } = session;
  // A single question needs its lookup: nothing is deduced.
  if (operator === undefined || questions.length < 2) return 0;
  const told = new Set(facts.map((fact) => lookupKey(fact)));
  return questions.filter((question) => {
    const answer = answerTo(question, session, operator.offer);
    const isAnswered = answer !== undefined && answer.kind !== 'failure';
    return isAnswered && !told.has(lookupKey(lookupFor(question)));
  }).length;
}

function learn(session: NumberSession, outcome: LookupOutcome): void {
  switch (outcome.kind) {
    case 'facts': {
      const { facts, besides, made, closed } = outcome;
      session.facts = session.facts.concat(facts);
      if (besides !== undefined) session.besides = session.besides.concat(besides);
      if (made !== undefined) session.answered = [...session.answered, made];
      if (closed !== undefined) session.failures = [...session.failures, closed];
      break;
    }
    case 'failed':
      session.failures = [...session.failures, outcome.failed];
      break;
    default:
      outcome satisfies never;
  }
}

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

/**
 * The questions about one number, and what its current operator has said. Its lists are replaced and never
 * added to: a list that grows makes room for seventeen, and most have one member.
 */
class NumberSession implements LookupSession {
  readonly number: PhoneNumber;
  readonly request: LookupRequest;
  questions: readonly Question[] = NOTHING;
  /** Those that the latest run took up. */
  taken: readonly FieldQuestion[] = NOTHING;
  facts: readonly TimedFact[] = NOTHING;
  besides: readonly TimedFact[] = NOTHING;
  failures: readonly FailedLookup[] = NOTHING;
  answered: readonly Lookup[] = NOTHING;
  operator: RoutedOperator | undefined;
  routing: Routing | (() => Promise<Routing>) | undefined;
  unrouted: LookupFailure | undefined;
  run = NOT_BEGUN;
  isRunning = false;
  /** A run, a reading of the consent, or both: the number has a place among those at work as long as there are any. */
  openAnswers = 0;
  defect: Error | undefined;
  isRefused = false;
  waitsForOwner = false;
  asksConsent = false;
  /** Read once for all fields. */
  consent: Promise<void> | undefined;
  consentAnswer: FieldAnswer | undefined;
  deducedBefore = 0;

  constructor(number: PhoneNumber, request: LookupRequest) {
    this.number = number;
    this.request = request;
  }
}
