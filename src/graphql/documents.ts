import {
  GraphQLError,
  isExecutableDefinitionNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationRule,
  type DocumentNode,
} from 'graphql';

/** How much of a document graphql-js reads before it refuses the rest. */
export const PARSE_LIMITS = {
  /**
   * A hundred aliases with their variables take 1800. Validation compares fields in pairs: the worst document of this
   * size takes a tenth of a second, and one of twice the size four times as long.
   */
  maxLexicalTokens: 2000,
  /** graphql-js does not count comments as tokens, but each takes as much memory as one. */
  maxComments: 500,
  /** In UTF-16 code units: more than a hundred for each token. */
  maxSourceLength: 256 * 1024,
} as const;

/** Each error names its line, for which graphql-js counts all lines before it, at 50 ns a line. */
export const MAX_LINES = 10_000;
/** The lines that all errors of an operation may count. */
export const MAX_LINES_COUNTED = 250_000;

export function linesOf(text: string): number {
  return 1 + (text.match(/\r\n|[\n\r]/g)?.length ?? 0);
}

/** The most errors, since each may quote what it refuses. */
export const MAX_VALIDATION_ERRORS = 20;
export const MAX_VARIABLE_ERRORS = 20;

/** Tools introspect a schema with a depth of 18. */
const MAX_DEPTH = 20;

/** A rule of graphql-js compares fragments in nested pairs: a cycle of 200 overflows its stack. */
const FAR_TOO_DEEP = 50;

/** Refuses operations that nest too deeply. Each selection set is a level: of a field, inline fragment or spread. */
export const depthRule: ValidationRule = (context) => {
  /** Each fragment is measured once, however often it is spread. */
  const known = new Map<string, number>();
  const depthOf = ({ selections }: SelectionSetNode): number => {
    let below = 0;
    for (const node of selections) below = Math.max(below, depthBelow(node));
    return 1 + below;
  };
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
    // While the fragment is read: one that spreads itself is refused by one of GraphQL's rules.
    known.set(name, 0);
    const depth = depthOf(fragment.selectionSet);
    known.set(name, depth);
    return depth;
  };
  return {
    Document({ definitions }) {
      for (const definition of definitions) {
        if (!isExecutableDefinitionNode(definition)) continue;
        const depth = depthOf(definition.selectionSet);
        const max = definition.kind === Kind.OPERATION_DEFINITION ? MAX_DEPTH : FAR_TOO_DEEP;
        if (depth <= max) continue;
        const message = `An operation may nest ${MAX_DEPTH} levels at most, fragments included.`;
        // One error more than it keeps ends graphql-js's validation.
        const errors = depth > FAR_TOO_DEEP ? MAX_VALIDATION_ERRORS + 1 : 1;
        for (let reported = 0; reported < errors; reported += 1) {
          context.reportError(new GraphQLError(message, { nodes: definition }));
        }
      }
    },
  };
};

const BY_SCHEMA: ReadonlySet<string> = new Set(['__schema', '__type', '_service']);

/**
 * Refuses aliases in what the schema answers by itself, its root fields included: without them an operation has each of
 * these once, and its longest reply is known, and weighed as such (replyBytes.ts). graphql-js limits how deeply its
 * lists nest.
 */
export const schemaAliasRule: ValidationRule = (context) => ({
  Field(field) {
    const parent = context.getParentType()?.name ?? '';
    const isBySchema = /^__|^_Service$/.test(parent) || BY_SCHEMA.has(field.name.value);
    if (field.alias === undefined || !isBySchema) return;
    const message = 'Introspection takes no aliases: query each field by its own name.';
    context.reportError(new GraphQLError(message, { nodes: field }));
  },
});

/** A field with only a name takes 510 bytes with its token, its locations and its empty lists. */
const MAX_BYTES_PER_TOKEN = 640;

/** Entry and node of a document, in addition to its tokens. */
const DOCUMENT_BYTES = 1024;

/**
 * The memory of a parsed document, with its source and comments, and of its key, which has the source as well. Apollo
 * Server would weigh it as JSON, without any of these. Names are parts of the source, which lives as long as one of them
 * does.
 */
export function documentBytes({ loc }: DocumentNode): number {
  if (loc === undefined) throw new Error('A document that is stored must have its locations.');
  let tokens = 0;
  for (let token = loc.startToken.next; token !== null; token = token.next) tokens += 1;
  return DOCUMENT_BYTES + 4 * loc.source.body.length + tokens * MAX_BYTES_PER_TOKEN;
}
