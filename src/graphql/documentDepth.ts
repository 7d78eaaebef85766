import {
  GraphQLError,
  Kind,
  type FragmentDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';

/**
 * A hundred aliases with their variables take 1800. Validation compares fields in pairs: the worst document
 * of this size takes a tenth of a second, and one of twice the size four times as long.
 */
const MAX_DOCUMENT_TOKENS = 2000;

/** Comments are no tokens to graphql-js, but each takes as much memory as one. */
const MAX_DOCUMENT_COMMENTS = 500;

/** In UTF-16 code units: a hundred and more for each token. */
const MAX_DOCUMENT_LENGTH = 256 * 1024;

/** How much of a document graphql-js reads before it refuses the rest. */
export const PARSE_LIMITS = {
  maxLexicalTokens: MAX_DOCUMENT_TOKENS,
  maxComments: MAX_DOCUMENT_COMMENTS,
  maxSourceLength: MAX_DOCUMENT_LENGTH,
} as const;

/** Each may quote what it refuses. */
export const MAX_VALIDATION_ERRORS = 20;
export const MAX_VARIABLE_ERRORS = 20;

/** Tools introspect a schema in 18. */
export const MAX_DOCUMENT_DEPTH = 20;

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
    // While the fragment is read: one that spreads itself is refused by a rule of GraphQL's own.
    this.#known.set(name, 0);
    const depth = this.of(fragment.selectionSet);
    this.#known.set(name, depth);
    return depth;
  }
}
