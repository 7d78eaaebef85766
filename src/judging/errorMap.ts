import type { FailureReach } from '../domain/errors.ts';
import type { ErrorRuleProfile } from '../domain/profile.ts';
import { memberAt, type JsonObject, type MemberPath } from '../wire/json.ts';

/**
 * How an operator words its errors. The first rule that matches counts; without one, the common rules do. Retries and
 * doubts depend on the status only.
 */
export interface ErrorMap {
  /**
   * Where the body names its error, such as `['error', 'errorCode']`; tried in turn, before `code` and `error` themselves.
   * A known word takes precedence.
   */
  readonly wordAt: readonly MemberPath[];
  /** The words of an answer; a 200 with another word, or without one, is not an answer. */
  readonly okWords?: readonly string[];
  readonly rules: readonly ErrorRuleProfile[];
}

export const COMMON_ERRORS: ErrorMap = { wordAt: [], rules: [] };

export interface ErrorWording {
  /**
   * Which member names the error where both are present: CAMARA's `code` at lookups, OAuth's `error` at
   * the authorization server, where some operators add a `code` of their own.
   */
  readonly wordIn: 'code' | 'error';
  readonly errors: ErrorMap;
}

/** All words by which a body may name its error, in order of precedence. Pure. */
export function errorCodesOf(
  body: JsonObject,
  { wordIn, errors }: ErrorWording,
): readonly string[] {
  const { code, error } = body;
  const common = (wordIn === 'code' ? [code, error] : [error, code]).find(isText);
  return [...errors.wordAt.map((path) => textAt(body, path)), common].filter(isText);
}

/** The word that decides: the first that is known, otherwise the first. Pure. */
export function errorCodeOf(body: JsonObject, wording: ErrorWording): string | undefined {
  const words = errorCodesOf(body, wording);
  return words.find((word) => knownTo(wording.errors, word) !== undefined) ?? words[0];
}

export function isNamed(
  body: JsonObject,
  paths: readonly MemberPath[],
  words: ReadonlySet<string>,
): boolean {
  return paths.some((path) => words.has(textAt(body, path) ?? ''));
}

/** The word where it is one of CAMARA's, of OAuth's or of the map's own rules: only those may be logged. Pure. */
export function knownTo({ rules }: ErrorMap, word: string | undefined): string | undefined {
  return knownWord(word) ?? rules.find((rule) => rule.word === word)?.word;
}

export function ruleFor(
  { rules }: ErrorMap,
  status: number,
  word: string | undefined,
): ErrorRuleProfile | undefined {
  return rules.find(
    (rule) => rule.status === status && (rule.word === undefined || rule.word === word),
  );
}

/** The rule's reach, otherwise its code's: a failure of number, owner or operator applies to all questions. Pure. */
export function reachOf({ code, reach }: Pick<ErrorRuleProfile, 'code' | 'reach'>): FailureReach {
  switch (code) {
    case 'NUMBER_NOT_SERVED':
    case 'CONSENT_DENIED':
    case 'CONSENT_EXPIRED':
    case 'OPERATOR_RATE_LIMITED':
    case 'OPERATOR_UNAVAILABLE':
    case 'OPERATOR_TIMEOUT':
      return 'number';
    case 'PERIOD_NOT_SUPPORTED':
    case 'OPERATOR_INVALID_REPLY':
      return reach ?? 'question';
    case 'OPERATION_NOT_OFFERED':
    case 'OPERATOR_REFUSED':
      return reach ?? 'operation';
  }
}

/** Whether the body has the word that marks an answer, where this operator's answers have one. Pure. */
export function saysOk(body: JsonObject, { wordAt, okWords }: ErrorMap): boolean {
  return wordAt.some((path) => okWords?.includes(textAt(body, path) ?? '') === true);
}

function textAt(body: JsonObject, path: MemberPath): string | undefined {
  const value = memberAt(body, path);
  if (typeof value === 'number' && Number.isInteger(value)) return String(value);
  return isText(value) ? value : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Codes of CAMARA, by status: Commonalities, and SIM Swap 0.4 to 2.1. */
const CAMARA_CODES = [
  'INVALID_ARGUMENT FAILED_PRECONDITION OUT_OF_RANGE UNAUTHENTICATED AUTHENTICATION_REQUIRED',
  'PERMISSION_DENIED INVALID_TOKEN_CONTEXT',
  'NOT_FOUND IDENTIFIER_NOT_FOUND SIM_SWAP.UNKNOWN_PHONE_NUMBER METHOD_NOT_ALLOWED NOT_ACCEPTABLE',
  'CONFLICT ALREADY_EXISTS ABORTED INCOMPATIBLE_STATE GONE UNSUPPORTED_MEDIA_TYPE',
  'NOT_SUPPORTED SERVICE_NOT_APPLICABLE UNSUPPORTED_IDENTIFIER UNIDENTIFIABLE_PHONE_NUMBER',
  'MISSING_IDENTIFIER UNNECESSARY_IDENTIFIER TOO_MANY_REQUESTS QUOTA_EXCEEDED',
  'INTERNAL NOT_IMPLEMENTED BAD_GATEWAY UNAVAILABLE TIMEOUT',
] as const;

/** Errors of OAuth and CIBA: RFC 6749 §5.2, RFC 6750 §3.1, RFC 9101 §7, RFC 9449 §12.2, OpenID CIBA Core §11 and §13. */
const OAUTH_ERRORS = [
  'invalid_request invalid_client invalid_grant unauthorized_client unsupported_grant_type',
  'invalid_scope invalid_token insufficient_scope invalid_dpop_proof use_dpop_nonce',
  'invalid_request_object request_not_supported access_denied authorization_pending slow_down',
  'expired_token transaction_failed expired_login_hint_token unknown_user_id missing_user_code',
  'invalid_user_code invalid_binding_message temporarily_unavailable server_error',
] as const;

type WordsOf<Line extends string> = Line extends `${infer First} ${infer Rest}`
  ? First | WordsOf<Rest>
  : Line;

/** A known error word. Other words of an operator are free text and never logged. */
export type OperatorWord = WordsOf<(typeof CAMARA_CODES | typeof OAUTH_ERRORS)[number]>;

const WORDS: ReadonlySet<string> = new Set(
  [...CAMARA_CODES, ...OAUTH_ERRORS].flatMap((line) => line.split(' ')),
);

export function knownWord(word: string | undefined): OperatorWord | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is one of them
  return word !== undefined && WORDS.has(word) ? (word as OperatorWord) : undefined;
}

/** The codes of a 404 about the number: gateways answer a wrong path with 404 as well, in other words. */
export const UNKNOWN_NUMBER_CODES: ReadonlySet<string> = new Set<OperatorWord>([
  'NOT_FOUND',
  'IDENTIFIER_NOT_FOUND',
  'SIM_SWAP.UNKNOWN_PHONE_NUMBER',
]);

/** Words of an operator that has lost the number to another one, or never had it. */
export const MOVED_NUMBER_WORDS: ReadonlySet<string> = new Set<OperatorWord>([
  'IDENTIFIER_NOT_FOUND',
  'SIM_SWAP.UNKNOWN_PHONE_NUMBER',
  'unknown_user_id',
]);

/** The codes of a 422: the operator does not serve this kind of line. */
export const LINE_NOT_SERVED_CODES: ReadonlySet<string> = new Set<OperatorWord>([
  'SERVICE_NOT_APPLICABLE',
  'NOT_SUPPORTED',
]);
