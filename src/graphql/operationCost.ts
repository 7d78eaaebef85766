import {
  getVariableValues,
  isObjectType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type TypeNode,
  type VariableDefinitionNode,
  GraphQLError,
} from 'graphql';
import { parsePhoneNumber, type PhoneNumber } from '../domain/phoneNumber.ts';
import { OF_CONSENT } from '../domain/fields.ts';
import {
  belowNumber,
  failureBytes,
  keyBytes,
  rootBytes,
  schemaBytes,
  WEIGHTS,
  type BelowNumber,
} from './replyBytes.ts';
import { readArguments, Selections } from './selections.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { AnswerError } from './answerErrors.ts';

/** What one operation queries: equal numbers and equal questions count once. */
export interface OperationCost {
  readonly numbers: number;
  /** For the number with the most questions. */
  readonly questionsPerNumber: number;
  /** Fields of phone numbers in the reply, and the fields below them; equal ones count each time. */
  readonly answers: number;
  /** The reply is never longer than this, errors included, whatever the operator replies. */
  readonly replyBytes: number;
}

export interface OperationLimits {
  readonly maxNumbersPerOperation: number;
  readonly maxQuestionsPerNumber: number;
  readonly maxReplyBytes: number;
}

export interface Excess {
  readonly limited: keyof OperationCost;
  readonly limit: number;
  /** A lower bound: counting ends at {@link COUNTED_TIMES} times the limit. */
  readonly asked: number;
}

export interface IncomingOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** The variables as sent. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The caller's own number, which `myPhoneNumber` queries without naming it. */
  readonly ownNumber?: PhoneNumber | undefined;
}

/** A root field with numbers, and everything that is known of it without them. */
interface NumbersField {
  readonly kind: 'numbers';
  readonly node: FieldNode;
  readonly definition: GraphQLField<unknown, unknown>;
  /** The bytes of the reply: for the field as a whole, and for each number. */
  readonly bytes: number;
  readonly bytesEach: number;
  readonly below: BelowNumber;
}

export type RootField =
  | NumbersField
  /** Answered by the schema itself. */
  | { readonly kind: 'known'; readonly bytes: number };

/** Counting continues to this multiple of a limit, so that the error can state how far an operation exceeds it. */
export const COUNTED_TIMES = 10;

/** The root fields with numbers: the argument that has the number, or the list of numbers. */
const NUMBERS_IN: Readonly<Record<string, { readonly one?: string; readonly list?: string }>> = {
  // The caller's own number, which no argument names.
  myPhoneNumber: {},
  phoneNumber: { one: 'e164' },
  phoneNumbers: { list: 'e164s' },
  _entities: { list: 'representations' },
};

/**
 * Counts an operation over aliases, fragments and representations together, without executing it: every selected field
 * counts, wherever it is. It ends far beyond a limit, so that a hostile operation costs little.
 *
 * @param readBefore keeps what it reads, and saves reading it the next time
 * @returns `undefined` when the variables are invalid: the execution reports that
 * @throws {GraphQLError} when `@skip` or `@include` is given null
 */
