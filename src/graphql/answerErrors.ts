import {
  GraphQLError,
  responsePathAsArray,
  type GraphQLErrorOptions,
  type GraphQLResolveInfo,
} from 'graphql';
import {
  ERRORS,
  INTERNAL_ERROR,
  QUOTA_MESSAGES,
  type ErrorCode,
  type LookupFailure,
} from '../domain/errors.ts';

/**
 * An error that is an answer to a caller, not a defect. It has its code itself, so that the code survives in every
 * server, and behind a stitched schema. It has no stack: writing thousands of them would take longer than everything
 * else.
 */
export class AnswerError extends GraphQLError {
  constructor(message: string, extensions: AnswerExtensions, options?: GraphQLErrorOptions) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, { ...options, extensions });
    Error.stackTraceLimit = stackTraceLimit;
  }
}

export interface AnswerExtensions extends Readonly<Record<string, unknown>> {
  readonly code: ErrorCode;
}

/** The input is not valid; the reason says how to correct it, and does not quote it. */
export function badUserInput(reason: string, place?: FieldPlace): AnswerError {
  return new AnswerError(reason, { code: 'BAD_USER_INPUT' }, optionsAt(place));
}

/** The caller may not query this number. The reply is the same for numbers that exist and for those that do not. */
export function forbidden(message: string = ERRORS.FORBIDDEN, place?: FieldPlace): AnswerError {
  return new AnswerError(message, { code: 'FORBIDDEN' }, optionsAt(place));
}

/** The field of an error. With it graphql-js does not wrap the error in another, which takes as long as the error. */
export type FieldPlace = Pick<GraphQLResolveInfo, 'fieldNodes' | 'path'>;

/** An entry of the field's list. */
export function entryOf({ fieldNodes, path }: FieldPlace, index: number): FieldPlace {
  return { fieldNodes, path: { prev: path, key: index, typename: undefined } };
}

function optionsAt(place: FieldPlace | undefined): GraphQLErrorOptions | undefined {
  return place && { nodes: place.fieldNodes, path: responsePathAsArray(place.path) };
}

export function lookupFailed(failure: LookupFailure, place?: FieldPlace): AnswerError {
  const { code, retryAfterSeconds, expiresAtMs, maxAgeHours, quota } = failure;
  const message = quota === undefined ? ERRORS[code] : QUOTA_MESSAGES[quota];
  const extensions: AnswerExtensions = {
    code,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(quota === undefined ? {} : { quota }),
    ...(maxAgeHours === undefined ? {} : { maxAgeHours }),
    ...(expiresAtMs === undefined ? {} : { expiresAt: new Date(expiresAtMs).toISOString() }),
  };
  return new AnswerError(message, extensions, optionsAt(place));
}

/** A defect: the error says only that it happened. */
export function internalError(options?: GraphQLErrorOptions): AnswerError {
  return new AnswerError(ERRORS[INTERNAL_ERROR], { code: INTERNAL_ERROR }, options);
}
