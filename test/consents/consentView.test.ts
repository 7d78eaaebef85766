import { describe, expect, it } from 'vitest';
import type { LookupFailure } from '../../src/domain/errors.ts';
import type { Consent, ConsentRecord } from '../../src/consents/consentRecord.ts';
import { consentStatus } from '../../src/consents/consentStatus.ts';
import type { ConsentStatus } from '../../src/domain/consentStatus.ts';
import {
  nextStep,
  pendingFailure,
  consentViewOf,
  type NextStep,
} from '../../src/consents/consentView.ts';
import { START_MS } from '../testClock.ts';
import {
  closedFor,
  DENIED,
  expiredAt,
  failedFor,
  IDENTITY,
  NOW,
  pendingFor,
  redeemedFor,
  REFUSED,
  requestedFor,
} from './records.ts';

const RULES = { resultMs: 60_000 };

function viewOf(record: ConsentRecord | undefined, callerKey: string, doubtUntilMs?: number) {
  const doubt = doubtUntilMs === undefined ? {} : { doubtUntilMs };
  const recorded = { record, nowMs: NOW, refusedUntilMs: {}, ...doubt };
  return consentViewOf(recorded, callerKey, RULES, (operator) => operator === IDENTITY.operator);
}

function living(consent: Consent): ConsentRecord {
  return { consent, ends: [] };
}

const REQUEST = { step: 'request' } as const;
const PENDING = { step: 'answer-pending' } as const;
const wait = (ms: number) => ({ step: 'wait', untilMs: NOW + ms }) as const;
const poll = (pending: ReturnType<typeof pendingFor>) => ({ step: 'poll', pending }) as const;
const fail = (failure: LookupFailure) => ({ step: 'fail', failure }) as const;

/** What asking again in so many seconds can bring, and when the consent ends. */
function pendingWith(retryAfterSeconds: number, lifeMs?: number): ConsentStatus {
  return {
    state: 'PENDING',
    retryAfterSeconds,
    ...(lifeMs === undefined ? {} : { expiresAtMs: START_MS + lifeMs }),
  };
}

const NOT_ASKED: ConsentStatus = { state: 'NOT_ASKED' };
const ANOTHERS = pendingWith(60);

/** Of one record: the next step, and how it stands as data. */
type Case = readonly [
  name: string,
  record: ConsentRecord | undefined,
  own: readonly [NextStep, ConsentStatus],
  others: readonly [NextStep, ConsentStatus],
];

const FREE = [REQUEST, NOT_ASKED] as const;
const IN_THE_WAY = [PENDING, ANOTHERS] as const;

const CASES: readonly Case[] = [
  ['nothing', undefined, FREE, FREE],
  [
    'a request that is on the wire',
    living(requestedFor(11_000, 300_000)),
    [wait(250), pendingWith(1, 300_000)],
    IN_THE_WAY,
  ],
  [
    'a request whose lease is nearly over',
    living(requestedFor(100, 300_000)),
    [wait(100), pendingWith(1, 300_000)],
    IN_THE_WAY,
  ],
  [
    'a request whose reply was lost',
    living(requestedFor(0, 300_000)),
    [PENDING, pendingWith(300, 300_000)],
    IN_THE_WAY,
  ],
  [
    'the last moment of its doubt',
    living(requestedFor(-1, 1)),
    [PENDING, pendingWith(1, 1)],
    IN_THE_WAY,
  ],
  ['the end of its doubt', living(requestedFor(-1, 0)), [REQUEST, { state: 'EXPIRED' }], FREE],
  [
    'a prompt that may be polled',
    living(pendingFor({})),
    [poll(pendingFor({})), pendingWith(1, 120_000)],
    IN_THE_WAY,
  ],
  [
    'a prompt before its next poll',
    living(pendingFor({ nextPollMs: 3_001 })),
    [wait(3_001), pendingWith(4, 120_000)],
    IN_THE_WAY,
  ],
  [
    'a prompt that is being polled',
    living(pendingFor({ nextPollMs: 5_000, leaseMs: 11_000 })),
    [wait(250), pendingWith(1, 120_000)],
    IN_THE_WAY,
  ],
  [
    'a poll whose process died',
    living(pendingFor({ leaseMs: 0 })),
    [poll(pendingFor({ leaseMs: 0 })), pendingWith(1, 120_000)],
    IN_THE_WAY,
  ],
  [
    'the last moment in which it may be redeemed',
    living(pendingFor({ redeemableMs: 1 })),
    [poll(pendingFor({ redeemableMs: 1 })), pendingWith(1, 120_000)],
    IN_THE_WAY,
  ],
  [
    'a prompt too late to redeem, too early to repeat',
    living(pendingFor({ redeemableMs: 0, livesMs: 2_000 })),
    [wait(2_000), pendingWith(2, 2_000)],
    IN_THE_WAY,
  ],
  [
    'a next poll that would come too late',
    living(pendingFor({ nextPollMs: 3_000, redeemableMs: 3_000, livesMs: 5_000 })),
    [wait(5_000), pendingWith(5, 5_000)],
    IN_THE_WAY,
  ],
  [
    'a prompt whose time is over',
    living(pendingFor({ livesMs: 0 })),
    [REQUEST, { state: 'EXPIRED' }],
    FREE,
  ],
  [
    'a token that goes out with its lookup',
    living(redeemedFor(11_000)),
    [wait(250), pendingWith(1, 11_000)],
    IN_THE_WAY,
  ],
  ['a lookup whose process died', living(redeemedFor(0)), [REQUEST, { state: 'EXPIRED' }], FREE],
  [
    'a denial',
    living(closedFor(DENIED, 600_000)),
    [fail({ ...DENIED, retryAfterSeconds: 600 }), { state: 'DENIED', retryAfterSeconds: 600 }],
    IN_THE_WAY,
  ],
  ['a denial of long ago', living(closedFor(DENIED, 0)), FREE, FREE],
  [
    'a refusal while the prompt may live',
    living(closedFor(REFUSED, 60_000)),
    [fail(REFUSED), { state: 'EXPIRED', retryAfterSeconds: 60 }],
    IN_THE_WAY,
  ],
  ['an expiry', { ends: [expiredAt(0)] }, [REQUEST, { state: 'EXPIRED' }], FREE],
  ['an expiry that was told', { ends: [{ ...expiredAt(0), isTold: true }] }, FREE, FREE],
  [
    'the failure of a lookup that speaks for the number',
    { ends: [failedFor(REFUSED, 60_000)] },
    [REQUEST, { state: 'NOT_ASKED', retryAfterSeconds: 60 }],
    [REQUEST, ANOTHERS],
  ],
  [
    'the failure of a lookup that speaks for its operation',
    { ends: [failedFor({ ...REFUSED, reach: 'operation' }, 60_000)] },
    FREE,
    FREE,
  ],
  [
    'more failures than are kept',
    { ends: Array.from({ length: 16 }, () => failedFor({ ...REFUSED, reach: 'question' }, 9_000)) },
    IN_THE_WAY,
    IN_THE_WAY,
  ],
];

