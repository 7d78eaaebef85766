/** Where a code stands: at a field of a number, over a whole operation, or before GraphQL was reached. */
export type ErrorPlace = 'field' | 'operation' | 'request';

/** Who can do something about an error: the team of the client, or the one that runs this service. */
export type ErrorAudience = 'client' | 'platform';

export interface ErrorDescription {
  /** For people. It never holds a number, a token, a URL or an operator's words. */
  readonly message: string;
  /** What to do, as docs/errors.md has it. */
  readonly remedy: string;
  readonly audience: ErrorAudience;
  readonly places: readonly [ErrorPlace, ...ErrorPlace[]];
}

/**
 * Every code that a reply can carry in `extensions.code`. docs/errors.md, the schema's descriptions and
 * docs/adopting.md are held against it (`test/errorCodes.test.ts`).
 */
export const ERRORS = {
  BAD_USER_INPUT: {
    message: 'The input is not valid.',
    remedy: 'have the number entered again, or fix the query: the message says what is wrong',
    audience: 'client',
    places: ['field', 'operation', 'request'],
  },
  CONSENT_PENDING: {
    message: 'The owner of the number has not responded yet. Try again later.',
    remedy: 'show that you are waiting; retry after `retryAfterSeconds`, until `expiresAt`',
    audience: 'client',
    places: ['field'],
  },
  CONSENT_DENIED: {
    message: 'The owner of the number did not consent to this check.',
    remedy: 'use another way to authenticate; do not retry at once',
    audience: 'client',
    places: ['field'],
  },
  CONSENT_EXPIRED: {
    message: 'The owner did not respond in time. Trying again sends a new prompt.',
    remedy: 'offer to try again: it sends a new prompt',
    audience: 'client',
    places: ['field'],
  },
  NUMBER_NOT_SERVED: {
    message: 'The operator does not serve this number.',
    remedy: 'use another way to authenticate',
    audience: 'client',
    places: ['field'],
  },
  PERIOD_NOT_SUPPORTED: {
    message: 'The operator cannot answer for a period this long.',
    remedy: 'query fewer hours: `maxAgeHours` says how many, where known',
    audience: 'client',
    places: ['field'],
  },
  OPERATION_NOT_OFFERED: {
    message: 'The operator does not offer this check.',
    remedy: 'query the other field',
    audience: 'client',
    places: ['field'],
  },
  OPERATOR_RATE_LIMITED: {
    message: 'Rate-limited by the operator. Try again later.',
    remedy: 'retry after `retryAfterSeconds`; do not trust an SMS code until then',
    audience: 'client',
    places: ['field'],
  },
  OPERATOR_UNAVAILABLE: {
    message: 'The operator is not available. Try again later.',
    remedy: 'retry after `retryAfterSeconds`, if given; do not trust an SMS code until then',
    audience: 'client',
    places: ['field'],
  },
  OPERATOR_TIMEOUT: {
    message: 'The operator did not answer in time.',
    remedy: 'retry later; do not trust an SMS code until then',
    audience: 'client',
    places: ['field'],
  },
  OPERATOR_REFUSED: {
    message: 'The operator refused our request. The team that runs this service has to fix this.',
    remedy: 'do not trust an SMS code; the log names the cause',
    audience: 'platform',
    places: ['field'],
  },
  OPERATOR_INVALID_REPLY: {
    message: 'The operator sent a reply that cannot be trusted.',
    remedy: 'do not trust an SMS code; the log names the cause',
    audience: 'platform',
    places: ['field'],
  },
  FORBIDDEN: {
    message: 'You can only check your own verified number.',
    remedy:
      'query that number, one an operation; or get a token with `sim-swap:read`, or the scope that the message names',
    audience: 'client',
    places: ['field', 'operation', 'request'],
  },
  RATE_LIMITED: {
    message: 'Quota exceeded. Try again later.',
    remedy: 'retry after `retryAfterSeconds`; `quota` says which quota it was',
    audience: 'client',
    places: ['field'],
  },
  AUDIT_UNAVAILABLE: {
    message:
      'Not looked up, because the audit log could not be written. The team that runs this service has to fix this.',
    remedy: 'do not trust an SMS code; make the audit log writable',
    audience: 'platform',
    places: ['field'],
  },
  STATE_UNAVAILABLE: {
    message: 'The store of consents cannot be reached, or is full. Try again later.',
    remedy:
      'retry after `retryAfterSeconds`; check that the Redis of `REDIS_URL` can be reached and has memory left',
    audience: 'platform',
    places: ['field'],
  },
  LOOKUP_LIMIT_EXCEEDED: {
    message: 'The operation exceeds a limit. Split it into several operations.',
    remedy:
      'query less at once: `extensions` has `limited`, `limit` and `asked`; nothing was looked up',
    audience: 'client',
    places: ['operation'],
  },
  GRAPHQL_PARSE_FAILED: {
    message: 'The document is not GraphQL, or is too long.',
    remedy: 'fix the document: the message says where',
    audience: 'client',
    places: ['operation'],
  },
  GRAPHQL_VALIDATION_FAILED: {
    message: 'The document does not match the schema.',
    remedy: 'fix the document: the message says where',
    audience: 'client',
    places: ['operation'],
  },
  OPERATION_RESOLUTION_FAILURE: {
    message: 'The document has no such operation.',
    remedy: 'send the `operationName` of an operation in the document',
    audience: 'client',
    places: ['operation'],
  },
  UNAUTHENTICATED: {
    message: 'Missing or invalid access token. Send `Authorization: Bearer <token>`.',
    remedy: 'get a token for this service, or a new one, and send it',
    audience: 'client',
    places: ['request'],
  },
  BAD_REQUEST: {
    message: 'The request is not GraphQL over HTTP.',
    remedy: 'fix the request: the message says what to send',
    audience: 'client',
    places: ['request'],
  },
  PERSISTED_QUERY_ID_REQUIRED: {
    message: 'This service accepts only the ids of trusted documents, not documents.',
    remedy: 'send `documentId` instead of `query`',
    audience: 'client',
    places: ['request'],
  },
  PERSISTED_QUERY_NOT_IN_LIST: {
    message: 'No trusted document has this id.',
    remedy: 'start the service with the manifest of this version of the client',
    audience: 'platform',
    places: ['request'],
  },
  PERSISTED_QUERY_NOT_SUPPORTED: {
    message: 'This service accepts documents, not hashes of them.',
    remedy: 'send `query`; automatic persisted queries are off here',
    audience: 'client',
    places: ['request'],
  },
  UNAVAILABLE: {
    message: 'The service cannot answer at the moment. Try again later.',
    remedy: 'retry, after the seconds in `retry-after` or `retryAfterSeconds` where given',
    audience: 'platform',
    places: ['field', 'request'],
  },
  INTERNAL_SERVER_ERROR: {
    message: 'Internal server error',
    remedy: 'do not trust an SMS code; report it: it is a defect, and the log names it',
    audience: 'platform',
    places: ['field', 'operation', 'request'],
  },
} as const satisfies Readonly<Record<string, ErrorDescription>>;

