import type { LookupFailure } from '../../src/domain/errors.ts';
import type {
  Closed,
  ConsentIdentity,
  ConsentRules,
  Expired,
  Failed,
  Granted,
  Pending,
  Redeemed,
  Requested,
} from '../../src/consents/consentRecord.ts';
import { hours } from '../support/values.ts';

/** Now, on the store's clock; all times below count from it. */
export const NOW = 1_000_000;

export const RULES: ConsentRules = {
  doubtMs: 300_000,
  deniedMs: 600_000,
  failureMs: 60_000,
  resultMs: 60_000,
  leaseMs: 11_000,
  firstPoll: 'at-once',
};

export const IDENTITY = {
  id: 'consent-1',
  asker: 'bank',
  operator: 'operator',
  lookup: { operation: 'check', maxAgeHours: hours(240) },
} as const;

export const DENIED: LookupFailure = { code: 'CONSENT_DENIED', reach: 'number' };
export const EXPIRED: LookupFailure = { code: 'CONSENT_EXPIRED', reach: 'number' };
export const REFUSED: LookupFailure = { code: 'OPERATOR_REFUSED', reach: 'number' };

/** An intent that is written at this moment. */
export function intentOf(id: string, nowMs: number): ConsentIdentity & Requested {
  const { leaseMs, doubtMs } = RULES;
  const times = { leaseUntilMs: nowMs + leaseMs, doubtUntilMs: nowMs + doubtMs };
  return { ...IDENTITY, id, state: 'requested', ...times };
}

export function requestedFor(leaseMs: number, doubtMs: number): ConsentIdentity & Requested {
  return {
    ...IDENTITY,
    state: 'requested',
    leaseUntilMs: NOW + leaseMs,
    doubtUntilMs: NOW + doubtMs,
  };
}

export interface PendingTimes {
  readonly nextPollMs?: number;
  readonly redeemableMs?: number;
  readonly livesMs?: number;
  readonly leaseMs?: number;
}

export function pendingFor({
  nextPollMs = 0,
  redeemableMs = 118_000,
  livesMs = 120_000,
  leaseMs,
}: PendingTimes): ConsentIdentity & Pending {
  const pending = {
    ...IDENTITY,
    state: 'pending',
    authReqId: 'request-1',
    intervalMs: 5_000,
    nextPollAtMs: NOW + nextPollMs,
    redeemableUntilMs: NOW + redeemableMs,
    livesUntilMs: NOW + livesMs,
  } as const;
  return leaseMs === undefined ? pending : { ...pending, leaseUntilMs: NOW + leaseMs };
}

export function grantedFor(ms: number, leaseMs?: number): ConsentIdentity & Granted {
  const granted = { ...IDENTITY, state: 'granted', token: 'token-1', untilMs: NOW + ms } as const;
  return leaseMs === undefined ? granted : { ...granted, leaseUntilMs: NOW + leaseMs };
}

export function redeemedFor(leaseMs: number): ConsentIdentity & Redeemed {
  return { ...IDENTITY, state: 'redeemed', leaseUntilMs: NOW + leaseMs };
}

export function closedFor(failure: LookupFailure, ms: number): ConsentIdentity & Closed {
  return { ...IDENTITY, state: 'closed', failure, untilMs: NOW + ms };
}

export function expiredAt(ms: number): Expired {
  const atMs = NOW + ms;
  return { ...IDENTITY, kind: 'expired', isTold: false, atMs, untilMs: atMs + 60_000 };
}

export function failedFor(failure: LookupFailure, ms: number): Failed {
  return { ...IDENTITY, kind: 'failed', failure, atMs: NOW, untilMs: NOW + ms };
}
