import {
  getVariableValues,
  isObjectType,
  type DocumentNode,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { FIELDS, isAskingField, type FieldAsk } from '../domain/fields.ts';
import { parsePhoneNumber, type PhoneNumber } from '../domain/phoneNumber.ts';
import { KnownReply } from './knownReply.ts';
import {
  failedFieldBytes,
  failedNumberBytes,
  failedRootBytes,
  keyBytes,
  MAX_ENVELOPE_BYTES,
  MAX_INDEX_BYTES,
  MIN_FIELD_BYTES,
  valueBytes,
} from './replyBytes.ts';
import { fragmentsOf, Selections, type Arguments } from './selections.ts';

/** What one operation asks for: equal numbers and equal questions count once. */
export interface OperationCost {
  readonly numbers: number;
  /** Of the number about which most is asked. */
  readonly questionsPerNumber: number;
  /** Fields of phone numbers and below that the reply would hold; equal ones count as often as they are asked. */
  readonly answers: number;
  /** The reply is never longer than this, whatever the operator says, errors included. */
  readonly replyBytes: number;
}

export interface OperationLimits {
  readonly maxNumbersPerOperation: number;
  readonly maxQuestionsPerNumber: number;
  readonly maxReplyBytes: number;
}

/** A limit that an operation is over. */
export interface Excess {
  readonly limited: keyof OperationCost;
  readonly limit: number;
  /** Counting ends at {@link COUNTED_TIMES} times the limit: there it is this much at least. */
  readonly asked: number;
}

/** An operation as it came, before it is executed. */
export interface IncomingOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** As graphql-js coerced them. */
  readonly variables: Record<string, unknown>;
  /** The caller's own number, which comes in without being named. */
  readonly ownNumber?: PhoneNumber | undefined;
}

/** What is asked below a field of numbers. */
interface AskedBelow {
  readonly fields: number;
  readonly questions: ReadonlySet<string>;
  readonly asksConsent: boolean;
  /** Of the reply, for each number. */
  readonly bytes: number;
}

/** Counting goes on so far beyond a limit, to tell a caller by how much it is over; then it ends. */
export const COUNTED_TIMES = 10;

/** The root fields by which numbers come in, and where in their arguments the numbers are. */
const NUMBERS_IN: Readonly<
  Record<string, (args: Arguments, ownNumber: PhoneNumber | undefined) => unknown>
> = {
  myPhoneNumber: (_args, ownNumber) => [ownNumber],
  phoneNumber: ({ e164 }) => [e164],
  phoneNumbers: ({ e164s }) => e164s,
  _entities: ({ representations }) =>
    Array.isArray(representations) ? representations.map(keyOf) : [],
};

/** The variables as an execution coerces them; `undefined` when they do not fit, as it will say. */
export function coerceVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables, {
    // One is enough to know; a list of a hundred thousand nulls has as many.
    maxErrors: 1,
  });
  return coerced;
}

/**
 * Counts what an operation asks for over aliases, fragments and representations together, without
 * executing it: every selected field counts, wherever it stands. It ends far beyond a limit, so a hostile
 * operation costs little. Pure.
 *
 * @throws {GraphQLError} when `@skip` or `@include` is given null
 */
export function costOf(incoming: IncomingOperation, limits: OperationLimits): OperationCost {
  const { schema, document, operation } = incoming;
  const cost = { numbers: 0, questionsPerNumber: 0, answers: 0, replyBytes: MAX_ENVELOPE_BYTES };
  const root = schema.getQueryType();
  const phoneNumber = schema.getType('PhoneNumber');
  if (!isObjectType(root) || !isObjectType(phoneNumber)) return cost;
  const selections = new Selections(fragmentsOf(document), incoming.variables);
  const known = new KnownReply(schema, root, selections);

  const bounds = limitsOf(limits).map(([name, limit]) => [name, COUNTED_TIMES * limit] as const);
  const isFarBeyond = () => bounds.some(([name, bound]) => cost[name] > bound);
  const questionsByNumber = new Map<unknown, ReadonlySet<string>>();
  for (const field of selections.fieldsOf(operation.selectionSet)) {
    if (isFarBeyond()) return cost;
    const name = field.name.value;
    const numbersIn = NUMBERS_IN[name];
    const definition = root.getFields()[name];
    if (numbersIn === undefined || definition === undefined) {
      if (isKnown(name)) cost.replyBytes += known.bytesOf(field, limits.maxReplyBytes);
      continue;
    }
    const numbers = numbersIn(selections.argumentsOf(definition, field), incoming.ownNumber);
    const path = keyBytes(field) + MAX_INDEX_BYTES;
    // The field as a whole: what it holds, or that its arguments are not valid.
    cost.replyBytes += keyBytes(field) + failedRootBytes(path);
    if (!Array.isArray(numbers) || numbers.length === 0) continue;

    const below = askedBelow(field, phoneNumber, { selections, path });
    cost.answers += numbers.length * Math.max(1, below.fields);
    cost.replyBytes += numbers.length * Math.max(below.bytes, failedNumberBytes(path));
    if (below.questions.size === 0 && !below.asksConsent) continue;
    for (const number of new Set<unknown>(numbers)) {
      if (isFarBeyond()) return cost;
      if (number === undefined) continue;
      const canonical = typeof number === 'string' ? canonicalNumber(number) : number;
      const before = questionsByNumber.get(canonical);
      const asked =
        before === undefined ? below.questions : new Set([...before, ...below.questions]);
      questionsByNumber.set(canonical, asked);
      cost.numbers = questionsByNumber.size;
      cost.questionsPerNumber = Math.max(cost.questionsPerNumber, asked.size);
    }
  }
  return cost;
}

