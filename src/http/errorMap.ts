import type { FailureReach, LookupFailureCode } from '../errors.ts';

/** What an error of an operator's can be mapped to: what the operator itself may say of a lookup. */
export const MAPPED_CODES = [
  'NUMBER_NOT_SERVED',
  'PERIOD_NOT_SUPPORTED',
  'OPERATION_NOT_OFFERED',
  'CONSENT_DENIED',
  'CONSENT_EXPIRED',
  'OPERATOR_RATE_LIMITED',
  'OPERATOR_UNAVAILABLE',
  'OPERATOR_TIMEOUT',
  'OPERATOR_REFUSED',
  'OPERATOR_INVALID_REPLY',
] as const satisfies readonly LookupFailureCode[];

export type MappedCode = (typeof MAPPED_CODES)[number];

/** What one refusal of an operator means, where it departs from CAMARA's and OAuth's words. */
export interface ErrorRule {
  readonly status: number;
  /** The error that the body names; every one where absent. */
  readonly word?: string;
  readonly code: MappedCode;
  readonly reach: FailureReach;
  /** When asking again can help, unless the reply says so itself. */
  readonly retryAfterSeconds?: number;
}

/** How an operator words its errors. The first rule that fits counts; without one, the common rules do. */
export interface ErrorMap {
  /**
   * Where the body names its error, each as a path of members, such as `['error', 'errorCode']`; tried in
   * turn, before `code` and `error` themselves.
   */
  readonly wordAt: readonly (readonly string[])[];
  readonly rules: readonly ErrorRule[];
}
