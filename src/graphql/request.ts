import type { FieldNode } from 'graphql';
import { mayAskAbout, type Caller } from '../caller/caller.ts';
import type { AdmittedRequest } from '../caller/gate.ts';
import type { Quotas, QuotaStanding } from '../caller/quotas/quotas.ts';
import { INTERNAL_ERROR } from '../domain/errors.ts';
import { ANONYMOUS_IDENTITY, type Identity } from '../domain/identity.ts';
import type { FieldQuestion } from '../domain/fields.ts';
import type { Question } from '../domain/question.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { createCorrelator, type Correlator } from '../http/correlator.ts';
import { RequestLife } from '../http/urgency.ts';
import { OUT_OF_TIME, type LookupRequest } from '../lookups/lookupRoute.ts';
import type { FieldAnswer, SimSwapLoader } from '../lookups/executor.ts';
import type { SimSwaps } from '../simSwaps/simSwaps.ts';
import type { Clock } from '../system/clock.ts';
import { forbidden, type FieldPlace } from './answerErrors.ts';
import {
  limitExceeded,
  severalForbidden,
  type OperationLimits,
  type RootField,
} from './operationCost.ts';
import { rehearsedAnswer, type Rehearsal } from './rehearsals.ts';

export interface PhoneNumberEntity {
  readonly e164: PhoneNumber;
}

/** What each error of a reply says beside its code, so that it can be looked up without its reply's headers. */
export interface ErrorReference {
  /** With which the exchanges of the request begin, and which its lines of the logs have. */
  readonly correlator: string;
  /** The heading of the code in docs/errors.md; absent without DOCS_URL. */
  readonly docs?: string;
}

/** For those who run the service: no number, no answer, and of what a caller wrote only the correlator, sanitised. */
export interface RequestReport {
  readonly correlator: Correlator;
  /** Absent where the request was refused before that was known. */
  readonly caller: Identity | undefined;
  /** The name of the trusted document; absent for every other. */
  readonly document: string | undefined;
  readonly status: number;
  readonly tookMs: number;
  readonly codes: ReadonlyMap<string, number>;
  /** How often a field about a number came to each outcome: `answered`, or a code. */
  readonly answers: ReadonlyMap<string, number>;
  /** Fields that asked what another field of the same operation had asked already. */
  readonly repeatedQuestions: number;
}

/** What resolvers find the request in: Apollo copies the context, and a copy of the request would not be it. */
export interface RequestContext {
  readonly request: GraphqlRequest;
}

export interface RequestParts {
  readonly config: {
    readonly limits: OperationLimits;
    readonly docsUrl: string | undefined;
  };
  readonly simSwaps: Pick<SimSwaps, 'forRequest' | 'asksOwners'>;
  readonly quotas: Pick<Quotas, 'standingOf'>;
  readonly clock: Clock;
  /** The test numbers that no operator knows, where they answer. */
  readonly rehearsals?: ReadonlyMap<string, Rehearsal> | undefined;
}

/** Makes the value of a field of an answer. @throws {AnswerError} why there is none */
export type TellAnswer<T> = (answer: FieldAnswer, place: FieldPlace, asked: FieldQuestion) => T;

export interface RequestTerms {
  readonly timeoutMs: number;
  readonly correlator: string | undefined;
  /** Ends it as well, while it runs. */
  readonly signal?: AbortSignal | undefined;
}

/** What is left of the quotas is told beside an answer that is ready: it does not keep that waiting. */
const QUOTA_READ_TIMEOUT_MS = 250;

const NOBODY: Caller = { identity: ANONYMOUS_IDENTITY, mayAskAboutAnyone: false };

/** How the consent stands is asked beside the questions: it is no lookup. */
const CONSENT = 1;

/** One GraphQL request, from its headers to its reply: made once, what resolvers ask, and what lookups know of it. */
export class GraphqlRequest extends RequestLife implements LookupRequest {
  readonly correlator: Correlator;
  document: string | undefined;
  /** Who asks, and about whom they may: about no number until {@link admit}. */
  rights: Caller = NOBODY;
  caller: Identity = NOBODY.identity;
  purpose = '';
  waitMs?: number;
  /** By its operation as a whole, where that may be executed. */
  numbersAsked = 0;
  /** Of its operation, where what they ask is the same for all requests. */
  roots: readonly RootField[] | undefined;
  onOwnerWait?: LookupRequest['onOwnerWait'];
  readonly #parts: RequestParts;
  readonly #codes = new Map<string, number>();
  readonly #answers = new Map<string, number>();
  readonly #questions = new Map<PhoneNumber, readonly FieldQuestion[]>();
  #repeatedQuestions = 0;
  #loader: SimSwapLoader | undefined;

  constructor(parts: RequestParts, { timeoutMs, correlator, signal }: RequestTerms) {
    super(timeoutMs, parts.clock, signal);
    this.#parts = parts;
    this.correlator = createCorrelator(correlator);
  }

