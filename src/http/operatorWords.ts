/** An operator's error word that is known here. Words of its own are never logged, for they are free text. */
export type OperatorWord = (typeof CAMARA_CODES)[number] | (typeof OAUTH_ERRORS)[number];

/** Codes of CAMARA: Commonalities, and SIM Swap 0.4 to 2.1. */
const CAMARA_CODES = [
  'INVALID_ARGUMENT',
  'FAILED_PRECONDITION',
  'OUT_OF_RANGE',
  'UNAUTHENTICATED',
  'AUTHENTICATION_REQUIRED',
  'PERMISSION_DENIED',
  'INVALID_TOKEN_CONTEXT',
  'NOT_FOUND',
  'IDENTIFIER_NOT_FOUND',
  'SIM_SWAP.UNKNOWN_PHONE_NUMBER',
  'METHOD_NOT_ALLOWED',
  'NOT_ACCEPTABLE',
  'CONFLICT',
  'ALREADY_EXISTS',
  'ABORTED',
  'INCOMPATIBLE_STATE',
  'GONE',
  'UNSUPPORTED_MEDIA_TYPE',
  'NOT_SUPPORTED',
  'SERVICE_NOT_APPLICABLE',
  'UNSUPPORTED_IDENTIFIER',
  'UNIDENTIFIABLE_PHONE_NUMBER',
  'MISSING_IDENTIFIER',
  'UNNECESSARY_IDENTIFIER',
  'TOO_MANY_REQUESTS',
  'QUOTA_EXCEEDED',
  'INTERNAL',
  'NOT_IMPLEMENTED',
  'BAD_GATEWAY',
  'UNAVAILABLE',
  'TIMEOUT',
] as const;

/** Errors of OAuth and CIBA: RFC 6749 §5.2, RFC 6750 §3.1, RFC 9101 §7, RFC 9449 §12.2, OpenID CIBA Core §11 and §13. */
const OAUTH_ERRORS = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_token',
  'insufficient_scope',
  'invalid_dpop_proof',
  'use_dpop_nonce',
  'invalid_request_object',
  'request_not_supported',
  'access_denied',
  'authorization_pending',
  'slow_down',
  'expired_token',
  'transaction_failed',
  'expired_login_hint_token',
  'unknown_user_id',
  'missing_user_code',
  'invalid_user_code',
  'invalid_binding_message',
  'temporarily_unavailable',
  'server_error',
] as const;

const WORDS: ReadonlySet<string> = new Set<OperatorWord>([...CAMARA_CODES, ...OAUTH_ERRORS]);

/** The word where it is one of those listed here. */
export function knownWord(word: string | undefined): OperatorWord | undefined {
  return isKnown(word) ? word : undefined;
}

function isKnown(word: string | undefined): word is OperatorWord {
  return word !== undefined && WORDS.has(word);
}

/**
 * The codes of a 404 that say: the operator does not know this number. Gateways and frameworks answer a
 * wrong path with 404 as well, and with words of their own.
 */
export const UNKNOWN_NUMBER_CODES: ReadonlySet<string> = new Set<OperatorWord>([
  'NOT_FOUND',
  'IDENTIFIER_NOT_FOUND',
  'SIM_SWAP.UNKNOWN_PHONE_NUMBER',
]);

/** What an operator says that has lost a number to another one, or never had it. */
export const MOVED_NUMBER_WORDS: ReadonlySet<string> = new Set<OperatorWord>([
  'IDENTIFIER_NOT_FOUND',
  'SIM_SWAP.UNKNOWN_PHONE_NUMBER',
  'unknown_user_id',
]);

/** The codes of a 422 that say: the operator does not offer this for this kind of line. */
export const LINE_NOT_SERVED_CODES: ReadonlySet<string> = new Set<OperatorWord>([
  'SERVICE_NOT_APPLICABLE',
  'NOT_SUPPORTED',
]);
