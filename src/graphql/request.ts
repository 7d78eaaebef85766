import type { FieldNode } from 'graphql';
import { mayAskAbout, type Caller } from '../caller/caller.ts';
import type { AdmittedRequest } from '../caller/gate.ts';
import type { Quotas, QuotaStanding } from '../caller/quotas/quotas.ts';
import { INTERNAL_ERROR } from '../domain/errors.ts';
import { ANONYMOUS_IDENTITY, NO_PURPOSE, type Identity } from '../domain/identity.ts';
import type { FieldQuestion } from '../domain/fields.ts';
import type { Question } from '../domain/question.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { createCorrelator, type Correlator } from '../http/correlator.ts';
import { RequestLife } from '../http/urgency.ts';
import type { RequestResult } from '../log/diagnostics.ts';
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

/** Added to each error of a reply, so that it can be traced without the reply's headers. */
export interface ErrorReference {
  /** The prefix of its exchanges' correlators, and the correlator of its log lines. */
  readonly correlator: string;
  /** The heading of the code in docs/errors.md; absent without DOCS_URL. */
  readonly docs?: string;
}

/** For logs, metrics and traces. Holds no number and no answer; of the caller's input only the sanitised correlator. */
export interface RequestReport {
  readonly correlator: Correlator;
  /** Absent when the request was refused before its caller was known. */
  readonly caller: Identity | undefined;
  /** The name of the trusted document; absent for every other. */
  readonly document: string | undefined;
  /** Absent when the request was refused before its operation was known. */
  readonly operation: RequestResult['operation'];
  readonly status: number;
  readonly tookMs: number;
  readonly codes: ReadonlyMap<string, number>;
  /** Fields about numbers, counted by outcome: `answered`, or an error code. */
  readonly answers: ReadonlyMap<string, number>;
  /** Fields that repeat another field's question about the same number. */
  readonly repeatedQuestions: number;
}

/** The context of resolvers. Apollo copies it, and a copy of the request itself would lose its private state. */
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
  /** Test numbers, where they are enabled; no operator knows them. */
  readonly rehearsals?: ReadonlyMap<string, Rehearsal> | undefined;
}

/** Turns an answer into the value of a field. @throws {AnswerError} when there is no value */
export type TellAnswer<T> = (answer: FieldAnswer, place: FieldPlace, asked: FieldQuestion) => T;

export interface RequestTerms {
  readonly timeoutMs: number;
  readonly correlator: string | undefined;
  /** Aborting it ends the request too. */
  readonly signal?: AbortSignal | undefined;
}

/** The answer is ready by then, and does not wait longer for what is left of the quotas. */
const QUOTA_READ_TIMEOUT_MS = 250;

const NOBODY: Caller = { identity: ANONYMOUS_IDENTITY, mayAskAboutAnyone: false };

/** The consent's status is queried beside the questions, and is not a lookup. */
const CONSENT = 1;

/** One GraphQL request, from its headers to its reply: what resolvers query, and what lookups know of it. */
export class GraphqlRequest extends RequestLife implements LookupRequest {
  readonly correlator: Correlator;
  document: string | undefined;
  operation: RequestResult['operation'];
  /** The caller, and the numbers that it may query: none until {@link admit}. */
  rights: Caller = NOBODY;
  caller: Identity = NOBODY.identity;
  purpose = NO_PURPOSE;
  waitMs?: number;
  /** In the whole operation, once it may be executed. */
  numbersAsked = 0;
  /** The root fields of its operation, where no variable decides what they query. */
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

  /** @param waitMs how long the caller is prepared to wait for the owner of a number (RFC 7240, `wait`) */
  admit({ caller, purpose }: Pick<AdmittedRequest, 'caller' | 'purpose'>, waitMs?: number): void {
    this.rights = caller;
    this.caller = caller.identity;
    this.purpose = purpose;
    if (waitMs === undefined || !this.#parts.simSwaps.asksOwners) return;
    this.waitMs = Math.min(waitMs, this.timeoutMs);
  }

  /**
   * The value of a field. Every question passes here, whichever field, router or representation its number came from. A
   * question that the caller may not ask is refused before it is counted, and one beyond the limits before it is looked
   * up. The service counts the whole operation before executing it; inside another program numbers also come from that
   * program's own fields, and are counted only here.
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
    if (rehearsal !== undefined) loader = answering(rehearsedAnswer(rehearsal));
    else if (this.signal.aborted && !isAnswered) loader = OVER;
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
   * The numbers of a list, once the questions of their fields are answered, where these are known beforehand: the fields
   * then need no promises of their own, which counts in a list of a thousand. A single number gains nothing.
   */
  askedAhead<E extends PhoneNumberEntity>(
    entities: (E | Promise<never>)[],
    nodes: readonly FieldNode[],
  ): Promise<(E | Promise<never>)[]> | (E | Promise<never>)[] {
    const questions = entities.length < 2 ? [] : this.#knownBelow(nodes);
    if (questions.length === 0) return entities;
    const numbers: PhoneNumber[] = [];
    for (const entity of entities) {
      // Until graphql reaches it, its rejection would count as unhandled.
      if (entity instanceof Promise) entity.catch(() => undefined);
      else if (this.#mayAskAhead(entity.e164)) numbers.push(entity.e164);
    }
    // In this tick, or the field that comes next would claim its places of a quota first.
    if (numbers.length === 0) return entities;
    this.#loader ??= this.#parts.simSwaps.forRequest(this);
    return this.#loader.askAhead(numbers, questions).then(() => entities);
  }

  /** The questions about each number of a root field; none where variables decide them. */
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

  /** Call when the answers have reached the caller; until then they count as not delivered. */
  told(): void {
    this.#loader?.told();
  }

  /** What is left of the caller's quotas; empty for anonymous callers. Never rejects. */
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
      operation: this.operation,
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

/** After its end a request gets no answers, not even known ones. */
const OVER = answering({ kind: 'failure', failure: OUT_OF_TIME });

function tooMuch(limited: 'numbers' | 'questionsPerNumber', limit: number): Error {
  return limitExceeded({ limited, limit, asked: limit + 1 });
}
