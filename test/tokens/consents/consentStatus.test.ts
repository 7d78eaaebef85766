import { describe, expect, it } from 'vitest';
import type { LookupFailureCode } from '../../../src/errors.ts';
import {
  acknowledged,
  ended,
  redeemed,
  requested,
  type ConsentRecord,
  type ConsentRules,
} from '../../../src/tokens/consents/consentRecord.ts';
import { consentStatus, type ConsentStatus } from '../../../src/tokens/consents/consentStatus.ts';
import { START_MS } from '../../testClock.ts';

const RULES: ConsentRules = {
  doubtMs: 300_000,
  deniedMs: 600_000,
  resultMs: 60_000,
  leaseMs: 10_000,
  firstPoll: 'after-interval',
};
const SENT_MS = 5000;
const ONE = { id: 'one', caller: 'anna', lookup: { operation: 'retrieve-date' } } as const;
const ACKNOWLEDGED = { authReqId: 'id', expiresInSeconds: 120, intervalSeconds: 2 };

const REQUESTED = requested(ONE, SENT_MS, RULES);
const PENDING = acknowledged(ONE, ACKNOWLEDGED, SENT_MS, SENT_MS, RULES);

function endedBy(code: LookupFailureCode): ConsentRecord {
  return ended(PENDING, { code, reach: 'number' }, SENT_MS, RULES);
}

function asked(retryAfterSeconds: number, lifeMs: number): ConsentStatus {
  return { state: 'PENDING', retryAfterSeconds, expiresAtMs: START_MS + lifeMs };
}

describe('how a consent stands', () => {
  type Case = readonly [
    name: string,
    record: ConsentRecord | undefined,
    afterMs: number,
    own: ConsentStatus,
    others: ConsentStatus['state'],
  ];
  it.each<Case>([
    ['nobody was asked', undefined, 0, { state: 'NOT_ASKED' }, 'NOT_ASKED'],
    ['the request is on the wire', REQUESTED, 0, asked(10, 300_000), 'PENDING'],
    ['its reply was lost', REQUESTED, 20_000, asked(280, 280_000), 'PENDING'],
    ['the doubt is over', REQUESTED, 300_000, { state: 'EXPIRED' }, 'NOT_ASKED'],
    ['the owner has been asked', PENDING, 0, asked(2, 120_000), 'PENDING'],
    ['the next poll is due', PENDING, 3000, asked(1, 117_000), 'PENDING'],
    ['the owner never answered', PENDING, 120_000, { state: 'EXPIRED' }, 'NOT_ASKED'],
    ['the token has come', redeemed(ONE, SENT_MS, RULES), 0, asked(10, 10_000), 'PENDING'],
    [
      'the owner declined',
      endedBy('CONSENT_DENIED'),
      1000,
      { state: 'DENIED', retryAfterSeconds: 599 },
      'DENIED',
    ],
    ['the denial is old', endedBy('CONSENT_DENIED'), 600_000, { state: 'NOT_ASKED' }, 'NOT_ASKED'],
    ['it expired', endedBy('CONSENT_EXPIRED'), 0, { state: 'EXPIRED' }, 'PENDING'],
    [
      'the operator refused to go on',
      endedBy('OPERATOR_REFUSED'),
      0,
      { state: 'EXPIRED', retryAfterSeconds: 120 },
      'PENDING',
    ],
  ])('when %s', (_name, record, afterMs, own, others) => {
    const snapshot = { record, version: 1, nowMs: SENT_MS + afterMs };
    expect(consentStatus(snapshot, 'anna', START_MS)).toEqual(own);
    const { retryAfterSeconds } = own;
    expect(consentStatus(snapshot, 'bert', START_MS)).toEqual(
      others === 'DENIED' ? { state: others, retryAfterSeconds } : { state: others },
    );
  });

  it('is pending while the store may have lost it', () => {
    const snapshot = { record: undefined, version: 1, nowMs: SENT_MS };
    expect(consentStatus({ ...snapshot, doubtUntilMs: SENT_MS + 7000 }, 'anna', 0)).toEqual({
      state: 'PENDING',
      retryAfterSeconds: 7,
    });
    expect(consentStatus({ ...snapshot, doubtUntilMs: SENT_MS }, 'anna', 0)).toEqual({
      state: 'NOT_ASKED',
    });
  });
});
