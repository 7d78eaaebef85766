import DataLoader from 'dataloader';
import { BROKEN, planChannel, traced, type Broken, type PlanResult } from '../log/diagnostics.ts';
import type { FailedLookup, TimedFact } from '../domain/fact.ts';
import type { FieldQuestion, ConsentStatus } from '../domain/fields.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { lookupFor, lookupKey, type Lookup, type Question } from '../domain/question.ts';
import type { LookupFailureCode } from '../domain/errors.ts';
import type { LookupAuthorizer } from './lookupAuthorizer.ts';
import {
  BUSY,
  type ConsentReading,
  type LookupSession,
  type LookupOutcome,
  type LookupRequest,
} from './lookupRoute.ts';
import type { NumbersAtWork, Place } from './numbersAtWork.ts';
import { NOT_SERVED, type Operators, type RoutedOperator, type Routing } from './operators.ts';
import {
  answerTo,
  deliveredFacts,
  mayBeElsewhere,
  nextLookup,
  type Answer,
  type Offer,
  type Plan,
} from './planner.ts';

/** An answer, or the consent's status; `undefined` where it is not known. A lookup that failed is an answer. */
export type FieldAnswer =
  Answer | { readonly kind: 'consent'; readonly consent: ConsentStatus | undefined };

type Failure = FieldAnswer & { readonly kind: 'failure' };

export interface Defect {
  readonly kind: 'defect';
  readonly error: Error;
}

export type SimSwapLoader = Pick<Executor, 'answer' | 'answerAll' | 'questions' | 'delivered'>;

/**
 * Answers the questions of one request: plans, looks up and adds the facts, until no question is open (docs/design.md,
 * "From questions to lookups"). DataLoader gathers the questions of one tick; each number is done as soon as its own
 * operator has answered.
 */
