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
