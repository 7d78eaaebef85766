import {
  GraphQLError,
  Kind,
  type FragmentDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';

/**
 * Refuses operations that nest deeper than `maxDepth`. A selection set inside another is a level,
 * whether a field, an inline fragment or the spread of a named one opens it.
 */
export function maxDepthRule(maxDepth: number): ValidationRule {
  return (context) => {
    const depths = new Depths(context);
    return {
      OperationDefinition(operation) {
        if (depths.of(operation.selectionSet) <= maxDepth) return;
        const message = `An operation may nest ${maxDepth} levels at most, fragments included.`;
        context.reportError(new GraphQLError(message, { nodes: operation }));
      },
    };
  };
}

/** Measures each fragment once, however often it is spread. */
class Depths {
  readonly #context: ValidationContext;
  readonly #known = new Map<string, number>();

  constructor(context: ValidationContext) {
    this.#context = context;
  }

  of({ selections }: SelectionSetNode): number {
    let deepest = 0;
    for (const node of selections) {
      const below =
        node.kind === Kind.FRAGMENT_SPREAD
          ? this.#ofFragment(this.#context.getFragment(node.name.value))
          : node.selectionSet === undefined
            ? 0
            : this.of(node.selectionSet);
      if (below > deepest) deepest = below;
    }
    return 1 + deepest;
  }

  #ofFragment(fragment: FragmentDefinitionNode | null | undefined): number {
    if (fragment === undefined || fragment === null) return 0;
    const name = fragment.name.value;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    // Stands while the fragment is read: one that spreads itself is refused by a rule of GraphQL's own.
    this.#known.set(name, 0);
    const depth = this.of(fragment.selectionSet);
    this.#known.set(name, depth);
    return depth;
  }
}
