import {
  assertObjectType,
  OperationTypeNode,
  type FieldNode,
  type GraphQLResolveInfo,
} from 'graphql';
import type { FieldQuestion } from '../domain/fields.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { AdmittedRequest } from '../caller/gate.ts';
import { limitExceeded, severalForbidden, type OperationLimits } from '../graphql/operationCost.ts';
import { belowNumber, failureBytes, WEIGHTS } from '../graphql/replyBytes.ts';
import { GraphqlRequest, type RequestParts, type RequestTerms } from '../graphql/request.ts';
import { Selections } from '../graphql/selections.ts';

/** Reading a consent's status is not a lookup. */
const CONSENT = 1;

/** The member `simSwap` in the context of a request; useful only to our own resolvers. */
export class MountedRequest {
  /** In a subscription that of the latest event. */
  request: GraphqlRequest;
  readonly #limits: OperationLimits;
  readonly #begin: () => GraphqlRequest;
  readonly #questions = new Map<PhoneNumber, readonly FieldQuestion[]>();
  readonly #bytesBelow = new WeakMap<readonly FieldNode[], number>();
  /** Keyed by the variables of an execution: a batch has several. */
  readonly #selections = new WeakMap<object, Selections>();
  #replyBytes = 0;
  /** The variables of the latest event: each is an execution. */
  #event: object | undefined;

  constructor(
    parts: RequestParts & { readonly config: { readonly limits: OperationLimits } },
    terms: RequestTerms,
    admitted: Pick<AdmittedRequest, 'caller' | 'purpose'>,
    waitMs?: number,
  ) {
    this.#limits = parts.config.limits;
    this.#begin = () => {
      const request = new GraphqlRequest(parts, terms, (...question) =>
        this.#countQuestion(...question),
      );
      request.admit(admitted, waitMs);
      return request;
    };
    this.request = this.#begin();
  }

  /** The end of another program's request is not known: it runs only during a question. */
  async during<T>(info: GraphQLResolveInfo, answer: () => T | Promise<T>): Promise<T> {
    this.#beginEvent(info);
    const { request } = this;
    const { life, signal } = request;
    life.begin();
    try {
      return await answer();
    } finally {
      life.pause();
      // The reply is not known either. It has all fields: none has reached the caller while one is being answered.
      if (!life.isUnderWay && !signal.aborted) request.delivered();
    }
  }

  /** All events of a subscription have one context, and what an earlier one learned is too old for the next. */
  #beginEvent({ operation, variableValues }: GraphQLResolveInfo): void {
    const isSubscription = operation.operation === OperationTypeNode.SUBSCRIPTION;
    if (!isSubscription || variableValues === this.#event) return;
    this.#event = variableValues;
    this.request = this.#begin();
    this.#questions.clear();
    this.#replyBytes = 0;
  }

  /**
   * Counts what phone numbers add to the reply: a client chooses their aliases, which are written once for each number,
   * and again in the path of each error.
   *
   * @throws {AnswerError} when that exceeds the length of a reply
   */
  countNumber(info: GraphQLResolveInfo): void {
    this.#beginEvent(info);
    // Nothing is measured for refused numbers.
    this.#count(0);
    let bytes = this.#bytesBelow.get(info.fieldNodes);
    if (bytes === undefined) {
      const phoneNumber = assertObjectType(info.schema.getType('PhoneNumber'));
      const selections = this.#selectionsOf(info);
      bytes = belowNumber(info.fieldNodes, phoneNumber, selections, pathBytes(info)).bytes;
      this.#bytesBelow.set(info.fieldNodes, bytes);
    }
    this.#count(bytes);
  }

  /** Counts texts that may not be phone numbers, each of which has an error then. */
  countTexts(count: number, info: GraphQLResolveInfo): void {
    this.#beginEvent(info);
    this.#count(count * failureBytes(pathBytes(info)));
  }

  #selectionsOf({ fragments, variableValues }: GraphQLResolveInfo): Selections {
    let selections = this.#selections.get(variableValues);
    if (selections === undefined) {
      selections = new Selections(Object.values(fragments), variableValues);
      this.#selections.set(variableValues, selections);
    }
    return selections;
  }

  /** Numbers also come from that program's own fields: each is counted when it arrives. */
  #countQuestion(number: PhoneNumber, question: FieldQuestion): void {
    const { maxNumbersPerOperation, maxQuestionsPerNumber } = this.#limits;
    const known = this.#questions.get(number);
    if (known?.includes(question) === true) return;
    if (known === undefined) {
      const numbers = this.#questions.size;
      const { missingBatchScope } = this.request.rights;
      if (numbers >= 1 && missingBatchScope !== undefined)
        throw severalForbidden(missingBatchScope);
      if (numbers >= maxNumbersPerOperation) throw tooMuch('numbers', maxNumbersPerOperation);
    } else if (known.length >= maxQuestionsPerNumber + CONSENT) {
      throw tooMuch('questionsPerNumber', maxQuestionsPerNumber);
    }
    this.#questions.set(number, [...(known ?? []), question]);
  }

  #count(bytes: number): void {
    this.#replyBytes += bytes;
    const limit = this.#limits.maxReplyBytes;
    if (this.#replyBytes <= limit) return;
    // The path of each such error would be as long as the client chooses.
    throw limitExceeded({ limited: 'replyBytes', limit, asked: this.#replyBytes }, { path: [] });
  }
}

function tooMuch(limited: 'numbers' | 'questionsPerNumber', limit: number): Error {
  return limitExceeded({ limited, limit, asked: limit + 1 });
}

/** The length of the path of an error. */
function pathBytes({ path }: GraphQLResolveInfo): number {
  let bytes = 0;
  for (let place: typeof path | undefined = path; place !== undefined; place = place.prev) {
    bytes += typeof place.key === 'string' ? place.key.length + 4 : WEIGHTS.index;
  }
  return bytes;
}

/** Our part of a request's context; `undefined` where it has none. */
export function requestIn(context: unknown): MountedRequest | undefined {
  const isObject = typeof context === 'object' && context !== null;
  const request = isObject && 'simSwap' in context ? context.simSwap : undefined;
  return request instanceof MountedRequest ? request : undefined;
}

/** @throws {Error} where the context of the request has none */
export function requestOf(context: unknown): MountedRequest {
  const request = requestIn(context);
  if (request !== undefined) return request;
  throw new Error('The context of a request lacks what context() of the SIM swap subgraph makes.');
}
