import { mayAskAbout, type Caller } from '../caller/caller.ts';
import type { AdmittedRequest } from '../caller/gate.ts';
import type { Quotas, QuotaStanding } from '../caller/quotas/quotas.ts';
import { INTERNAL_ERROR } from '../domain/errors.ts';
import { ANONYMOUS_IDENTITY, NO_PURPOSE, type Identity } from '../domain/identity.ts';
import type { FieldQuestion } from '../domain/fields.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { createCorrelator, type Correlator } from '../system/correlator.ts';
import type { PerTurn } from '../system/perTurn.ts';
import { RequestLife } from '../system/urgency.ts';
import type { RequestResult } from '../log/diagnostics.ts';
import { BUSY, type LookupRequest } from '../lookups/lookupRoute.ts';
import type { Defect, FieldAnswer, SimSwapLoader } from '../lookups/executor.ts';
import type { SimSwaps } from '../simSwaps/simSwaps.ts';
import type { Clock } from '../system/clock.ts';
import { forbidden, type FieldPlace } from './answerErrors.ts';
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
  /** The name of the trusted document; absent for every other document. */
  readonly document: string | undefined;
  /** Absent when the request was refused before its operation was known. */
  readonly operation: RequestResult['operation'];
  readonly status: number;
  /** That were admitted for it, whatever their outcomes. */
  readonly lookups: number;
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
  readonly config: { readonly docsUrl: string | undefined };
  readonly simSwaps: Pick<SimSwaps, 'forRequest' | 'promptsOwners'>;
  readonly quotas: Pick<Quotas, 'standingOf'>;
  readonly clock: Clock;
  /** Test numbers, where they are enabled; no operator knows them. */
  readonly rehearsals?: ReadonlyMap<string, Rehearsal> | undefined;
}

/** Turns an answer into the value of a field. @throws {AnswerError} when there is no value */
export type ToValue<T> = (answer: FieldAnswer, place: FieldPlace, question: FieldQuestion) => T;

/** Counts a permitted question, before it is looked up. @throws {AnswerError} beyond a limit */
export type CountQuestion = (number: PhoneNumber, question: FieldQuestion) => void;

export interface RequestTerms {
  readonly timeoutMs: number;
  readonly correlator: string | undefined;
  /** Aborting it ends the request too. */
  readonly signal?: AbortSignal | undefined;
  /** Of all requests; absent where they do not come at once. */
  readonly deadlines?: PerTurn;
}

/** The answer is ready by then, and does not wait longer for what is left of the quotas. */
const QUOTA_READ_TIMEOUT_MS = 250;

const ANONYMOUS_CALLER: Caller = { identity: ANONYMOUS_IDENTITY, mayAskAboutAnyone: false };

/** One GraphQL request, from its headers to its reply: what resolvers query, and what lookups know of it. */
export class GraphqlRequest implements LookupRequest {
  readonly life: RequestLife;
  readonly signal: RequestLife['signal'];
  readonly deadlineMs: number;
  readonly cameInAtMs: number;
  readonly correlator: Correlator;
  document: string | undefined;
  operation: RequestResult['operation'];
  /** The caller, and the numbers that it may query: none until {@link admit}. */
  rights: Caller = ANONYMOUS_CALLER;
  caller: Identity = ANONYMOUS_CALLER.identity;
  purpose = NO_PURPOSE;
  waitMs?: number;
  /** How many numbers the whole operation has, once it may be executed. */
  numbersQueried = 0;
  onOwnerWait?: LookupRequest['onOwnerWait'];
  /** Of the quota of lookups, by this request alone. */
  lookupsCounted = 0;
  #lookups = 0;
  readonly #parts: RequestParts;
  readonly #codes = new Map<string, number>();
  readonly #answers = new Map<string, number>();
  readonly #countQuestion: CountQuestion | undefined;
  #loader: SimSwapLoader | undefined;
  #fields = 0;

  /** @param countQuestion absent where the whole operation is counted before it is executed */
  constructor(
    parts: RequestParts,
    { timeoutMs, correlator, signal, deadlines }: RequestTerms,
    countQuestion?: CountQuestion,
  ) {
    this.life = new RequestLife(timeoutMs, parts.clock, signal, deadlines);
    this.signal = this.life.signal;
    this.deadlineMs = this.life.deadlineMs;
    this.cameInAtMs = this.life.cameInAtMs;
    this.#parts = parts;
    this.correlator = createCorrelator(correlator);
    this.#countQuestion = countQuestion;
  }

