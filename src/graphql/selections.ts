import {
  assertObjectType,
  getArgumentValues,
  getDirectiveValues,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  type ArgumentNode,
  type DefinitionNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { FIELDS, isQuestionField, type FieldQuestion } from '../domain/fields.ts';

export type Arguments = Readonly<Record<string, unknown>>;

/** The arguments as the resolver will see them; none where they do not fit. */
export function readArguments(
  definition: GraphQLField<unknown, unknown>,
  field: FieldNode,
  variables: Record<string, unknown>,
): Arguments {
  try {
    return getArgumentValues(definition, field, variables);
  } catch {
    return {};
  }
}

function mayHoldVariable({ value: { kind } }: ArgumentNode): boolean {
  return kind === Kind.VARIABLE || kind === Kind.LIST || kind === Kind.OBJECT;
}

/** Reads the selections of one operation, each selection set and each field's arguments once. */
export class Selections {
  readonly #fragments = new Map<string, FragmentDefinitionNode>();
  readonly #variables: Record<string, unknown>;
  readonly #fields = new Map<SelectionSetNode, readonly FieldNode[]>();
  readonly #arguments = new Map<FieldNode, Arguments>();
  /** Whether other variables could lead to other fields or arguments among those that were read. */
  dependOnVariables = false;

  /** @param definitions of the document, or its fragments */
  constructor(definitions: readonly DefinitionNode[], variables: Record<string, unknown>) {
    this.#variables = variables;
    for (const one of definitions) {
      if (one.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(one.name.value, one);
    }
  }

  below({ selectionSet }: FieldNode): readonly FieldNode[] {
    return selectionSet === undefined ? [] : this.fieldsOf(selectionSet);
  }

  /** The fields that would be executed. @throws {GraphQLError} when `@skip` or `@include` is given null */
  fieldsOf(selectionSet: SelectionSetNode): readonly FieldNode[] {
    const known = this.#fields.get(selectionSet);
    if (known !== undefined) return known;
    const fields: FieldNode[] = [];
    const seen = new Set<string>();
    const open: SelectionNode[] = [...selectionSet.selections];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (!this.#isIncluded(node)) continue;
      switch (node.kind) {
        case Kind.FIELD:
          fields.push(node);
          break;
        case Kind.INLINE_FRAGMENT:
          open.push(...node.selectionSet.selections);
          break;
        case Kind.FRAGMENT_SPREAD:
          if (seen.has(node.name.value)) break;
          seen.add(node.name.value);
          open.push(...(this.#fragments.get(node.name.value)?.selectionSet.selections ?? []));
      }
    }
    this.#fields.set(selectionSet, fields);
    return fields;
  }

  argumentsOf(definition: GraphQLField<unknown, unknown>, field: FieldNode): Arguments {
    let known = this.#arguments.get(field);
    if (known === undefined) {
      known = readArguments(definition, field, this.#variables);
      this.dependOnVariables ||= field.arguments?.some(mayHoldVariable) === true;
      this.#arguments.set(field, known);
    }
    return known;
  }

  /** What a field of a phone number queries; the resolver says why one is `refused`. */
  questionOf(
    field: FieldNode,
    phoneNumber: GraphQLObjectType,
  ): FieldQuestion | 'refused' | undefined {
    const name = field.name.value;
    const definition = phoneNumber.getFields()[name];
    if (definition === undefined || !isQuestionField(name)) return undefined;
    const question = FIELDS[name](this.argumentsOf(definition, field));
    return question.kind === 'parsed' ? question.value : question.kind;
  }

  #isIncluded(node: SelectionNode): boolean {
    if (node.directives === undefined || node.directives.length === 0) return true;
    this.dependOnVariables = true;
    const skip = getDirectiveValues(GraphQLSkipDirective, node, this.#variables);
    const include = getDirectiveValues(GraphQLIncludeDirective, node, this.#variables);
    return skip?.['if'] !== true && include?.['if'] !== false;
  }
}

/** The questions about each number of a list, as the fields below it will have them. */
export function questionsBelow({
  fieldNodes,
  fragments,
  variableValues,
  schema,
}: GraphQLResolveInfo): readonly FieldQuestion[] {
  const phoneNumber = assertObjectType(schema.getType('PhoneNumber'));
  const selections = new Selections(Object.values(fragments), variableValues);
  const questions = new Set<FieldQuestion>();
  for (const node of fieldNodes.flatMap((one) => selections.below(one))) {
    const question = selections.questionOf(node, phoneNumber);
    if (question !== undefined && question !== 'refused') questions.add(question);
  }
  return [...questions];
}
