/** Why something is not known, in words for the person at the desk. */
export interface Reason {
  /** Short, for a cell. */
  readonly name: string;
  /** A sentence: what happened. */
  readonly says: string;
  /** A sentence: what to do. */
  readonly advice: string;
  /** Whether asking the same again can bring an answer: what a retry asks. */
  readonly mayPass: boolean;
  /** Speaks for the operator or for the way to it, not for this number. */
  readonly isOutage: boolean;
}

const OTHER_WAY = 'Verify the customer in another way; do not rely on an SMS code.';

function passing(name: string, says: string, isOutage = false): Reason {
  const advice = 'Ask again later. Until then do not rely on an SMS code.';
  return { name, says, advice, mayPass: true, isOutage };
}

function lasting(name: string, says: string, advice = OTHER_WAY): Reason {
  return { name, says, advice, mayPass: false, isOutage: false };
}

const REASONS = new Map<string, Reason>([
  ['CONSENT_DENIED', lasting('Owner declined', 'The owner of the line declined.')],
  [
    'CONSENT_EXPIRED',
    lasting(
      'Owner did not answer',
      'The question on the owner’s phone went unanswered.',
      'Ask again if the customer expects it: that rings the phone anew.',
    ),
  ],
  [
    'NUMBER_NOT_SERVED',
    lasting('Not served', 'The operator does not know this number or does not serve it.'),
  ],
  [
    'PERIOD_NOT_SUPPORTED',
    lasting('Window too long', 'The operator cannot answer for a window this long.'),
  ],
  [
    'OPERATION_NOT_OFFERED',
    lasting('Not offered', 'The operator does not answer this kind of question.'),
  ],
  ['OPERATOR_RATE_LIMITED', passing('Operator slows us', 'The operator asks us to slow down.')],
  ['OPERATOR_UNAVAILABLE', passing('Operator unavailable', 'The operator is not available.', true)],
  ['OPERATOR_TIMEOUT', passing('Operator too slow', 'The operator did not answer in time.', true)],
  [
    'OPERATOR_REFUSED',
    lasting(
      'Refused by operator',
      'The operator refused our request. The platform team has been told by its log.',
    ),
  ],
  [
    'OPERATOR_INVALID_REPLY',
    lasting(
      'Reply not trusted',
      'The operator sent a reply that cannot be trusted. The platform team has been told by its log.',
    ),
  ],
  ['RATE_LIMITED', passing('Quota spent', 'Your quota for this hour is spent.')],
  [
    'AUDIT_UNAVAILABLE',
    passing('Not on record', 'Nothing was asked, as it could not be put on record.'),
  ],
  ['STATE_UNAVAILABLE', passing('Service disturbed', 'The service cannot reach its shared state.')],
  ['UNAVAILABLE', passing('Service unavailable', 'The service did not answer.', true)],
  // By these two a gateway says that a service behind it is away.
  ['SUBREQUEST_HTTP_ERROR', passing('Service unavailable', 'The service did not answer.', true)],
  ['GATEWAY_TIMEOUT', passing('Service too slow', 'The service did not answer in time.', true)],
  ['NO_CONNECTION', passing('No connection', 'The desk could not be reached.', true)],
  ['CANCELLED', passing('Cancelled', 'The asking was cancelled before an answer came.')],
  ['INTERNAL_SERVER_ERROR', passing('Service failed', 'The service failed to answer this.')],
  ['FORBIDDEN', lasting('Not allowed', 'You may not ask this.', 'Ask your lead.')],
  ['UNAUTHENTICATED', passing('Signed out', 'Your session had ended.')],
  ['BAD_USER_INPUT', lasting('Not a number', 'The service does not take this for a number.')],
  [
    'NOT_ASKED',
    lasting(
      'Not asked',
      'This window was not asked, as that would have rung the phone once more.',
      'Ask about it if the customer expects it.',
    ),
  ],
]);

/** Reasons are added in time: one that this page does not know is not known to pass. */
export function reasonOf(code: string): Reason {
  return (
    REASONS.get(code) ?? lasting('No answer', 'There is no answer, for a reason new to this page.')
  );
}
