import {
  getArgumentValues,
  getDirectiveValues,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** The arguments of a field by their names. */
export type Arguments = Readonly<Record<string, unknown>>;

/** The fragments of a document, by their names. */
export function fragmentsOf({
  definitions,
}: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  return new Map(
    definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION
        ? [[definition.name.value, definition] as const]
        : [],
    ),
  );
}

/** Reads the selections of one operation, each selection set and each field's arguments once. */
export class Selections {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #variables: Record<string, unknown>;
  readonly #fields = new Map<SelectionSetNode, readonly FieldNode[]>();
  readonly #arguments = new Map<FieldNode, Arguments>();

  /** @param fragments by their names */
  constructor(
    fragments: ReadonlyMap<string, FragmentDefinitionNode>,
    variables: Record<string, unknown>,
  ) {
    this.#fragments = fragments;
    this.#variables = variables;
  }

  /**
   * The fields that would be executed, through fragments; each fragment is read once.
   *
   * @throws {GraphQLError} when `@skip` or `@include` is given null
   */
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

  /** The arguments as the resolver will see them; none where they do not fit. */
  argumentsOf(definition: GraphQLField<unknown, unknown>, field: FieldNode): Arguments {
    let known = this.#arguments.get(field);
    if (known === undefined) {
      known = this.#readArguments(definition, field);
      this.#arguments.set(field, known);
    }
    return known;
  }

  #readArguments(definition: GraphQLField<unknown, unknown>, field: FieldNode): Arguments {
    try {
      return getArgumentValues(definition, field, this.#variables);
    } catch {
      return {};
    }
  }

  #isIncluded(node: SelectionNode): boolean {
    if (node.directives === undefined || node.directives.length === 0) return true;
    const skip = getDirectiveValues(GraphQLSkipDirective, node, this.#variables);
    const include = getDirectiveValues(GraphQLIncludeDirective, node, this.#variables);
    return skip?.['if'] !== true && include?.['if'] !== false;
  }
}