/** What DOCS_URL may have: each error of a reply links below it. */
export const MAX_DOCS_URL_CHARACTERS = 100;

/** The message of RATE_LIMITED, for what there was too much of. */
export const QUOTA_MESSAGES = {
  numbers: 'You have checked as many numbers as you may in an hour. Try again later.',
  lookups: 'You have made as many lookups as you may in an hour. Try again later.',
  prompts:
    'The owner of this number has been prompted as often as allowed in an hour. Try again later.',
} as const;

/** Every code that a GraphQL error of ours carries in `extensions.code`. */
export type ErrorCode = keyof typeof ERRORS;

/** The code of a defect. */
export const INTERNAL_ERROR = 'INTERNAL_SERVER_ERROR' satisfies ErrorCode;

/** Why a question has no answer: the codes that a single lookup can come to (docs/design.md, "Errors"). */
export type LookupFailureCode = Extract<
  ErrorCode,
  | `CONSENT_${string}`
  | `OPERATOR_${string}`
  | 'NUMBER_NOT_SERVED'
  | 'PERIOD_NOT_SUPPORTED'
  | 'OPERATION_NOT_OFFERED'
  | 'RATE_LIMITED'
  | 'AUDIT_UNAVAILABLE'
  | 'STATE_UNAVAILABLE'
  | 'UNAVAILABLE'
>;

/**
 * What a failure closes (docs/design.md, "What a failure closes"): for its own question, for every
 * question to the same operation, or for all that is open about the number.
 */
export type FailureReach = 'question' | 'operation' | 'number';

/** A question that came to no answer, as data: a batch of a hundred failures builds no stack traces. */
export interface LookupFailure {
  readonly code: LookupFailureCode;
  readonly reach: FailureReach;
  /** When asking again can help, in whole seconds. */
  readonly retryAfterSeconds?: number;
  /** Of RATE_LIMITED: what there was too much of in an hour. */
  readonly quota?: keyof typeof QUOTA_MESSAGES;
  /** Of NUMBER_NOT_SERVED: the operator does not know the number, so that another one may. For us alone. */
  readonly isUnknownNumber?: true;
  /**
   * Of OPERATOR_REFUSED: once so many numbers are refused, it is we who are, and no owner is prompted for a while.
   * Absent where it is about the one number or question. For us alone.
   */
  readonly barsAfterNumbers?: number;
  /** When a pending consent ends, milliseconds since 1970. */
  readonly expiresAtMs?: number;
  /** The longest period that can be answered, where this one is not supported and that is known. */
  readonly maxAgeHours?: number;
}

/** What may be told of an error: its code, such as ENOSPC, or else its name. A message may quote anything. */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
