import { againAtMs, endsAtMs, isAlive, secondsUntil, type ConsentRecord } from './consentRecord.ts';
import type { Snapshot } from './consentStore.ts';

/** How the consent about a number stands, for whoever asks; it starts nothing. */
export interface ConsentStatus {
  readonly state: 'NOT_NEEDED' | 'NOT_ASKED' | 'PENDING' | 'DENIED' | 'EXPIRED';
  /** When asking can bring something new, in whole seconds. */
  readonly retryAfterSeconds?: number;
  /** When a pending consent ends, milliseconds since 1970. */
  readonly expiresAtMs?: number;
}

/**
 * Tells a caller how the consent about a number stands. Of another caller's it shows no more than that
 * it is in the way; a denial counts for everybody. Pure.
 *
 * @param wallNowMs the moment of the snapshot, in milliseconds since 1970
 */
export function consentStatus(
  { record, nowMs, doubtUntilMs = 0 }: Snapshot,
  caller: string,
  wallNowMs: number,
): ConsentStatus {
  if (record === undefined) {
    return doubtUntilMs > nowMs
      ? { state: 'PENDING', retryAfterSeconds: secondsUntil(doubtUntilMs, nowMs) }
      : { state: 'NOT_ASKED' };
  }
  const isOwn = record.caller === caller;
  if (!isAlive(record, nowMs)) {
    return { state: isOwn && record.state !== 'ended' ? 'EXPIRED' : 'NOT_ASKED' };
  }
  if (record.state === 'ended' && record.failure.code === 'CONSENT_DENIED') {
    return { state: 'DENIED', retryAfterSeconds: secondsUntil(record.untilMs, nowMs) };
  }
  if (!isOwn) return { state: 'PENDING' };
  if (record.state === 'ended') return endedStatus(record, nowMs);
  return {
    state: 'PENDING',
    retryAfterSeconds: secondsUntil(againAtMs(record, nowMs), nowMs),
    expiresAtMs: wallNowMs + (endsAtMs(record) - nowMs),
  };
}

/** An expiry may be followed by a new prompt at once; whatever else ended it stands for a while. */
function endedStatus(
  { failure, untilMs }: Extract<ConsentRecord, { state: 'ended' }>,
  nowMs: number,
): ConsentStatus {
  return failure.code === 'CONSENT_EXPIRED'
    ? { state: 'EXPIRED' }
    : { state: 'EXPIRED', retryAfterSeconds: secondsUntil(untilMs, nowMs) };
}
