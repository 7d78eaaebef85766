import { planChannel, traced } from '../log/diagnostics.ts';
import type { FailedLookup } from '../domain/failedLookup.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { lookupOf, type TimedFact } from '../domain/fact.ts';
import { lookupFor, lookupKey, type Question } from '../domain/question.ts';
import type { LookupFailure, LookupFailureCode } from '../domain/errors.ts';
import type { ConsentStatus } from '../domain/consentStatus.ts';
import type { ConsentReading, Inquiry, LookupOutcome, LookupRequest } from './lookupRoute.ts';
import type { Operators, RoutedOperator, Routing } from './operators.ts';
import type { Answer, Plan } from './plan.ts';
import { answerTo, heardIn, mayBeElsewhere, nextLookup } from './planner.ts';

/** Answers the questions of one request: plans, looks up, adds what was learned, until nothing is open. */
export class Executor {
  readonly #operators: Operators;
  readonly #request: LookupRequest;
  /** Facts live as long as the request, so a later question finds what an earlier one learned. */
  readonly #inquiries = new Map<PhoneNumber, NumberInquiry>();

  constructor(operators: Operators, request: LookupRequest) {
    this.#operators = operators;
    this.#request = request;
  }

  /** Looks up until these questions have answers. Never rejects; {@link answerTo} tells what came of it. */
  ask(number: PhoneNumber, questions: readonly Question[]): Promise<void> {
    const inquiry = this.#inquiry(number);
    inquiry.questions.push(...questions);
    // Not by whether there is a run: one that finds nothing open is over before it is stored.
    if (inquiry.run === undefined || !inquiry.isRunning) inquiry.run = this.#publishedRun(inquiry);
    return inquiry.run;
  }

  /** The answer to a question that was asked; an `Error` for a defect of ours. */
  answerTo(number: PhoneNumber, question: Question): Answer | Error {
    const { current, unrouted, defect } = this.#inquiry(number);
    if (unrouted !== undefined) return { kind: 'failure', failure: unrouted };
    const answer =
      current === undefined ? undefined : answerTo(question, current, current.operator.offer);
    return answer ?? defect ?? new Error('A question was left open.');
  }

  /** The answers have reached the caller. */
  told(): void {
    for (const { current } of this.#inquiries.values()) {
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
    const inquiry = this.#inquiry(number);
    await (inquiry.run ?? this.ask(number, []));
    const { current, unrouted, defect } = inquiry;
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

  #publishedRun(inquiry: NumberInquiry): Promise<void> {
    if (!planChannel.hasSubscribers) return this.#run(inquiry);
    const message = {
      correlator: this.#request.correlator.name,
      questions: inquiry.questions.length,
    };
    return traced(
      planChannel,
      message,
      () => this.#run(inquiry),
      () => ({
        outcome: 'planned',
        facts: inquiry.current?.facts.length ?? 0,
        deduced: newlyDeduced(inquiry),
        failures: inquiry.current?.failures.map(({ failure }) => failure.code) ?? [],
      }),
    );
  }

  async #run(inquiry: NumberInquiry): Promise<void> {
    inquiry.isRunning = true;
    try {
      // A question may come once nothing is open, and before this run is over.
      let heard: number;
      do {
        heard = inquiry.questions.length;
        await this.#askInTurn(inquiry);
      } while (inquiry.questions.length > heard);
    } catch (defect) {
      inquiry.defect = defect instanceof Error ? defect : new Error('A lookup broke.');
    } finally {
      inquiry.isRunning = false;
    }
  }

  /**
   * The next operator is asked where the one before does not know the number. What that one said counts no
   * more: a number that moved has another SIM.
   */
  async #askInTurn(inquiry: NumberInquiry): Promise<void> {
    const { number } = inquiry;
    const routed = (inquiry.routing ??= this.#operators.of(number, this.#request));
    const routing = routed instanceof Promise ? await routed : routed;
    switch (routing.kind) {
      case 'failed':
        inquiry.unrouted = routing.failure;
        return;
      case 'served':
    }
    const { inTurn } = routing;
    let turn = (inquiry.current ??= this.#turnOf(inTurn[0], inquiry));
    const further = inTurn.slice(inTurn.indexOf(turn.operator) + 1).values();
    for (;;) {
      const { offer, route } = turn.operator;
      // One lookup at a time: the next one may not be needed, and some operators refuse a second.
      for (let lookup; (lookup = nextLookup(turn, offer)) !== undefined;) {
        learn(turn, await route.lookUp(lookup, turn));
      }
      const next = further.next();
      if (next.done === true || !mayBeElsewhere(turn)) return;
      inquiry.current = turn = this.#turnOf(next.value, inquiry);
    }
  }

  #turnOf(operator: RoutedOperator, { number, questions }: NumberInquiry): OperatorInquiry {
    const known = { facts: [], besides: [], failures: [] };
    return { operator, number, questions, request: this.#request, ...known };
  }

  #inquiry(number: PhoneNumber): NumberInquiry {
    let inquiry = this.#inquiries.get(number);
    if (inquiry === undefined) {
      inquiry = {
        number,
        questions: [],
        routing: undefined,
        unrouted: undefined,
        current: undefined,
        run: undefined,
        isRunning: false,
        deducedBefore: 0,
        defect: undefined,
      };
      this.#inquiries.set(number, inquiry);
    }
    return inquiry;
  }
}

/** Since the last time: a number's questions may be run more than once. */
function newlyDeduced(inquiry: NumberInquiry): number {
  const { deducedBefore } = inquiry;
  inquiry.deducedBefore = deducedOf(inquiry);
  return Math.max(0, inquiry.deducedBefore - deducedBefore);
}

/** Fields that ask the same count once. */
function deducedOf({ questions, current }: NumberInquiry): number {
  // Whatever is looked up for a question that stands alone is its own.
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

function learn(inquiry: OperatorInquiry, outcome: LookupOutcome): void {
  switch (outcome.kind) {
    case 'facts':
      inquiry.facts.push(...outcome.facts);
      inquiry.besides.push(...(outcome.besides ?? []));
      if (outcome.closed !== undefined) inquiry.failures.push(outcome.closed);
      break;
    case 'failed':
      inquiry.failures.push(outcome.failed);
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

/** What one request asks about a number. */
interface NumberInquiry {
  readonly number: PhoneNumber;
  readonly questions: Question[];
  routing: Routing | Promise<Routing> | undefined;
  /** Why no operator is asked. */
  unrouted: LookupFailure | undefined;
  /** At the operator whose turn it is. */
  current: OperatorInquiry | undefined;
  run: Promise<void> | undefined;
  isRunning: boolean;
  /** So many deduced answers have been published. */
  deducedBefore: number;
  defect: Error | undefined;
}

/** What was asked of one operator, and what it said. */
interface OperatorInquiry extends Inquiry {
  readonly operator: RoutedOperator;
  readonly questions: Question[];
  readonly facts: TimedFact[];
  readonly besides: TimedFact[];
  readonly failures: FailedLookup[];
}