export class Executor {
  readonly #operators: Operators;
  readonly #request: LookupRequest;
  readonly #numbersAtWork: NumbersAtWork | undefined;
  readonly #admission: Pick<LookupAuthorizer, 'admit'> | undefined;
  /** Facts live as long as the request, so a later question finds the facts of an earlier one. */
  readonly #numbers = new Map<PhoneNumber, NumberSession>();
  /** A list is one plan, with one promise for all of its numbers. */
  readonly #lists = new DataLoader<readonly NumberSession[], undefined>(
    async (lists) => {
      const sessions = lists.flat();
      for (const session of sessions) void this.#begin(session);
      // The last to begin is usually the last to end: few others are left to wait for.
      for (const session of sessions.toReversed()) {
        if (session.state.kind === 'at work') await session.run;
      }
      return lists.map(() => undefined);
    },
    { cache: false },
  );

  /**
   * @param numbersAtWork limits the numbers of all requests together; no limit where absent
   * @param admission admits numbers whose operator no prefix names; all are admitted where absent
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
      const state = this.#numbers.get(number)?.state;
      if (state?.kind === 'at work' && state.place !== undefined) {
        numbersAtWork.wait(state.place, isWaiting);
      }
    };
  }

  /** Returns at once where the answer is known. Never rejects: an `Error` of ours is a defect. */
  answer(
    number: PhoneNumber,
    question: FieldQuestion,
  ): FieldAnswer | Defect | Promise<FieldAnswer | Defect> {
    const known = this.#numbers.get(number);
    if (known?.isDone(question) === true) return this.#answerTo(question, known);
    // A request gets no further answers after its end.
    if (this.#request.signal.aborted) return BUSY_ANSWER;
    const session = this.#noted(number, [question]);
    session.loader ??= new DataLoader(
      async (questions) => {
        await this.#begin(session);
        return questions.map((one) => this.#answerTo(one, session));
      },
      // A later fact may change an answer.
      { cache: false },
    );
    return session.loader.load(question);
  }

  /** Resolves once {@link answer} knows all answers about these numbers. Never rejects. */
  async answerAll(
    numbers: readonly PhoneNumber[],
    questions: readonly FieldQuestion[],
  ): Promise<void> {
    await this.#lists.load(numbers.map((number) => this.#noted(number, questions)));
  }

  /** The number of different questions. */
  get questions(): number {
    let count = 0;
    for (const { questions, wantsConsent } of this.#numbers.values()) {
      count += questions.length + (wantsConsent ? 1 : 0);
    }
    return count;
  }

  /** The answers so far have reached the caller. Without this call they count as not delivered. */
  delivered(): void {
    const { kept } = this.#operators;
    for (const session of this.#numbers.values()) {
      const { operator } = session;
      const offer = this.#offerTo(session);
      if (offer !== undefined) {
        (operator?.route ?? kept)?.delivered?.(deliveredFacts(session, offer), session);
      }
    }
  }

  #noted(number: PhoneNumber, questions: readonly FieldQuestion[]): NumberSession {
    let session = this.#numbers.get(number);
    if (session === undefined) {
      session = new NumberSession(number, this.#request);
      this.#numbers.set(number, session);
    }
    for (const question of questions) {
      if (session.has(question)) continue;
      if (question.about === 'consent') session.wantsConsent = true;
      else session.questions = [...session.questions, question];
      if (session.state.kind === 'done') session.state = REQUESTED;
    }
    return session;
  }

  #answerTo(question: FieldQuestion, session: NumberSession): FieldAnswer | Defect {
    const { state, consentAnswer, answerToOpen } = session;
    if (state.kind === 'crowded') return state.answer;
    const offer = this.#offerTo(session);
    const answer =
      question.about === 'consent' ? consentAnswer : offer && answerTo(question, session, offer);
    if (answer !== undefined) return answer;
    return answerToOpen ?? { kind: 'defect', error: new Error('A question was left open.') };
  }

  /** Kept facts may have answered before an operator was chosen. */
  #offerTo({ operator }: NumberSession): Offer | undefined {
    return operator?.offer ?? this.#operators.kept?.offer;
  }

  /** A run under way includes the questions that arrive meanwhile. Never rejects. */
  #begin(session: NumberSession): Promise<void> {
    const { kind } = session.state;
    // A run that is done begins again: a question may have arrived after its last step.
    if (kind === 'at work' || kind === 'crowded') return session.run;
    const place = this.#numbersAtWork?.take(this.#request.caller.key);
    if (place !== undefined && 'code' in place) {
      session.state = { kind: 'crowded', answer: { kind: 'failure', failure: place } };
      return session.run;
    }
    session.state = { kind: 'at work', place };
    session.run = traced(
      planChannel,
      () => ({ correlator: this.#request.correlator.name, questions: session.questions.length }),
      () => this.#run(session),
      () => planned(session),
    );
    return session.run;
  }

  /**
   * One lookup at a time: the next one may not be needed, and some operators refuse a second one. Where an operator
   * does not know the number, the next one is called; what the first replied no longer counts, since a number that
   * moved has another SIM. The consent's status is read last: answers take precedence, an expiry is reported once, and
   * a pending consent may have ended since.
   */
  async #run(session: NumberSession): Promise<void> {
    try {
      const routing = (session.routing ??= this.#operators.of(session.number));
      const routed = routing?.kind === 'served' ? routing : await this.#route(session);
      session.answerToOpen = routed?.kind === 'served' ? undefined : routed;
      if (routed?.kind === 'served') {
        const { inTurn } = routed;
        let operator: RoutedOperator | undefined = session.operator ?? inTurn[0];
        while (operator !== undefined) {
          session.operator = operator;
          const { offer, route }: RoutedOperator = operator;
          for (let lookup; (lookup = nextLookup(session, offer)) !== undefined;) {
            learn(session, await route.lookUp(lookup, session));
          }
          const next: RoutedOperator | undefined = inTurn[inTurn.indexOf(operator) + 1];
          if (next !== undefined && mayBeElsewhere(session)) {
            session.forgetReplies();
            operator = next;
          } else if (session.wantsConsent && session.consentAnswer === undefined) {
            const reading = await route.consent(session.number, this.#request);
            session.consentAnswer = asAnswer(reading, session);
            // Once more: questions may have arrived meanwhile.
          } else operator = undefined;
        }
      }
    } catch (defect) {
      const error = defect instanceof Error ? defect : new Error('A lookup broke.');
      session.answerToOpen = { kind: 'defect', error };
    }
    // In the same turn as the end: a question that arrives later begins another run.
    const { state } = session;
    if (state.kind === 'at work' && state.place) this.#numbersAtWork?.giveBack(state.place);
    session.state = DONE;
  }

  /** Where no prefix names the operator of a number: kept facts first; `undefined` when they answer everything. */
  async #route(
    session: NumberSession,
  ): Promise<Extract<Routing, { kind: 'served' }> | Failure | undefined> {
    const { number } = session;
    const event = { event: 'routing', number, request: this.#request } as const;
    // The operator of a number is revealed only for numbers that the caller's quota covers.
    const claim = await this.#admission?.admit(event);
    if (claim?.kind === 'denied') return { kind: 'failure', failure: claim.failure };
    if (await this.#keptFactsAnswerAll(session)) return undefined;
    const { questions } = session;
    session.routing ??= await this.#operators.find?.(number, this.#request);
    const { routing = NOT_SERVED } = session;
    if (routing.kind === 'served') return routing;
    const attempts = routing.isUnsent === true ? 0 : 1;
    await claim?.ended({ outcome: routing.failure.code, attempts });
    // Kept facts may answer questions that arrived meanwhile, although no operator can be called.
    if (session.questions !== questions) await this.#keptFactsAnswerAll(session);
    return { kind: 'failure', failure: routing.failure };
  }

  /** Whether kept facts answer everything, so that no operator has to be chosen. */
  async #keptFactsAnswerAll(session: NumberSession): Promise<boolean> {
    const { kept } = this.#operators;
    if (kept === undefined || session.questions.length === 0) return false;
    if (nextLookup(session, kept.offer) !== undefined) {
      const recalled = await kept.recall(session);
      if (recalled.kind === 'facts') learn(session, recalled);
    }
    return nextLookup(session, kept.offer) === undefined && !session.wantsConsent;
  }
}

/**
 * A number takes one of the places while it is `at work`, unless it waits for its owner. `crowded`, for which there was
 * none, is permanent: all its fields have one answer, even those that facts had answered.
 */
type NumberState =
  | { readonly kind: 'requested' }
  | { readonly kind: 'at work'; readonly place: Place | undefined }
  | { readonly kind: 'done' }
  | { readonly kind: 'crowded'; readonly answer: Failure };

const REQUESTED: NumberState = { kind: 'requested' };
const DONE: NumberState = { kind: 'done' };

const BUSY_ANSWER: FieldAnswer = { kind: 'failure', failure: BUSY };

function planned(session: NumberSession): PlanResult | Broken {
  if (session.answerToOpen?.kind === 'defect') return BROKEN;
  // A number may have several runs: counts what was deduced since the previous one.
  const { deducedBefore } = session;
  session.deducedBefore = deducedOf(session);
  return {
    outcome: 'planned',
    facts: session.facts.length,
    deduced: Math.max(0, session.deducedBefore - deducedBefore),
    failures: session.failures.map(({ failure }) => failure.code),
  };
}

/** How many questions were answered without a lookup of their own; those with the same lookup count once. */
function deducedOf(session: NumberSession): number {
  const { questions, facts, operator } = session;
  // A single question requires its lookup: nothing is deduced.
  if (operator === undefined || questions.length < 2) return 0;
  const found = new Set(facts.map((fact) => lookupKey(fact)));
  return questions.filter((question) => {
    const answer = answerTo(question, session, operator.offer);
    const isAnswered = answer !== undefined && answer.kind !== 'failure';
    return isAnswered && !found.has(lookupKey(lookupFor(question)));
  }).length;
}

function learn(session: NumberSession, outcome: LookupOutcome): void {
  switch (outcome.kind) {
    case 'facts': {
      const { facts, unrequested, made, closed } = outcome;
      session.facts = session.facts.concat(facts);
      if (unrequested !== undefined) session.unrequested = session.unrequested.concat(unrequested);
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

function asAnswer(reading: ConsentReading, plan: Plan): FieldAnswer {
  return reading.kind === 'failed'
    ? { kind: 'failure', failure: reading.failure }
    : { kind: 'consent', consent: statusWith(plan, reading.status) };
}

function statusWith(
  { facts, failures }: Plan,
  stored: ConsentStatus | undefined,
): ConsentStatus | undefined {
  if (stored?.state === 'NOT_NEEDED') return stored;
  const failure = failures.findLast((one) => one.failure.code in STATES)?.failure;
  const state = failure === undefined ? undefined : STATES[failure.code];
  if (failure === undefined || state === undefined) {
    return facts.length > 0 ? { state: 'ANSWERED' } : stored;
  }
  if (stored?.state === state) return stored;
  const { retryAfterSeconds } = failure;
  return { state, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

const STATES: Readonly<Partial<Record<LookupFailureCode, ConsentStatus['state']>>> = {
  CONSENT_PENDING: 'PENDING',
  CONSENT_DENIED: 'DENIED',
  CONSENT_EXPIRED: 'EXPIRED',
};

const NOTHING: readonly never[] = [];
const NOT_BEGUN = Promise.resolve();

/**
 * The questions about one number, and what its current operator has replied. Its lists are replaced and never extended:
 * a list that grows reserves room for seventeen, and most have one member.
 */
class NumberSession implements LookupSession {
  readonly number: PhoneNumber;
  readonly request: LookupRequest;
  state: NumberState = REQUESTED;
  /** The latest run. */
  run = NOT_BEGUN;
  loader: DataLoader<FieldQuestion, FieldAnswer | Defect> | undefined;
  questions: readonly Question[] = NOTHING;
  wantsConsent = false;
  /** Read once for all fields. */
  consentAnswer: FieldAnswer | undefined;
  /** The latest run's answer to what facts leave open; another question may begin another run before it is read. */
  answerToOpen: Failure | Defect | undefined;
  routing: Routing | undefined;
  operator: RoutedOperator | undefined;
  facts: readonly TimedFact[] = NOTHING;
  unrequested: readonly TimedFact[] = NOTHING;
  failures: readonly FailedLookup[] = NOTHING;
  answered: readonly Lookup[] = NOTHING;
  /** How many answers earlier runs have reported as deduced. */
  deducedBefore = 0;

  constructor(number: PhoneNumber, request: LookupRequest) {
    this.number = number;
    this.request = request;
  }

  has(question: FieldQuestion): boolean {
    return question.about === 'consent' ? this.wantsConsent : this.questions.includes(question);
  }

  isDone(question: FieldQuestion): boolean {
    const { kind } = this.state;
    return (kind === 'done' || kind === 'crowded') && this.has(question);
  }

  forgetReplies(): void {
    this.facts = this.unrequested = this.failures = this.answered = NOTHING;
  }
}
