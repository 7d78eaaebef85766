/**
 * Every `extensions.code`, with its message for people, which never has a number, a token, a URL or an operator's words.
 * test/errorCodes.test.ts holds docs/errors.md and the schema's descriptions against it.
 */
export const ERRORS = {
  BAD_USER_INPUT: 'The input is not valid.',
  CONSENT_PENDING: 'The owner of the number has not responded yet. Try again later.',
  CONSENT_DENIED: 'The owner of the number did not consent to this check.',
  CONSENT_EXPIRED: 'The owner did not respond in time. Trying again sends a new prompt.',
  NUMBER_NOT_SERVED: 'The operator does not serve this number.',
  PERIOD_NOT_SUPPORTED: 'The operator cannot answer for a period this long.',
  OPERATION_NOT_OFFERED: 'The operator does not offer this check.',
  OPERATOR_RATE_LIMITED: 'Rate-limited by the operator. Try again later.',
  OPERATOR_UNAVAILABLE: 'The operator is not available. Try again later.',
  OPERATOR_TIMEOUT: 'The operator did not answer in time.',
  OPERATOR_REFUSED:
    'The operator refused our request. The team that runs this service has to fix this.',
  OPERATOR_INVALID_REPLY: 'The operator sent a reply that cannot be trusted.',
  FORBIDDEN: 'You can only check your own verified number.',
  RATE_LIMITED: 'Quota exceeded. Try again later.',
  AUDIT_UNAVAILABLE:
    'Not looked up, because the audit log could not be written. The team that runs this service has to fix this.',
  STATE_UNAVAILABLE: 'The store of consents cannot be reached, or is full. Try again later.',
  LOOKUP_LIMIT_EXCEEDED: 'The operation exceeds a limit. Split it into several operations.',
  GRAPHQL_PARSE_FAILED: 'The document is not GraphQL, or is too long.',
  GRAPHQL_VALIDATION_FAILED: 'The document does not match the schema.',
  OPERATION_RESOLUTION_FAILURE: 'The document has no such operation.',
  UNAUTHENTICATED: 'Missing or invalid access token. Send `Authorization: Bearer <token>`.',
  BAD_REQUEST: 'The request is not GraphQL over HTTP.',
  PERSISTED_QUERY_ID_REQUIRED:
    'This service accepts only the ids of trusted documents, not documents.',
  PERSISTED_QUERY_NOT_IN_LIST: 'No trusted document has this id.',
  PERSISTED_QUERY_NOT_SUPPORTED: 'This service accepts documents, not hashes of them.',
  UNAVAILABLE: 'The service cannot answer at the moment. Try again later.',
  INTERNAL_SERVER_ERROR: 'Internal server error',
} as const;

/** The most characters of DOCS_URL, which each error of a reply links to. */
export const MAX_DOCS_URL_CHARACTERS = 100;

/** The messages of RATE_LIMITED, by what was exceeded. */
export const QUOTA_MESSAGES = {
  numbers: 'You have checked as many numbers as you may in an hour. Try again later.',
  lookups: 'You have made as many lookups as you may in an hour. Try again later.',
  prompts:
    'The owner of this number has been prompted as often as allowed in an hour. Try again later.',
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** The code of a defect. */
export const INTERNAL_ERROR = 'INTERNAL_SERVER_ERROR' satisfies ErrorCode;

/** The codes of a single lookup (docs/design.md, "Errors"). */
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

/** docs/design.md, "What a failure closes": its own question, all to the same operation, or all about the number. */
export type FailureReach = 'question' | 'operation' | 'number';

/** A failure as data: a batch of a hundred failures builds no stack traces. */
export interface LookupFailure {
  readonly code: LookupFailureCode;
  readonly reach: FailureReach;
  /** After how many whole seconds a retry can help. */
  readonly retryAfterSeconds?: number;
  /** For RATE_LIMITED: the quota of an hour that was exceeded. */
  readonly quota?: keyof typeof QUOTA_MESSAGES;
  /** For NUMBER_NOT_SERVED: another operator may know the number. Not for callers. */
  readonly isUnknownNumber?: true;
  /** For OPERATOR_REFUSED: with this many numbers refused, our client is at fault: no owner is prompted for a while. */
  readonly barsAfterNumbers?: number;
  /** When a pending consent ends, in milliseconds since 1970. */
  readonly expiresAtMs?: number;
  /** For PERIOD_NOT_SUPPORTED: the longest period that can be answered, where it is known. */
  readonly maxAgeHours?: number;
}

/** The error's code, such as ENOSPC, otherwise its name: a message may quote anything. */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** An error of which the name is all that is read, by {@link errorName}. */
export function namedError(name: string): Error {
  return Object.assign(new Error(), { name });
}