describe.each(CASES)('on %s', (_, record, own, others) => {
  it.each([
    ['its caller', 'bank', own],
    ['another caller', 'shop', others],
  ] as const)('%s', (_name, callerKey, [step, status]) => {
    const { prompt, ...rest } = viewOf(record, callerKey);
    expect(nextStep(prompt, NOW)).toEqual(step);
    expect(consentStatus({ prompt, ...rest }, IDENTITY.operator, NOW, START_MS)).toEqual(status);
  });
});

/** Those in which the consent is pending, for its caller. */
const PENDING_CASES = CASES.flatMap(([name, record, [step, status]]) =>
  status.state === 'PENDING' && step.step !== 'request' ? [[name, record, status] as const] : [],
);

describe('CONSENT_PENDING', () => {
  it.each(PENDING_CASES)('says what simSwapConsent says of %s', (_, record, status) => {
    const { retryAfterSeconds, expiresAtMs } = status;
    expect(pendingFailure(viewOf(record, 'bank').prompt, NOW, START_MS)).toEqual({
      code: 'CONSENT_PENDING',
      reach: 'number',
      retryAfterSeconds,
      expiresAtMs,
    });
  });
});

describe('what bars a prompt', () => {
  it('is only what the failure of another caller applies to', () => {
    const failed = failedFor({ ...REFUSED, reach: 'operation' }, 60_000);
    expect(viewOf({ ends: [failed] }, 'shop')).toMatchObject({ barred: [failed], ends: [] });
    expect(viewOf({ ends: [failed] }, 'bank')).toMatchObject({ barred: [], ends: [failed] });
  });

  it('is not the expiry or the answer of another caller', () => {
    const answered = { ...IDENTITY, kind: 'answered', atMs: NOW, untilMs: NOW + 1 } as const;
    const record = { ends: [expiredAt(0), answered] };
    expect(viewOf(record, 'shop')).toMatchObject({ barred: [], ends: [] });
  });

  it('is the doubt of a store that has lost what it knew, until it is over', () => {
    const { prompt, ...rest } = viewOf(undefined, 'bank', NOW + 7000);
    expect(nextStep(prompt, NOW)).toEqual(PENDING);
    expect(consentStatus({ prompt, ...rest }, IDENTITY.operator, NOW, START_MS)).toEqual(
      pendingWith(7),
    );
    expect(nextStep(viewOf(undefined, 'bank', NOW).prompt, NOW)).toEqual(REQUEST);
    expect(nextStep(viewOf({ ends: [] }, 'bank', NOW + 7000).prompt, NOW)).toEqual(REQUEST);
  });
});

describe('a request that waits no more', () => {
  it('hears a second where nothing is known yet', () => {
    expect(pendingFailure({ state: 'free' }, NOW, START_MS)).toEqual({
      code: 'CONSENT_PENDING',
      reach: 'number',
      retryAfterSeconds: 1,
    });
  });

  it('hears of an end that came meanwhile', () => {
    const { prompt } = viewOf(living(closedFor(DENIED, 5000)), 'bank');
    expect(pendingFailure(prompt, NOW, START_MS)).toEqual({ ...DENIED, retryAfterSeconds: 5 });
  });
});
