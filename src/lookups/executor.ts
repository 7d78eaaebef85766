import { planChannel, traced } from '../diagnostics.ts';
import type { FailedLookup } from '../domain/failedLookup.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Question } from '../domain/question.ts';
import type { LookupFailure, LookupFailureCode } from '../errors.ts';
import type { ConsentStatus } from '../tokens/consents/consentStatus.ts';
import type { ConsentReading, Inquiry, LookupRequest, TimedFact } from './lookupRoute.ts';
import type { Operators, RoutedOperator } from './operators.ts';
import type { Answer, Plan } from './plan.ts';
import { answerTo, nextLookup } from './planner.ts';

/** Answers the questions of one request: plans, looks up, adds what was learned, until nothing is open. */
export class Executor {
  readonly #operators: Operators;
  readonly #request: LookupRequest;
  /** Facts live as long as the request, so a later question finds what an earlier one learned. */
  readonly #inquiries = new Map<PhoneNumber, RunningInquiry>();

  constructor(operators: Operators, request: LookupRequest) {
    this.#operators = operators;
    this.#request = request;
  }

  /** Looks up until these questions have answers. Never rejects; {@link answerTo} tells what came of it. */
  ask(number: PhoneNumber, questions: readonly Question[]): Promise<void> {
    const inquiry = this.#inquiry(number);
    inquiry.questions.push(...questions);
    // Not by whether there is a run: one that finds nothing open is over before it is stored.
    if (!inquiry.isRunning) inquiry.run = this.#publishedRun(inquiry);
    return inquiry.run;
  }

  /** The answer to a question that was asked; an `Error` for a defect of ours. */
  answerTo(number: PhoneNumber, question: Question): Answer | Error {
    const inquiry = this.#inquiry(number);
    if (inquiry.operator === undefined) return { kind: 'failure', failure: NOT_SERVED };
    const answer = answerTo(question, inquiry, inquiry.operator.offer);
    return answer ?? inquiry.defect ?? new Error('A question was left open.');
  }

  /**
   * How the consent about a number stands once what this request asks is answered. What an answer said
   * of it holds: an expiry is told once, and a pending one may have ended a moment later.
   */
  async consent(number: PhoneNumber): Promise<ConsentReading> {
    const inquiry = this.#inquiry(number);
    if (inquiry.operator === undefined) return { kind: 'failed', failure: NOT_SERVED };
    await inquiry.run;
    const reading = await inquiry.operator.route.consent(number, this.#request);
    switch (reading.kind) {
      case 'read':
        return { kind: 'read', status: statusBeside(inquiry, reading.status) };
      case 'failed':
        return reading;
    }
  }

  #publishedRun(inquiry: RunningInquiry): Promise<void> {
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
        facts: inquiry.facts.length,
        failures: inquiry.failures.map(({ failure }) => failure.code),
      }),
    );
  }

  /** One lookup at a time: the next one may not be needed, and some operators refuse a second. */
  async #run(inquiry: RunningInquiry): Promise<void> {
    if (inquiry.operator === undefined) return;
    const { offer, route } = inquiry.operator;
    inquiry.isRunning = true;
    try {
      for (
        let lookup = nextLookup(inquiry, offer);
        lookup !== undefined;
        lookup = nextLookup(inquiry, offer)
      ) {
        const outcome = await route.lookUp(lookup, inquiry);
        switch (outcome.kind) {
          case 'facts':
            inquiry.facts.push(...outcome.facts);
            break;
          case 'failed':
            inquiry.failures.push(outcome.failed);
            break;
          default:
            outcome satisfies never;
        }
      }
    } catch (defect) {
      inquiry.defect = defect instanceof Error ? defect : new Error('A lookup broke.');
    } finally {
      inquiry.isRunning = false;
    }
  }

  #inquiry(number: PhoneNumber): RunningInquiry {
    let inquiry = this.#inquiries.get(number);
    if (inquiry === undefined) {
      inquiry = {
        number,
        operator: this.#operators.of(number),
        request: this.#request,
        questions: [],
        facts: [],
        failures: [],
        run: NOTHING_ASKED,
        isRunning: false,
        defect: undefined,
      };
      this.#inquiries.set(number, inquiry);
    }
    return inquiry;
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

/** No operator is asked: there is none whose number it is. */
const NOT_SERVED: LookupFailure = { code: 'NUMBER_NOT_SERVED', reach: 'number' };

const NOTHING_ASKED = Promise.resolve();

interface RunningInquiry extends Inquiry {
  readonly operator: RoutedOperator | undefined;
  readonly questions: Question[];
  readonly facts: TimedFact[];
  readonly failures: FailedLookup[];
  run: Promise<void>;
  isRunning: boolean;
  defect: Error | undefined;
}
