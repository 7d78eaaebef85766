import {
  FIELDS,
  type FieldArguments,
  type FieldQuestion,
  type ConsentStatus,
} from '../domain/fields.ts';
import { parsePhoneNumber } from '../domain/phoneNumber.ts';
import { badUserInput, entryOf, forbidden, type FieldPlace, lookupFailed } from './answerErrors.ts';
import type {
  PhoneNumberResolvers,
  QueryResolvers,
  SimSwapConsentResolvers,
  SimSwapCheck,
} from './generated/resolvers.ts';
import type { PhoneNumberEntity, RequestContext, ToValue } from './request.ts';
import { questionsBelow } from './selections.ts';
import { GraphQLScalarType, type GraphQLResolveInfo } from 'graphql';
import { instantAt, type Instant } from '../domain/instant.ts';
import type { FieldAnswer } from '../lookups/executor.ts';

/** RFC 3339 as the operator wrote it, which may have more digits of a second than we could keep. */
export const DateTime = new GraphQLScalarType<Instant, string>({
  name: 'DateTime',
  // As in schema/phone-number.graphql: what makes the schema executable would leave both out.
  description:
    'A date and time with its zone, as RFC 3339 writes it: `2026-03-14T09:26:53Z` or\n' +
    "`2026-03-14T10:26:53.589+01:00`. Zone and precision are the operator's.",
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339#section-5.6',
  serialize(value) {
    if (typeof value === 'object' && value !== null && 'text' in value) return String(value.text);
    throw new TypeError('A DateTime is serialised from an instant.');
  },
});

/** The schema's fields of a number but the number itself: one without an entry in the table does not compile. */
type SchemaField = Exclude<keyof PhoneNumberResolvers, '__resolveReference' | 'e164'>;

const PhoneNumber: Required<Omit<PhoneNumberResolvers, '__resolveReference'>> = {
  e164: ({ e164 }) => e164,
  lastSimSwap: answering('lastSimSwap', toDate),
  simSwappedWithin: answering('simSwappedWithin', toSwapped),
  simSwapCheck: answering('simSwapCheck', toSimSwapCheck),
  simSwapConsent: answering('simSwapConsent', toConsent),
};

function answering<T>(field: SchemaField, toValue: ToValue<T>) {
  return (
    { e164 }: PhoneNumberEntity,
    args: FieldArguments,
    { request }: RequestContext,
    place: FieldPlace,
  ): OrPromise<T> => {
    const question = FIELDS[field](args);
    if (question.kind === 'refused') throw badUserInput(question.reason, place);
    return request.answer(e164, question.value, toValue, place);
  };
}

const SimSwapConsent: SimSwapConsentResolvers = {
  state: ({ state }) => state,
  retryAfterSeconds: ({ retryAfterSeconds }) => retryAfterSeconds ?? null,
  expiresAt: ({ expiresAtMs }) => orNull(expiresAtMs),
};

const Query: QueryResolvers = {
  phoneNumber: (_root, { e164 }, _context, info) => phoneNumber(e164, info),
  phoneNumbers: (_root, { e164s }, { request }, info) =>
    request.planned(
      e164s.map((e164, index) => phoneNumber(e164, info, index)),
      () => questionsBelow(info),
    ),
  myPhoneNumber: (_root, _args, { request }) => {
    const { ownNumber } = request.rights;
    if (ownNumber === undefined) {
      throw forbidden('Your access token has no verified phone number.');
    }
    return { e164: ownNumber };
  },
};

/** The BFF: the numbers come in as arguments. */
export const bffResolvers = { DateTime, PhoneNumber, SimSwapConsent, Query };

/**
 * The subgraph: the numbers come in as representations. `_entities` is ours rather than the library's, which for a
 * `__typename` that it does not know fails the whole list, and quotes it.
 */
