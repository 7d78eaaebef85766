import {
  GraphQLError,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
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
    /** Each fragment is measured once, however often it is spread. */
    const known = new Map<string, number>();
    const depthOf = ({ selections }: SelectionSetNode): number =>
      1 + selections.reduce((deepest, node) => Math.max(deepest, depthBelow(node)), 0);
    const depthBelow = (node: SelectionNode): number => {
      if (node.kind !== Kind.FRAGMENT_SPREAD) {
        return node.selectionSet === undefined ? 0 : depthOf(node.selectionSet);
      }
      const name = node.name.value;
      const fragment = context.getFragment(name);
      const measured = known.get(name);
      if (measured !== undefined || fragment === undefined || fragment === null) {
        return measured ?? 0;
      }
      // While the fragment is read: one that spreads itself is refused by a rule of GraphQL's own.
      known.set(name, 0);
      const depth = depthOf(fragment.selectionSet);
      known.set(name, depth);
      return depth;
    };
    return {
      OperationDefinition(operation) {
        if (depthOf(operation.selectionSet) <= maxDepth) return;
        const message = `An operation may nest ${maxDepth} levels at most, fragments included.`;
        context.reportError(new GraphQLError(message, { nodes: operation }));
      },
    };
  };
}
