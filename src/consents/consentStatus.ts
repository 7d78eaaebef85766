import type { ConsentStatus } from '../domain/consentStatus.ts';
import { countsAt, type ConsentEnd } from './consentRecord.ts';
import {
  ANOTHERS_PENDING,
  pendingFailure,
  secondsUntil,
  type PromptView,
  type ConsentView,
} from './consentView.ts';

/**
 * Tells a caller how the consent about a number stands. Another caller's consent or denial shows as
 * pending, without its times. Pure.
 *
 * @param operator the identity of the one that would be asked now
 * @param wallNowMs the same moment as `nowMs`, in milliseconds since 1970
 */
export function consentStatus(
  view: ConsentView,
  operator: string,
  nowMs: number,
  wallNowMs: number,
): ConsentStatus {
  const { prompt } = view;
  switch (prompt.state) {
    case 'free':
      return freeStatus(view, operator, nowMs);
    case 'closed':
      return closedStatus(prompt, nowMs);
    case 'anothers':
    case 'forgotten':
    case 'under-way':
    case 'in-doubt':
    case 'due':
    case 'waiting':
      return pendingStatus(pendingFailure(prompt, nowMs, wallNowMs));
  }
}

/** The owner may be prompted, but for what a failed lookup speaks for. */
function freeStatus({ ends, barred }: ConsentView, operator: string, nowMs: number): ConsentStatus {
  if (ends.some((end) => end.kind === 'expired' && !end.isTold)) return { state: 'EXPIRED' };
  const closesNumber = (end: ConsentEnd): boolean =>
    end.kind === 'failed' && end.failure.reach === 'number' && countsAt(end, operator);
  const failed = ends.find(closesNumber);
  if (failed !== undefined) {
    return { state: 'NOT_ASKED', retryAfterSeconds: secondsUntil(failed.untilMs, nowMs) };
  }
  return barred.some(closesNumber) ? pendingStatus(ANOTHERS_PENDING) : { state: 'NOT_ASKED' };
}

/** A denial, or the operator's refusal to go on with a consent or to start one. */
function closedStatus(
  prompt: Extract<PromptView, { state: 'closed' }>,
  nowMs: number,
): ConsentStatus {
  const retryAfterSeconds = secondsUntil(prompt.untilMs, nowMs);
  switch (prompt.failure.code) {
    case 'CONSENT_DENIED':
      return { state: 'DENIED', retryAfterSeconds };
    case 'OPERATOR_RATE_LIMITED':
      return { state: 'NOT_ASKED', retryAfterSeconds };
    default:
      return { state: 'EXPIRED', retryAfterSeconds };
  }
}

function pendingStatus({
  retryAfterSeconds,
  expiresAtMs,
}: Pick<ConsentStatus, 'retryAfterSeconds' | 'expiresAtMs'>): ConsentStatus {
  return {
    state: 'PENDING',
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  };
}