export function costOf(
  { variables: given, ...incoming }: IncomingOperation,
  most: OperationCost,
  readBefore: ReadOperations,
): OperationCost | undefined {
  const { schema, operation, ownNumber } = incoming;
  const variables = coercedVariables(schema, operation.variableDefinitions ?? [], given);
  if (variables === undefined) return undefined;
  const cost = { numbers: 0, questionsPerNumber: 0, answers: 0, replyBytes: WEIGHTS.envelope };
  const questionsByNumber = new Map<unknown, BelowNumber['questions']>();
  const roots = readBefore.get(operation) ?? rootFields({ ...incoming, variables }, readBefore);
  for (const field of roots) {
    if (firstOver(cost, most, COUNTED_TIMES) !== undefined) return cost;
    cost.replyBytes += field.bytes;
    if (field.kind === 'known') continue;
    const numbers = numbersIn(field, variables, ownNumber);
    const { questions, fields } = field.below;
    // Fields are read, validated and counted for an empty list as well.
    cost.answers += Math.max(1, numbers.length) * Math.max(1, fields);
    cost.replyBytes += numbers.length * field.bytesEach;
    if (questions.size === 0) continue;
    for (const one of numbers) {
      if (firstOver(cost, most, COUNTED_TIMES) !== undefined) return cost;
      const number = canonical(one);
      if (number === undefined) continue;
      const before = questionsByNumber.get(number) ?? questions;
      const all = before === questions ? questions : new Set([...before, ...questions]);
      questionsByNumber.set(number, all);
      cost.numbers = questionsByNumber.size;
      // Reading a consent is not a lookup, but numbers are limited for it too.
      const lookups = all.size - (all.has(OF_CONSENT) ? 1 : 0);
      cost.questionsPerNumber = Math.max(cost.questionsPerNumber, lookups);
    }
  }
  return cost;
}

/** `undefined` when they are invalid. */
function coercedVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  given: IncomingOperation['variables'],
): IncomingOperation['variables'] | undefined {
  const isPlain = definitions.every(({ type, variable }) =>
    isCoercedToItself(type, given[variable.name.value]),
  );
  // The execution coerces them again, so the usual ones are not coerced here as well.
  if (isPlain) return given;
  // One is enough to know; a list of a hundred thousand nulls has as many.
  return getVariableValues(schema, definitions, given, { maxErrors: 1 }).coerced;
}

/** Whether a value is certainly one of its type: numbers, and representations, as clients and routers send them. */
function isCoercedToItself(type: TypeNode, value: unknown): boolean {
  switch (type.kind) {
    case Kind.NON_NULL_TYPE:
      return isCoercedToItself(type.type, value);
    case Kind.LIST_TYPE:
      return Array.isArray(value) && value.every((one) => isCoercedToItself(type.type, one));
    case Kind.NAMED_TYPE:
      return type.name.value === 'ID'
        ? typeof value === 'string'
        : type.name.value === '_Any' && typeof value === 'object' && value !== null;
  }
}

export function excessOf(cost: OperationCost, most: OperationCost): Excess | undefined {
  const limited = firstOver(cost, most, 1);
  return limited && { limited, limit: most[limited], asked: cost[limited] };
}

export function mostOf(limits: OperationLimits): OperationCost {
  const { maxNumbersPerOperation: numbers, maxQuestionsPerNumber: questions } = limits;
  return {
    numbers,
    questionsPerNumber: questions,
    // Repeating a question costs no lookup, but time and memory: there is room for every question four times, with the
    // number and its `__typename`.
    answers: 4 * numbers * (questions + 2),
    replyBytes: limits.maxReplyBytes,
  };
}

const LIMITED = ['numbers', 'questionsPerNumber', 'answers', 'replyBytes'] as const;

function firstOver(
  cost: OperationCost,
  most: OperationCost,
  times: number,
): keyof OperationCost | undefined {
  for (const limited of LIMITED) if (cost[limited] > times * most[limited]) return limited;
  return undefined;
}

/**
 * The root fields of operations in which no variable decides what is queried, for as long as their documents are
 * cached: from one request to the next only their numbers differ. For one schema.
 */
export type ReadOperations = WeakMap<OperationDefinitionNode, readonly RootField[]>;

/** Fragments can expand a short document into more fields than should be kept for it. */
const MAX_KEPT_FIELDS = 100;