export const subgraphResolvers = {
  DateTime,
  PhoneNumber,
  SimSwapConsent,
  Query: {
    _entities: (
      _root: unknown,
      { representations }: { representations: readonly unknown[] },
      { request }: RequestContext,
      info: GraphQLResolveInfo,
    ) =>
      request.planned(
        representations.map((each, index) => resolveReference(each, info, index)),
        () => questionsBelow(info),
      ),
  },
};

type PhoneNumberReference = PhoneNumberEntity & { readonly __typename: 'PhoneNumber' };

/** In this tick where possible: a promise for each of a thousand numbers has a cost. */
type OrPromise<T> = T | Promise<T>;
type OrRefused<T> = T | Promise<never>;

/** An invalid number fails by itself: a rejected promise nulls its own entry of a list, a thrown error all of them. */
function phoneNumber(
  text: string,
  field?: FieldPlace,
  index?: number,
): OrRefused<PhoneNumberReference> {
  const number = parsePhoneNumber(text);
  return number.kind === 'parsed'
    ? { __typename: 'PhoneNumber', e164: number.value }
    : refused(number.reason, field, index);
}

/**
 * The entity of a representation, where the subgraph has others as well.
 *
 * @param field a list of ours, and where in it the representation is
 */
export function resolveReference(
  representation: unknown,
  field?: FieldPlace,
  index?: number,
): OrRefused<PhoneNumberReference> {
  if (typeof representation !== 'object' || representation === null) {
    return refused('A representation is an object with __typename and e164.', field, index);
  }
  if (!('__typename' in representation) || representation.__typename !== 'PhoneNumber') {
    return refused('This subgraph resolves only representations of PhoneNumber.', field, index);
  }
  if (!('e164' in representation) || typeof representation.e164 !== 'string') {
    return refused('A representation of PhoneNumber has its e164 as a string.', field, index);
  }
  return phoneNumber(representation.e164, field, index);
}

function refused(reason: string, field?: FieldPlace, index?: number): Promise<never> {
  const place = field && index !== undefined ? entryOf(field, index) : field;
  return Promise.reject(badUserInput(reason, place));
}

export function toDate(answer: FieldAnswer, place?: FieldPlace): Instant | null {
  if (answer.kind !== 'date') throw unanswered(answer, place);
  return answer.latestSimChange;
}

export function toSwapped(answer: FieldAnswer, place?: FieldPlace): boolean {
  if (answer.kind !== 'window') throw unanswered(answer, place);
  return answer.swapped;
}

function toConsent(answer: FieldAnswer, place?: FieldPlace): ConsentStatus | null {
  if (answer.kind !== 'consent') throw unanswered(answer, place);
  return answer.consent ?? null;
}

/** Returns a failure as data. */
export function toSimSwapCheck(
  answer: FieldAnswer,
  place: FieldPlace | undefined,
  question: FieldQuestion,
): SimSwapCheck {
  if (question.about !== 'window')
    throw new Error(`A check does not ask for the ${question.about}.`);
  const { maxAgeHours: windowHours } = question;
  switch (answer.kind) {
    case 'window': {
      const result = answer.swapped ? 'SWAPPED' : 'NOT_SWAPPED';
      return { result, windowHours, asOf: instantAt(answer.asOfMs) };
    }
    case 'failure': {
      const { code: reason, retryAfterSeconds = null, maxAgeHours = null } = answer.failure;
      const expiresAt = orNull(answer.failure.expiresAtMs);
      return { result: 'UNKNOWN', windowHours, reason, retryAfterSeconds, expiresAt, maxAgeHours };
    }
    case 'date':
    case 'consent':
      throw unanswered(answer, place);
  }
}

function orNull(epochMs: number | undefined): Instant | null {
  return epochMs === undefined ? null : instantAt(epochMs);
}

/** The failure in place of the requested kind of answer; an answer of another kind is a defect of ours. */
function unanswered(answer: FieldAnswer, place?: FieldPlace): Error {
  return answer.kind === 'failure'
    ? lookupFailed(answer.failure, place)
    : new Error(`An answer of the kind ${answer.kind} was not requested.`);
}
