/** Why a question has no answer: the codes of design §5 that a single lookup can come to. */
export type LookupFailureCode =
  | 'CONSENT_PENDING'
  | 'CONSENT_DENIED'
  | 'CONSENT_EXPIRED'
  | 'NUMBER_NOT_SERVED'
  | 'PERIOD_NOT_SUPPORTED'
  | 'OPERATION_NOT_OFFERED'
  | 'OPERATOR_RATE_LIMITED'
  | 'OPERATOR_UNAVAILABLE'
  | 'OPERATOR_TIMEOUT'
  | 'OPERATOR_REFUSED'
  | 'OPERATOR_INVALID_REPLY'
  | 'RATE_LIMITED'
  | 'AUDIT_UNAVAILABLE';

/** Every code that a GraphQL error of ours carries in `extensions.code`. */
export type ErrorCode =
  'BAD_USER_INPUT' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'LOOKUP_LIMIT_EXCEEDED' | LookupFailureCode;

/** One message a code, for people; it never holds a number, a token, a URL or an operator's words. */
export const MESSAGES: Readonly<Record<LookupFailureCode, string>> = {
  CONSENT_PENDING: 'The owner of the number has not answered yet. Ask again later.',
  CONSENT_DENIED: 'The owner of the number did not consent to this question.',
  CONSENT_EXPIRED:
    'The question to the owner of the number went unanswered. Asking again prompts anew.',
  NUMBER_NOT_SERVED: 'The operator does not serve this number.',
  PERIOD_NOT_SUPPORTED: 'The operator cannot answer for a period this long.',
  OPERATION_NOT_OFFERED: 'The operator does not offer what this question needs.',
  OPERATOR_RATE_LIMITED: 'The operator asks us to slow down. Ask again later.',
  OPERATOR_UNAVAILABLE: 'The operator is not available. Ask again later.',
  OPERATOR_TIMEOUT: 'The operator did not answer in time.',
  OPERATOR_REFUSED: 'The operator refused our request. The team that runs this service has to act.',
  OPERATOR_INVALID_REPLY: 'The operator sent a reply that cannot be trusted.',
  RATE_LIMITED: 'You have asked as much as you may for now. Ask again later.',
  AUDIT_UNAVAILABLE:
    'Nothing was asked, as it could not be put on record. The team that runs this service has to act.',
};

/**
 * How far a failure speaks (design §3, rule 7): for its own question, for every question to the same
 * operation, or for all that is open about the number.
 */
export type FailureReach = 'question' | 'operation' | 'number';

/** A question that came to no answer, as data: a batch of a hundred failures builds no stack traces. */
export interface LookupFailure {
  readonly code: LookupFailureCode;
  readonly reach: FailureReach;
  /** When asking again can help, in whole seconds. */
  readonly retryAfterSeconds?: number;
  /** Of RATE_LIMITED: what there was too much of in an hour. */
  readonly quota?: 'numbers' | 'lookups' | 'prompts';
  /** When a pending consent ends, milliseconds since 1970. */
  readonly expiresAtMs?: number;
}

/** The caller may not ask about this number. Says the same of numbers that exist and that do not. */
export class Forbidden extends Error {
  override readonly name = 'Forbidden';
  readonly code = 'FORBIDDEN' satisfies ErrorCode;

  constructor() {
    super('You may ask about your own, verified number alone.');
  }
}

/** A {@link LookupFailure} on its way up through the loader's promise. */
export class LookupError extends Error {
  override readonly name = 'LookupError';
  readonly failure: LookupFailure;

  constructor(failure: LookupFailure) {
    super(MESSAGES[failure.code]);
    this.failure = failure;
  }
}