/** Reads root fields one after the other, as they are counted, and keeps them where they are the same every time. */
function* rootFields(
  { schema, document, operation, variables }: IncomingOperation,
  readBefore: ReadOperations,
): Generator<RootField, void> {
  const root = schema.getQueryType();
  const phoneNumber = schema.getType('PhoneNumber');
  if (!isObjectType(root) || !isObjectType(phoneNumber)) return;
  const selections = new Selections(document.definitions, variables);
  const fields: RootField[] = [];
  let size = 0;
  for (const node of selections.fieldsOf(operation.selectionSet)) {
    const name = node.name.value;
    const definition = root.getFields()[name];
    let field: RootField;
    if (definition !== undefined && Object.hasOwn(NUMBERS_IN, name)) {
      const path = keyBytes(node) + WEIGHTS.index;
      const below = belowNumber([node], phoneNumber, selections, path);
      const bytesEach = Math.max(below.bytes, failureBytes(path));
      field = { kind: 'numbers', node, definition, bytes: rootBytes(node), bytesEach, below };
      size += below.fields;
    } else {
      field = { kind: 'known', bytes: schemaBytes(node) };
    }
    fields.push(field);
    yield field;
  }
  size += fields.length;
  if (!selections.dependOnVariables && size <= MAX_KEPT_FIELDS) readBefore.set(operation, fields);
}

/** The numbers of a field; none where its arguments are invalid. */
function numbersIn(
  { node, definition }: NumbersField,
  variables: Record<string, unknown>,
  ownNumber: PhoneNumber | undefined,
): readonly unknown[] {
  const { one, list } = NUMBERS_IN[node.name.value] ?? {};
  const args = readArguments(definition, node, variables);
  if (list === undefined) return [one === undefined ? ownNumber : args[one]];
  const numbers = args[list];
  return Array.isArray(numbers) ? numbers : [];
}

/** The number itself, also in a representation: different spellings count once. An invalid one counts by itself. */
function canonical(value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null && 'e164' in value;
  const text = isObject ? value.e164 : value;
  if (typeof text !== 'string') return value;
  const parsed = parsePhoneNumber(text);
  return parsed.kind === 'parsed' ? parsed.value : text;
}

/** @param options the status of the reply, when nothing is executed; or the path of the error */
export function limitExceeded(
  excess: Excess,
  { status, path }: { readonly status?: number; readonly path?: readonly string[] } = {},
): AnswerError {
  return new AnswerError(
    `${inWords(excess)} Split it into several operations.`,
    {
      code: 'LOOKUP_LIMIT_EXCEEDED',
      ...excess,
      ...(status === undefined ? {} : { http: { status } }),
    },
    path === undefined ? {} : { path },
  );
}

/** With separators: a run of digits would be masked as a phone number. */
function figure(count: number): string {
  return count.toLocaleString('en');
}

function inWords({ limited, ...excess }: Excess): string {
  const counted = COUNTED_TIMES * excess.limit;
  const limit = figure(excess.limit);
  const actual = excess.asked > counted ? `more than ${figure(counted)}` : figure(excess.asked);
  switch (limited) {
    case 'numbers':
      return `One operation may have ${limit} numbers; this one has ${actual}.`;
    case 'questionsPerNumber':
      return `One operation may have ${limit} questions about a number; this one has ${actual}.`;
    case 'answers':
      return `One operation may have ${limit} fields of phone numbers, and fewer the more lines its document has; this one has ${actual}.`;
    case 'replyBytes':
      return `A reply may have ${limit} bytes; the reply to this operation could have ${actual}.`;
  }
}

/** The caller may query one number per operation. The same for numbers that exist and for those that do not. */
export function severalForbidden(scope: string, status?: number): AnswerError {
  return new AnswerError(
    `This operation queries several numbers, and your access token allows one. Send one number per operation, or get a token with the scope ${scope}.`,
    { code: 'FORBIDDEN', ...(status === undefined ? {} : { http: { status } }) },
  );
}

export function badOperation(message: string, { nodes }: { nodes?: GraphQLError['nodes'] } = {}) {
  return new GraphQLError(message, {
    nodes: nodes ?? null,
    // Before execution, Apollo would say 500.
    extensions: { code: 'BAD_USER_INPUT' satisfies ErrorCode, http: { status: 400 } },
  });
}
