import type { FieldNode } from 'graphql';
import { isQuestionField } from '../domain/fields.ts';
import type { Measured, Selections } from './selections.ts';

/**
 * The most bytes that each takes in a reply, whatever the operator says; what a client chooses, the key of a field and the
 * path of its error, is added. test/graphql/replySize.test.ts computes them.
 */
export const WEIGHTS = {
  /** `data`, `errors`, and what is left of the quotas in `extensions`. */
  envelope: 1024,
  /** What the schema answers by itself, with nothing below it renamed: `__schema`, `__type`, `_service`. */
  schema: 300_000,
  /** The error of a root field, whose arguments GraphQL may quote. */
  failedRoot: 2150,
  /** `null` and the error of a number, or of a field that has a question. */
  failure: 490,
  /** A date and time is the longest value. */
  value: 42,
  /** A place in a list, in the path of an error: no list that fits a request has more places. */
  index: 8,
} as const;

/** The name of a field's value, with its quotes, colon and comma. */
export function keyBytes({ alias, name }: FieldNode): number {
  return (alias ?? name).value.length + 4;
}

/** A root field that has numbers, without them: its value, or the error that its arguments are invalid. */
export function rootBytes(root: FieldNode): number {
  return keyBytes(root) + WEIGHTS.failedRoot + keyBytes(root) + WEIGHTS.index;
}

/** A root field that has none. */
export function schemaBytes(root: FieldNode): number {
  const isName = root.name.value === '__typename';
  return isName ? keyBytes(root) + WEIGHTS.value : rootBytes(root) + WEIGHTS.schema;
}

/** @param pathBytes of the path of an error in its place */
export function failureBytes(pathBytes: number): number {
  return WEIGHTS.failure + pathBytes;
}

/**
 * What a field of a phone number adds to the reply for each number; nothing where it is another program's.
 *
 * @param pathBytes of the path of an error in the number's place
 */
export function measured(field: FieldNode, pathBytes: number, selections: Selections): Measured {
  const name = field.name.value;
  const isQuestion = isQuestionField(name);
  if (!isQuestion && name !== 'e164' && name !== '__typename') return NOTHING;
  const below = measuredBelow(field, selections);
  const key = keyBytes(field);
  const value = isQuestion ? failureBytes(pathBytes + key) : WEIGHTS.value;
  return { fields: 1 + below.fields, bytes: key + value + below.bytes };
}

const NOTHING: Measured = { fields: 0, bytes: 0 };

/** Of a check or a consent: its fields by themselves have no errors, so that their place makes no difference. */
function measuredBelow({ selectionSet }: FieldNode, selections: Selections): Measured {
  if (selectionSet === undefined) return NOTHING;
  let known = selections.measured.get(selectionSet);
  if (known === undefined) {
    const fields = selections.fieldsOf(selectionSet);
    const bytes = fields.reduce((sum, field) => sum + keyBytes(field) + WEIGHTS.value, 0);
    known = { fields: fields.length, bytes };
    selections.measured.set(selectionSet, known);
  }
  return known;
}
