import type { SimSwapUnknownReason } from '../../generated/graphql.ts';

/** Why something is not known, in words for the person at the desk. */
export interface Reason {
  /** Short, for a cell. */
  readonly name: string;
  /** A sentence: what happened. */
  readonly says: string;
  /** A sentence: what to do. */
  readonly advice: string;
  /** Whether checking again can bring an answer: what a retry checks. */
  readonly mayPass: boolean;
  /** Who failed, where that is not about this number; `null` where nobody is away. */
  readonly away: Away | null;
  /** About this number: an earlier answer no longer applies. */
  readonly isAboutNumber: boolean;
}

/** What can be away: this page's own connection, the service behind it, or the operator. */
export type Away = 'page' | 'service' | 'operator';

const OTHER_WAY = 'Verify the customer in another way; do not rely on an SMS code.';
const LATER = 'Check again later. Until then, do not rely on an SMS code.';

function passing(name: string, says: string): Reason {
  return { name, says, advice: LATER, mayPass: true, away: null, isAboutNumber: false };
}

function outage(away: Away, name: string, says: string): Reason {
  return { ...passing(name, says), away };
}

function lasting(name: string, says: string, advice = OTHER_WAY): Reason {
  return { name, says, advice, mayPass: false, away: null, isAboutNumber: false };
}

function ofNumber(name: string, says: string, advice = OTHER_WAY): Reason {
  return { ...lasting(name, says, advice), isAboutNumber: true };
}

/** Codes of errors that are not also reasons of a check, of a gateway, and of this page. */
type OtherCode =
  | 'BAD_USER_INPUT'
  | 'CANCELLED'
  | 'FORBIDDEN'
  | 'GATEWAY_TIMEOUT'
  | 'INTERNAL_SERVER_ERROR'
  | 'LOOKUP_LIMIT_EXCEEDED'
  | 'NO_ANSWER'
  | 'NO_CONNECTION'
  | 'NOT_ASKED'
  | 'SUBREQUEST_HTTP_ERROR'
  | 'UNAUTHENTICATED'
  | 'UNAVAILABLE';

/** The compiler holds that none of the schema is missing. */
const REASONS: Readonly<Record<SimSwapUnknownReason | OtherCode, Reason>> = {
  AUDIT_UNAVAILABLE: passing(
    'Not logged, so not checked',
    'The audit log could not be written, so nothing was checked.',
  ),
  CONSENT_DENIED: ofNumber('Owner declined', 'The owner declined.'),
  CONSENT_EXPIRED: ofNumber(
    'Owner did not respond',
    'The owner did not respond in time.',
    'Try again only if the customer expects it: it sends a new prompt.',
  ),
  CONSENT_PENDING: ofNumber(
    'Waiting for the owner',
    'The owner has a prompt on their phone.',
    'Keep this open. Checking again will not prompt them twice.',
  ),
  NUMBER_NOT_SERVED: ofNumber('Not served', 'The operator does not serve this number.'),
  OPERATION_NOT_OFFERED: ofNumber('Not offered', 'The operator does not offer this check.'),
  OPERATOR_INVALID_REPLY: lasting(
    'Reply not trusted',
    'The operator’s reply cannot be trusted. The platform team can see this in the log.',
  ),
  OPERATOR_RATE_LIMITED: passing(
    'Rate-limited by operator',
    'The operator is limiting our requests.',
  ),
  OPERATOR_REFUSED: lasting(
    'Refused by operator',
    'The operator refused our request. The platform team can see this in the log.',
  ),
  OPERATOR_TIMEOUT: outage(
    'operator',
    'Operator too slow',
    'The operator did not respond in time.',
  ),
  OPERATOR_UNAVAILABLE: outage('operator', 'Operator unavailable', 'The operator is unavailable.'),
  PERIOD_NOT_SUPPORTED: ofNumber(
    'Window too long',
    'The operator does not answer for a window this long.',
  ),
  RATE_LIMITED: passing('Quota exceeded', 'Your quota for this hour is used up.'),
  STATE_UNAVAILABLE: passing('Service degraded', 'The service cannot reach its shared state.'),

  BAD_USER_INPUT: ofNumber('Not a number', 'The service does not accept this as a phone number.'),
  CANCELLED: passing('Cancelled', 'The check was cancelled before an answer came.'),
  FORBIDDEN: lasting('Not allowed', 'You are not allowed to check this.', 'Ask your lead.'),
  // By these two a gateway says that a service behind it is away.
  GATEWAY_TIMEOUT: outage('service', 'Service too slow', 'The service did not respond in time.'),
  SUBREQUEST_HTTP_ERROR: outage('service', 'Service unavailable', 'The service did not respond.'),
  INTERNAL_SERVER_ERROR: passing('Service failed', 'The service failed to check this number.'),
  LOOKUP_LIMIT_EXCEEDED: lasting('Too many at once', 'The service refused a request this large.'),
  NO_ANSWER: lasting('No answer', 'No answer came.'),
  NO_CONNECTION: outage('page', 'No connection', 'The desk could not be reached.'),
  NOT_ASKED: ofNumber(
    'Not checked',
    'This window was not checked, as it would have sent another prompt.',
    'Check it if the customer expects a prompt.',
  ),
  UNAUTHENTICATED: passing('Signed out', 'Your session had ended.'),
  UNAVAILABLE: outage('service', 'Service unavailable', 'The service did not respond.'),
};

/** Reasons are added in time: one that this page does not know is not known to pass. */
export function reasonOf(code: string): Reason {
  const known: Readonly<Record<string, Reason>> = REASONS;
  return Object.hasOwn(known, code)
    ? (known[code] ?? REASONS.NO_ANSWER)
    : lasting('No answer', `No answer (code: ${code}).`);
}
