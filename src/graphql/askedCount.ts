import {
  getArgumentValues,
  getDirectiveValues,
  getVariableValues,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isObjectType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { FIELDS, isAskingField } from '../domain/fields.ts';
import { parsePhoneNumber, type PhoneNumber } from '../domain/phoneNumber.ts';

/** How much one operation asks: equal numbers and equal questions count once. */
export interface AskedCount {
  readonly numbers: number;
  /** Of the number about which most is asked. */
  readonly questionsPerNumber: number;
  /** Fields of phone numbers that the reply would hold; equal ones count as often as they are asked. */
  readonly answers: number;
}

/** What one operation may ask. */
export interface AskLimits {
  readonly maxNumbersPerOperation: number;
  readonly maxQuestionsPerNumber: number;
}

/** An operation as it came, before it is executed. */
export interface AskedOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** As graphql-js coerced them. */
  readonly variables: Record<string, unknown>;
  /** The caller's own number, which comes in without being named. */
  readonly ownNumber?: PhoneNumber | undefined;
}

interface AskedBelow {
  readonly fields: number;
  readonly questions: ReadonlySet<string>;
  readonly asksConsent: boolean;
}

type Arguments = Readonly<Record<string, unknown>>;

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
 * Counts what an operation asks over aliases, fragments and representations together, without
 * executing it. It stops counting once a limit is passed, so a hostile operation costs little. Pure.
 */
export function countAsked(asked: AskedOperation, limits: AskLimits): AskedCount {
  const { schema, document, operation } = asked;
  const count = { numbers: 0, questionsPerNumber: 0, answers: 0 };
  const root = schema.getQueryType();
  const phoneNumber = schema.getType('PhoneNumber');
  if (!isObjectType(root) || !isObjectType(phoneNumber)) return count;
  const selections = new Selections(document, asked.variables);

  const questionsByNumber = new Map<string, Set<string>>();
  for (const field of selections.fieldsOf(operation.selectionSet)) {
    const numbersIn = NUMBERS_IN[field.name.value];
    const definition = root.getFields()[field.name.value];
    if (numbersIn === undefined || definition === undefined) continue;
    const numbers = numbersIn(selections.argumentsOf(definition, field), asked.ownNumber);
    const { fields, questions, asksConsent } = selections.askedBelow(field, phoneNumber);
    if (!Array.isArray(numbers)) continue;
    count.answers += numbers.length * Math.max(1, fields);
    if (exceeds(count, limits)) return count;
    if (questions.size === 0 && !asksConsent) continue;
    for (const number of new Set<unknown>(numbers)) {
      if (typeof number !== 'string') continue;
      const canonical = canonicalNumber(number);
      const known = questionsByNumber.get(canonical) ?? new Set();
      for (const question of questions) known.add(question);
      questionsByNumber.set(canonical, known);
      count.numbers = questionsByNumber.size;
      count.questionsPerNumber = Math.max(count.questionsPerNumber, known.size);
      if (exceeds(count, limits)) return count;
    }
  }
  return count;
}

/** Whether more is asked than one operation may. */
export function exceeds(count: AskedCount, limits: AskLimits): boolean {
  return (
    count.numbers > limits.maxNumbersPerOperation ||
    count.questionsPerNumber > limits.maxQuestionsPerNumber ||
    count.answers > maxAnswers(limits)
  );
}

/**
 * Repeating a question costs no lookup, but time and memory: room for every question to be asked four
 * times, with the number and its `__typename` beside.
 */
export function maxAnswers({ maxNumbersPerOperation, maxQuestionsPerNumber }: AskLimits): number {
  return 4 * maxNumbersPerOperation * (maxQuestionsPerNumber + 2);
}

/** Reads the selections of one operation. */
class Selections {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #variables: Record<string, unknown>;

  constructor(document: DocumentNode, variables: Record<string, unknown>) {
    this.#fragments = new Map(
      document.definitions.flatMap((definition) =>
        definition.kind === Kind.FRAGMENT_DEFINITION
          ? [[definition.name.value, definition] as const]
          : [],
      ),
    );
    this.#variables = variables;
  }

  /** The fields that would be executed, through fragments; each fragment is read once. */
  fieldsOf(selectionSet: SelectionSetNode): readonly FieldNode[] {
    const fields: FieldNode[] = [];
    const seen = new Set<string>();
    const open: SelectionNode[] = [...selectionSet.selections];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (!this.#isIncluded(node)) continue;
      if (node.kind === Kind.FIELD) {
        fields.push(node);
      } else if (node.kind === Kind.INLINE_FRAGMENT) {
        open.push(...node.selectionSet.selections);
      } else if (!seen.has(node.name.value)) {
        seen.add(node.name.value);
        open.push(...(this.#fragments.get(node.name.value)?.selectionSet.selections ?? []));
      }
    }
    return fields;
  }

  /** The fields below a field, and what they ask: equal questions of different fields are one. */
  askedBelow(field: FieldNode, phoneNumber: GraphQLObjectType): AskedBelow {
    const questions = new Set<string>();
    let asksConsent = false;
    const fields = field.selectionSet === undefined ? [] : this.fieldsOf(field.selectionSet);
    for (const asked of fields) {
      const definition = phoneNumber.getFields()[asked.name.value];
      if (definition === undefined || !isAskingField(definition.name)) continue;
      const ask = FIELDS[definition.name](this.argumentsOf(definition, asked));
      // Refused arguments ask nothing: the resolver says why.
      if ('refused' in ask) continue;
      switch (ask.value.cost) {
        case 'lookup':
          questions.add(ask.value.key);
          break;
        case 'stored-state':
          // No lookup, but not for any number of numbers.
          asksConsent = true;
      }
    }
    return { fields: fields.length, questions, asksConsent };
  }

  /** The arguments as the resolver will see them; none where they do not fit. */
  argumentsOf(definition: GraphQLField<unknown, unknown>, field: FieldNode): Arguments {
    try {
      return getArgumentValues(definition, field, this.#variables);
    } catch {
      return {};
    }
  }

  #isIncluded(node: SelectionNode): boolean {
    const skip = getDirectiveValues(GraphQLSkipDirective, node, this.#variables);
    const include = getDirectiveValues(GraphQLIncludeDirective, node, this.#variables);
    return skip?.['if'] !== true && include?.['if'] !== false;
  }
}

function keyOf(representation: unknown): unknown {
  return typeof representation === 'object' && representation !== null && 'e164' in representation
    ? representation.e164
    : undefined;
}

/** One number in several spellings is one number. */
function canonicalNumber(text: string): string {
  const parsed = parsePhoneNumber(text);
  return 'value' in parsed ? parsed.value : text;
}