  /** @param waitMs how long it would wait for the owner of a number (RFC 7240, `wait`), where it says so */
  admit({ caller, purpose }: Pick<AdmittedRequest, 'caller' | 'purpose'>, waitMs?: number): void {
    this.rights = caller;
    this.caller = caller.identity;
    this.purpose = purpose;
    if (waitMs === undefined || !this.#parts.simSwaps.asksOwners) return;
    this.waitMs = Math.min(waitMs, this.timeoutMs);
  }

  /**
   * The answer to what a field asks. Every question passes here, whichever field, router or representation its number
   * came by. What its caller may not ask is refused before it is counted; what is more than an operation may ask, before
   * it is looked up. The service counts the whole operation before it executes; inside another program numbers come in by
   * its own fields too, and show only here.
   *
   * @throws {AnswerError}
   */
  answer<T>(
    number: PhoneNumber,
    asked: FieldQuestion,
    tell: TellAnswer<T>,
    place: FieldPlace,
  ): Promise<T> | T {
    if (!mayAskAbout(this.rights, number)) throw forbidden();
    this.#countQuestion(number, asked);
    const rehearsal = this.#parts.rehearsals?.get(number);
    const isAnswered = this.#loader?.isAnswered(number, asked) === true;
    let loader: Answering;
    if (this.signal.aborted && !isAnswered) loader = OVER;
    else if (rehearsal !== undefined) loader = answering(rehearsedAnswer(rehearsal));
    else loader = this.#loader ??= this.#parts.simSwaps.forRequest(this);
    const answered = (): T => {
      const answer = loader.answerTo(number, asked);
      const isDefect = answer instanceof Error;
      if (isDefect) this.countAnswer(INTERNAL_ERROR);
      else this.countAnswer(answer.kind === 'failure' ? answer.failure.code : 'answered');
      if (isDefect) throw answer;
      return tell(answer, place, asked);
    };
    return isAnswered ? answered() : loader.ask(number, asked).then(answered);
  }

  /**
   * The numbers of a list, once what the fields below its nodes ask is answered, where that is known before: then they need
   * no promises, and of a thousand numbers each counts. A single number gains nothing from it.
   */
  askedAhead<E extends PhoneNumberEntity>(
    entities: (E | Promise<never>)[],
    nodes: readonly FieldNode[],
  ): Promise<(E | Promise<never>)[]> | (E | Promise<never>)[] {
    const questions = entities.length < 2 ? [] : this.#knownBelow(nodes);
    const numbers: PhoneNumber[] = [];
    for (const entity of questions.length === 0 ? [] : entities) {
      // It waits for its turn to be told.
      if (entity instanceof Promise) entity.catch(() => undefined);
      else if (this.#mayAskAhead(entity.e164)) numbers.push(entity.e164);
    }
    // In this tick, or the field that comes next would claim its places of a quota first.
    if (numbers.length === 0) return entities;
    this.#loader ??= this.#parts.simSwaps.forRequest(this);
    return this.#loader.askAhead(numbers, questions).then(() => entities);
  }

  /** What is known to be asked of each number of a root field; nothing where variables choose it. */
  #knownBelow([node, ...merged]: readonly FieldNode[]): readonly Question[] {
    if (this.signal.aborted || merged.length > 0) return [];
    for (const root of this.roots ?? []) {
      if (root.kind === 'numbers' && root.node === node) return root.below.ahead;
    }
    return [];
  }

  #mayAskAhead(number: PhoneNumber): boolean {
    return mayAskAbout(this.rights, number) && this.#parts.rehearsals?.has(number) !== true;
  }

  /** The answers have reached the caller: without it they count as not heard. */
  told(): void {
    this.#loader?.told();
  }

  /** What the caller has left of its quotas by now; nothing for an anonymous one. Never rejects. */
  quotas(): Promise<readonly QuotaStanding[]> {
    return this.#parts.quotas.standingOf(this.caller, QUOTA_READ_TIMEOUT_MS);
  }

  reference(code: string): ErrorReference {
    const correlator = this.correlator.name;
    const { docsUrl } = this.#parts.config;
    if (docsUrl === undefined) return { correlator };
    return { correlator, docs: `${docsUrl}/errors.md#${code.toLowerCase()}` };
  }

  countCode(code: string): void {
    this.#codes.set(code, (this.#codes.get(code) ?? 0) + 1);
  }

  get hasCodes(): boolean {
    return this.#codes.size > 0;
  }

  countAnswer(outcome: string): void {
    this.#answers.set(outcome, (this.#answers.get(outcome) ?? 0) + 1);
  }

  report(status: number): RequestReport {
    return {
      correlator: this.correlator,
      caller: this.rights === NOBODY ? undefined : this.caller,
      document: this.document,
      status,
      tookMs: this.#parts.clock.monotonicMs() - this.cameInAtMs,
      codes: this.#codes,
      answers: this.#answers,
      repeatedQuestions: this.#repeatedQuestions,
    };
  }

  #countQuestion(number: PhoneNumber, question: FieldQuestion): void {
    const { maxNumbersPerOperation, maxQuestionsPerNumber } = this.#parts.config.limits;
    const questions = this.#questions.get(number);
    if (questions?.includes(question) === true) {
      this.#repeatedQuestions += 1;
    } else if (questions !== undefined) {
      if (questions.length >= maxQuestionsPerNumber + CONSENT) {
        throw tooMuch('questionsPerNumber', maxQuestionsPerNumber);
      }
      this.#questions.set(number, [...questions, question]);
    } else {
      const numbers = this.#questions.size;
      const { missingBatchScope } = this.rights;
      if (numbers >= 1 && missingBatchScope !== undefined) {
        throw severalForbidden(missingBatchScope);
      }
      if (numbers >= maxNumbersPerOperation) throw tooMuch('numbers', maxNumbersPerOperation);
      this.#questions.set(number, [question]);
    }
  }
}

type Answering = Pick<SimSwapLoader, 'ask' | 'answerTo'>;

function answering(answer: FieldAnswer): Answering {
  return { ask: () => Promise.resolve(), answerTo: () => answer };
}

/** After its end a request hears nothing, not even what it has learned. */
const OVER = answering({ kind: 'failure', failure: OUT_OF_TIME });

function tooMuch(limited: 'numbers' | 'questionsPerNumber', limit: number): Error {
  return limitExceeded({ limited, limit, asked: limit + 1 });
}
