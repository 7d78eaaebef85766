import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import type { FieldQuestion } from '../domain/fields.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { FieldPlace } from '../graphql/answerErrors.ts';
import { limitExceeded } from '../graphql/operationCost.ts';
import {
  failedNumberBytes,
  fieldBytes,
  isMeasured,
  keyBytes,
  MAX_INDEX_BYTES,
  measuredBelow,
} from '../graphql/replyBytes.ts';
import {
  GraphqlRequest,
  type RequestContext,
  type RequestParts,
  type RequestTerms,
  type TellAnswer,
} from '../graphql/request.ts';
import { Selections } from '../graphql/selections.ts';

/** What the context of a request has under `simSwap`; of use to our own resolvers only. */
export class MountedRequest extends GraphqlRequest {
  readonly context: RequestContext = { request: this };
  readonly #maxReplyBytes: number;
  readonly #bytesBelow = new WeakMap<readonly FieldNode[], number>();
  /** By the variables of an execution: a batch has several. */
  readonly #selections = new WeakMap<object, Selections>();
  #replyBytes = 0;

  constructor(parts: RequestParts, terms: RequestTerms) {
    super(parts, terms);
    this.#maxReplyBytes = parts.config.limits.maxReplyBytes;
  }

  /** The end of a request of another program is not known: it runs only during a question. */
  override async answer<T>(
    number: PhoneNumber,
    asked: FieldQuestion,
    tell: TellAnswer<T>,
    place: FieldPlace,
  ): Promise<T> {
    this.begin();
    try {
      const telling: TellAnswer<T> = (...heard) => {
        // The caller has the answer here: there is no reply to wait for.
        if (!this.signal.aborted) this.told();
        return tell(...heard);
      };
      return await super.answer(number, asked, telling, place);
    } finally {
      this.pause();
    }
  }

  /**
   * Counts what phone numbers add to the reply: a client chooses their aliases, which are written once for each
   * number, and again in the path of each error.
   *
   * @throws {AnswerError} when that is more than a reply may have
   */
  countNumber(info: GraphQLResolveInfo): void {
    // Nothing is measured for what is refused.
    this.#count(0);
    let bytes = this.#bytesBelow.get(info.fieldNodes);
    if (bytes === undefined) {
      bytes = this.#measure(info.fieldNodes, this.#selectionsOf(info), pathBytes(info));
      this.#bytesBelow.set(info.fieldNodes, bytes);
    }
    this.#count(bytes);
  }

  /** The same of texts that may be no phone numbers, for each of which there is an error then. */
  countTexts(count: number, info: GraphQLResolveInfo): void {
    this.#count(count * failedNumberBytes(pathBytes(info)));
  }

  #selectionsOf({ fragments, variableValues }: GraphQLResolveInfo): Selections {
    let selections = this.#selections.get(variableValues);
    if (selections === undefined) {
      selections = new Selections(Object.values(fragments), variableValues);
      this.#selections.set(variableValues, selections);
    }
    return selections;
  }

  #count(bytes: number): void {
    this.#replyBytes += bytes;
    const limit = this.#maxReplyBytes;
    if (this.#replyBytes <= limit) return;
    // The path of each such error would be as long as the client chooses.
    throw limitExceeded({ limited: 'replyBytes', limit, asked: this.#replyBytes }, { path: [] });
  }

  /** As the service measures it before it executes: the fields of this package, and no others. */
  #measure(nodes: readonly FieldNode[], selections: Selections, path: number): number {
    let bytes = 2;
    for (const { selectionSet } of nodes) {
      if (selectionSet === undefined) continue;
      for (const field of selections.fieldsOf(selectionSet)) {
        if (bytes > this.#maxReplyBytes) return bytes;
        if (!isMeasured(field.name.value)) continue;
        const below = measuredBelow(field, selections);
        bytes += fieldBytes(field, path + keyBytes(field), below?.bytes);
      }
    }
    return bytes;
  }
}

/** How long the path of what an error is about becomes. */
function pathBytes({ path }: GraphQLResolveInfo): number {
  let bytes = 0;
  for (let place: typeof path | undefined = path; place !== undefined; place = place.prev) {
    bytes += typeof place.key === 'string' ? place.key.length + 4 : MAX_INDEX_BYTES;
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