  /** @param waitMs how long the caller is prepared to wait for the owner of a number (RFC 7240, `wait`) */
  admit({ caller, purpose }: Pick<AdmittedRequest, 'caller' | 'purpose'>, waitMs?: number): void {
    this.rights = caller;
    this.caller = caller.identity;
    this.purpose = purpose;
    if (waitMs === undefined || !this.#parts.simSwaps.promptsOwners) return;
    this.waitMs = Math.min(waitMs, this.life.timeoutMs);
  }

  /**
   * The value of a field. Every question passes here, whichever field, router or representation its number came from. A
   * question that is not permitted is refused before it is counted, and one beyond the limits before it is looked
   * up.
   *
   * @throws {AnswerError}
   */
  answer<T>(
    number: PhoneNumber,
    question: FieldQuestion,
    toValue: ToValue<T>,
    place: FieldPlace,
  ): Promise<T> | T {
    if (!mayAskAbout(this.rights, number)) throw forbidden(undefined, place);
    this.#countQuestion?.(number, question);
    const rehearsal = this.#parts.rehearsals?.get(number);
    if (rehearsal === undefined) this.#fields += 1;
    const answer =
      rehearsal === undefined ? this.#answerTo(number, question) : rehearsedAnswer(rehearsal);
    const answered = (known: FieldAnswer | Defect): T => {
      switch (known.kind) {
        case 'defect':
          this.countAnswer(INTERNAL_ERROR);
          throw known.error;
        case 'failure':
          this.countAnswer(known.failure.code);
          break;
        case 'date':
        case 'window':
        case 'consent':
          this.countAnswer('answered');
      }
      return toValue(known, place, question);
    };
    return answer instanceof Promise ? answer.then(answered) : answered(answer);
  }

  /**
   * The numbers of a list, once the questions of all their fields are answered: the fields then return values, which
   * counts in a list of a thousand. A single number gains nothing, and a question that is counted only when its field
   * is reached waits for that.
   */
  planned<E extends PhoneNumberEntity>(
    entities: (E | Promise<never>)[],
    questions: () => readonly FieldQuestion[],
  ): Promise<(E | Promise<never>)[]> | (E | Promise<never>)[] {
    if (entities.length < 2 || this.#countQuestion !== undefined || this.signal.aborted) {
      return entities;
    }
    const wanted = questions();
    const numbers: PhoneNumber[] = [];
    for (const entity of entities) {
      // Until graphql reaches it, its rejection would count as unhandled.
      if (entity instanceof Promise) entity.catch(() => undefined);
      else if (this.#mayPlan(entity.e164)) numbers.push(entity.e164);
    }
    // Begins in this tick: otherwise the next field would claim its places of a quota first.
    if (numbers.length === 0 || wanted.length === 0) return entities;
    return this.#looked()
      .answerAll(numbers, wanted)
      .then(() => entities);
  }

  /**
   * A reply of ours at the end of its time has what is known by then. The context of another program may be used at any
   * time after its end, when what it has learned is too old.
   */
  #answerTo(...question: Parameters<SimSwapLoader['answer']>) {
    const isMounted = this.#countQuestion !== undefined;
    if (isMounted && this.signal.aborted) return { kind: 'failure', failure: BUSY } as const;
    return this.#looked().answer(...question);
  }

  #mayPlan(number: PhoneNumber): boolean {
    return mayAskAbout(this.rights, number) && this.#parts.rehearsals?.has(number) !== true;
  }

  #looked(): SimSwapLoader {
    return (this.#loader ??= this.#parts.simSwaps.forRequest(this));
  }

  /** Call when the answers have reached the caller; until then they count as not delivered. */
  delivered(): void {
    this.#loader?.delivered();
  }

  onBegun(): void {
    this.#lookups += 1;
  }

  onLookupCounted(by: 1 | -1): void {
    this.lookupsCounted += by;
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
      caller: this.rights === ANONYMOUS_CALLER ? undefined : this.caller,
      document: this.document,
      operation: this.operation,
      status,
      lookups: this.#lookups,
      tookMs: this.#parts.clock.monotonicMs() - this.cameInAtMs,
      codes: this.#codes,
      answers: this.#answers,
      repeatedQuestions: Math.max(0, this.#fields - (this.#loader?.questions ?? 0)),
    };
  }
}
