import type { FieldNode, GraphQLObjectType } from 'graphql';
import type { FieldQuestion } from '../domain/fields.ts';
import type { Selections } from './selections.ts';

/**
 * The most bytes of each part of a reply, whatever the operator sends. What a client chooses (the key of a field and
 * the path of its error) is added. test/graphql/replySize.test.ts computes them.
 */
export const WEIGHTS = {
  /** `data`, `errors`, and the rest of the quotas in `extensions`. */
  envelope: 1024,
  /** What the schema answers by itself, without aliases below it: `__schema`, `__type`, `_service`. */
  schema: 300_000,
  /** The error of a root field, whose arguments GraphQL may quote. */
  failedRoot: 2150,
  /** `null` and the error of a number, or of a field with a question. */
  failure: 490,
  /** A date and time is the longest value. */
  value: 42,
  /** An index of a list in the path of an error: no list that fits into a request is longer. */
  index: 8,
} as const;

/** The name of a field's value, with its quotes, colon and comma. */
export function keyBytes({ alias, name }: FieldNode): number {
  return (alias ?? name).value.length + 4;
}

/** A root field with numbers, without counting these: its value, or the error that its arguments are invalid. */
export function rootBytes(root: FieldNode): number {
  return keyBytes(root) + WEIGHTS.failedRoot + keyBytes(root) + WEIGHTS.index;
}

/** A root field without numbers. */
export function schemaBytes(root: FieldNode): number {
  const isName = root.name.value === '__typename';
  return isName ? keyBytes(root) + WEIGHTS.value : rootBytes(root) + WEIGHTS.schema;
}

/** @param pathBytes the path of an error in its place */
export function failureBytes(pathBytes: number): number {
  return WEIGHTS.failure + pathBytes;
}

/** What is known of the fields of a number, without the number. */
export interface BelowNumber {
  /** How many fields, with those below them. */
  readonly fields: number;
  /** The most bytes that the fields add to the reply for each number. */
  readonly bytes: number;
  /** Equal questions are one object. The resolver reports why one is `refused`. */
  readonly questions: ReadonlySet<FieldQuestion | 'refused'>;
}

/**
 * Covers our fields; those of another program, in which this may be mounted, are left out.
 *
 * @param pathBytes the path of an error in the number's place
 */
export function belowNumber(
  nodes: readonly FieldNode[],
  phoneNumber: GraphQLObjectType,
  selections: Selections,
  pathBytes: number,
): BelowNumber {
  const questions = new Set<FieldQuestion | 'refused'>();
  /** With fragments, many fields have the same fields below them. */
  const bytesOf = new Map<readonly FieldNode[], number>();
  let fields = 0;
  let bytes = 0;
  for (const field of nodes.flatMap((node) => selections.below(node))) {
    const question = selections.questionOf(field, phoneNumber);
    if (question !== undefined) questions.add(question);
    else if (!WITHOUT_QUESTION.has(field.name.value)) continue;
    const key = keyBytes(field);
    // The fields of a check and of a consent have no errors of their own, and no fields below them.
    const inner = selections.below(field);
    let innerBytes = bytesOf.get(inner);
    innerBytes ??= inner.reduce((sum, one) => sum + keyBytes(one) + WEIGHTS.value, 0);
    bytesOf.set(inner, innerBytes);
    fields += 1 + inner.length;
    bytes += key + innerBytes;
    bytes += question === undefined ? WEIGHTS.value : failureBytes(pathBytes + key);
  }
  return { fields, bytes, questions };
}

const WITHOUT_QUESTION: ReadonlySet<string> = new Set(['e164', '__typename']);
