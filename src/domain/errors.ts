export interface ErrorDescription {
  /** For people. Never has a number, a token, a URL or an operator's words. */
  readonly message: string;
  /** At a field of a number, over a whole operation, or before GraphQL was reached. */
  readonly places: readonly ('field' | 'operation' | 'request')[];
}

/** Every `extensions.code`; test/errorCodes.test.ts holds docs/errors.md and the schema's descriptions against it. */
export const ERRORS = {
  BAD_USER_INPUT: { message: 'The input is not valid.', places: ['field', 'operation', 'request'] },
  CONSENT_PENDING: {
    message: 'The owner of the number has not responded yet. Try again later.',
    places: ['field'],
  },
  CONSENT_DENIED: {
    message: 'The owner of the number did not consent to this check.',
    places: ['field'],
  },
  CONSENT_EXPIRED: {
    message: 'The owner did not respond in time. Trying again sends a new prompt.',
    places: ['field'],
  },
  NUMBER_NOT_SERVED: { message: 'The operator does not serve this number.', places: ['field'] },
  PERIOD_NOT_SUPPORTED: {
    message: 'The operator cannot answer for a period this long.',
    places: ['field'],
  },
  OPERATION_NOT_OFFERED: { message: 'The operator does not offer this check.', places: ['field'] },
  OPERATOR_RATE_LIMITED: {
    message: 'Rate-limited by the operator. Try again later.',
    places: ['field'],
  },
  OPERATOR_UNAVAILABLE: {
    message: 'The operator is not available. Try again later.',
    places: ['field'],
  },
  OPERATOR_TIMEOUT: { message: 'The operator did not answer in time.', places: ['field'] },
  OPERATOR_REFUSED: {
    message: 'The operator refused our request. The team that runs this service has to fix this.',
    places: ['field'],
  },
  OPERATOR_INVALID_REPLY: {
    message: 'The operator sent a reply that cannot be trusted.',
    places: ['field'],
  },
  FORBIDDEN: {
    message: 'You can only check your own verified number.',
    places: ['field', 'operation', 'request'],
  },
  RATE_LIMITED: { message: 'Quota exceeded. Try again later.', places: ['field'] },
  AUDIT_UNAVAILABLE: {
    message:
      'Not looked up, because the audit log could not be written. The team that runs this service has to fix this.',
    places: ['field'],
  },
  STATE_UNAVAILABLE: {
    message: 'The store of consents cannot be reached, or is full. Try again later.',
    places: ['field'],
  },
  LOOKUP_LIMIT_EXCEEDED: {
    message: 'The operation exceeds a limit. Split it into several operations.',
    places: ['operation'],
  },
  GRAPHQL_PARSE_FAILED: {
    message: 'The document is not GraphQL, or is too long.',
    places: ['operation'],
  },
  GRAPHQL_VALIDATION_FAILED: {
    message: 'The document does not match the schema.',
    places: ['operation'],
  },
  OPERATION_RESOLUTION_FAILURE: {
    message: 'The document has no such operation.',
    places: ['operation'],
  },
  UNAUTHENTICATED: {
    message: 'Missing or invalid access token. Send `Authorization: Bearer <token>`.',
    places: ['request'],
  },
  BAD_REQUEST: { message: 'The request is not GraphQL over HTTP.', places: ['request'] },
  PERSISTED_QUERY_ID_REQUIRED: {
    message: 'This service accepts only the ids of trusted documents, not documents.',
    places: ['request'],
  },
  PERSISTED_QUERY_NOT_IN_LIST: { message: 'No trusted document has this id.', places: ['request'] },
  PERSISTED_QUERY_NOT_SUPPORTED: {
    message: 'This service accepts documents, not hashes of them.',
    places: ['request'],
  },
  UNAVAILABLE: {
    message: 'The service cannot answer at the moment. Try again later.',
    places: ['field', 'request'],
  },
  INTERNAL_SERVER_ERROR: {
    message: 'Internal server error',
    places: ['field', 'operation', 'request'],
  },
} as const satisfies Readonly<Record<string, ErrorDescription>>;

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