/** The first limit that an operation is over; `undefined` when it is within all of them. */
export function excessOf(cost: OperationCost, limits: OperationLimits): Excess | undefined {
  const [limited, limit] = limitsOf(limits).find(([name, most]) => cost[name] > most) ?? [];
  if (limited === undefined || limit === undefined) return undefined;
  return { limited, limit, asked: cost[limited] };
}

/**
 * Repeating a question costs no lookup, but time and memory: room for every question to be asked four
 * times, with the number and its `__typename` beside.
 */
export function maxAnswers(
  limits: Pick<OperationLimits, 'maxNumbersPerOperation' | 'maxQuestionsPerNumber'>,
): number {
  return 4 * limits.maxNumbersPerOperation * (limits.maxQuestionsPerNumber + 2);
}

function limitsOf(limits: OperationLimits): readonly (readonly [keyof OperationCost, number])[] {
  return [
    ['numbers', limits.maxNumbersPerOperation],
    ['questionsPerNumber', limits.maxQuestionsPerNumber],
    ['answers', maxAnswers(limits)],
    ['replyBytes', limits.maxReplyBytes],
  ];
}

/** The fields below a field, and what they ask. */
function askedBelow(
  field: FieldNode,
  parent: GraphQLObjectType,
  { selections, path }: { readonly selections: Selections; readonly path: number },
): AskedBelow {
  const questions = new Set<string>();
  const below = { fields: 0, bytes: 2, asksConsent: false };
  const fields = field.selectionSet === undefined ? [] : selections.fieldsOf(field.selectionSet);
  for (const asked of fields) {
    const definition = parent.getFields()[asked.name.value];
    const pathHere = path + keyBytes(asked);
    below.fields += 1;
    const { size, canFail } = valueBytes(asked.name.value);
    const ifFailed = canFail ? failedFieldBytes(pathHere) : 0;
    let value = size;
    if (definition !== undefined && isAskingField(definition.name)) {
      const ask = FIELDS[definition.name](selections.argumentsOf(definition, asked));
      switch (ask.kind) {
        case 'parsed':
          add(ask.value, questions, below);
          break;
        // The resolver says why, for each number.
        case 'refused':
          questions.add('refused');
      }
    }
    if (definition !== undefined && isObjectType(definition.type)) {
      const nested = askedBelow(asked, definition.type, { selections, path: pathHere });
      below.fields += nested.fields;
      value = nested.bytes;
    }
    below.bytes += Math.max(MIN_FIELD_BYTES, keyBytes(asked) + Math.max(value, ifFailed));
  }
  return { ...below, questions };
}

/** Equal questions of different fields are one. */
function add(
  { key, cost }: FieldAsk,
  questions: Set<string>,
  below: { asksConsent: boolean },
): void {
  switch (cost) {
    case 'lookup':
      questions.add(key);
      break;
    case 'stored-state':
      // No lookup, but not for any number of numbers.
      below.asksConsent = true;
  }
}

/** What the schema itself answers. Other fields are another program's, whose resolvers are not called to measure them. */
function isKnown(rootField: string): boolean {
  return rootField.startsWith('__') || rootField === '_service';
}

/** The number of a representation; or itself where it has none, and is refused for that. */
function keyOf(representation: unknown): unknown {
  return typeof representation === 'object' &&
    representation !== null &&
    'e164' in representation &&
    typeof representation.e164 === 'string'
    ? representation.e164
    : representation;
}

/** One number in several spellings is one number. */
function canonicalNumber(text: string): string {
  const parsed = parsePhoneNumber(text);
  switch (parsed.kind) {
    case 'parsed':
      return parsed.value;
    case 'refused':
      return text;
  }
}
