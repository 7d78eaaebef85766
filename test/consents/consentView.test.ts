import { describe, expect, it } from 'vitest';
import type { FailureReach, LookupFailure } from '../../src/domain/errors.ts';
import type { Consent, ConsentRecord } from '../../src/consents/consentRecord.ts';
import type { ConsentStatus } from '../../src/domain/fields.ts';
import {
  consentStatus,
  pendingFailure,
  consentViewOf,
  othersIn,
  type PromptView,
} from '../../src/consents/consentView.ts';
import { START_MS } from '../support/testClock.ts';
import {
  closedFor,
  DENIED,
  expiredAt,
  failedFor,
  grantedFor,
  IDENTITY,
  NOW,
  pendingFor,
  redeemedFor,
  REFUSED,
  requestedFor,
} from './records.ts';

const RULES = { resultMs: 60_000, failureMs: 60_000 };

function viewOf(record: ConsentRecord | undefined, callerKey: string, doubtUntilMs?: number) {
  const doubt = doubtUntilMs === undefined ? {} : { doubtUntilMs };
  const recorded = { record, nowMs: NOW, ...doubt };
  return consentViewOf(recorded, callerKey, RULES, new Set([IDENTITY.operator]));
}

/** The failure for a request of its caller that no longer waits. */
function failureNow(record: ConsentRecord): LookupFailure | undefined {
  const { prompt } = viewOf(record, 'bank');
  return prompt.state === 'free' ? undefined : pendingFailure(prompt, NOW, START_MS);
}

function living(consent: Consent): ConsentRecord {
  return { consent, ends: [] };
}

/** When a retry can help, in seconds, and when the consent ends. */
function pendingWith(retryAfterSeconds: number, lifeMs?: number): ConsentStatus {
  return {
    state: 'PENDING',
    retryAfterSeconds,
    ...(lifeMs === undefined ? {} : { expiresAtMs: START_MS + lifeMs }),
  };
}

const NOT_ASKED: ConsentStatus = { state: 'NOT_ASKED' };
const ANOTHERS = pendingWith(60);

/** For one record: the state of its prompt, and the status as data. */
type Case = readonly [
  name: string,
  record: ConsentRecord | undefined,
  own: readonly [PromptView['state'], ConsentStatus],
  others: readonly [PromptView['state'], ConsentStatus],
];

const FREE = ['free', NOT_ASKED] as const;
const BARRED = ['anothers', ANOTHERS] as const;

/** How long a prompt lives. */
const LIFE = 120_000;
const TOO_LATE = pendingFor({ redeemableMs: 0, livesMs: 2_000 });
const NO_MORE_POLLS = pendingFor({ nextPollMs: 3_000, redeemableMs: 3_000, livesMs: 5_000 });
const UNCONFIGURED = { ...pendingFor({}), operator: 'another' };
const LIMITED: LookupFailure = { code: 'OPERATOR_RATE_LIMITED', reach: 'number' };

/** A living consent, and its view for its own caller; every other caller gets CONSENT_PENDING. */
const LIVING: readonly (readonly [string, Consent, PromptView['state'], ConsentStatus])[] = [
  ['a request on the wire', requestedFor(11_000, 300_000), 'under-way', pendingWith(1, 300_000)],
  ['one with little lease left', requestedFor(100, 300_000), 'under-way', pendingWith(1, 300_000)],
  ['one whose reply was lost', requestedFor(0, 300_000), 'in-doubt', pendingWith(300, 300_000)],
  ['the last moment of its doubt', requestedFor(-1, 1), 'in-doubt', pendingWith(1, 1)],
  ['a prompt that may be polled', pendingFor({}), 'due', pendingWith(1, LIFE)],
  ['one before its next poll', pendingFor({ nextPollMs: 3_001 }), 'waiting', pendingWith(4, LIFE)],
  ['one that is being polled', pendingFor({ leaseMs: 11_000 }), 'under-way', pendingWith(1, LIFE)],
  ['a poll whose process died', pendingFor({ leaseMs: 0 }), 'due', pendingWith(1, LIFE)],
  ['its last redeemable moment', pendingFor({ redeemableMs: 1 }), 'due', pendingWith(1, LIFE)],
  ['one too late to redeem, too early to repeat', TOO_LATE, 'waiting', pendingWith(2, 2_000)],
  ['a next poll that would come too late', NO_MORE_POLLS, 'waiting', pendingWith(5, 5_000)],
  ['one of no known operator', UNCONFIGURED, 'in-doubt', pendingWith(120, LIFE)],
  ['a token on its way', redeemedFor(11_000), 'under-way', pendingWith(1, 11_000)],
  ['a denial', closedFor(DENIED, 600_000), 'closed', { state: 'DENIED', retryAfterSeconds: 600 }],
  ['a refusal', closedFor(REFUSED, 60_000), 'closed', { state: 'EXPIRED', retryAfterSeconds: 60 }],
  ['a pause', closedFor(LIMITED, 60_000), 'closed', { state: 'NOT_ASKED', retryAfterSeconds: 60 }],
];

const OVER = ['free', { state: 'EXPIRED' }] as const;
const FOR_A_MINUTE = ['free', { state: 'NOT_ASKED', retryAfterSeconds: 60 }] as const;
const failedAs = (reach: FailureReach, count = 1): ConsentRecord => ({
  ends: Array.from({ length: count }, () => failedFor({ ...REFUSED, reach }, 60_000)),
});

const UNKNOWN_NUMBER = {
  code: 'NUMBER_NOT_SERVED',
  reach: 'number',
  isUnknownNumber: true,
} as const;
const elsewhere = { ...failedFor(UNKNOWN_NUMBER, 60_000), operator: 'another' };

const CASES: readonly Case[] = [
  ...LIVING.map(([name, consent, ...own]): Case => [name, living(consent), own, BARRED]),
  ['nothing', undefined, FREE, FREE],
  ['the end of its doubt', living(requestedFor(-1, 0)), OVER, FREE],
  ['a prompt whose time is over', living(pendingFor({ livesMs: 0 })), OVER, FREE],
  ['a lookup whose process died', living(redeemedFor(0)), OVER, FREE],
  ['a denial of long ago', living(closedFor(DENIED, 0)), FREE, FREE],
  ['an expiry', { ends: [expiredAt(0)] }, OVER, FREE],
  ['an expiry that was reported', { ends: [{ ...expiredAt(0), isTold: true }] }, FREE, FREE],
  ['a failure for the number', failedAs('number'), FOR_A_MINUTE, ['free', ANOTHERS]],
  ['a number that another operator does not know', { ends: [elsewhere] }, FREE, FREE],
  ['a failure for its operation', failedAs('operation'), FREE, FREE],
  ['more failures than are kept', failedAs('question', 16), BARRED, BARRED],
];

describe.each(CASES)('the view of %s', (_, record, own, others) => {
  it.each([
    ['its caller', 'bank', own],
    ['another caller', 'shop', others],
  ] as const)('%s', (_name, callerKey, [state, status]) => {
    const view = viewOf(record, callerKey);
    expect(view.prompt.state).toBe(state);
    const met = othersIn(view);
    expect(consentStatus(view, IDENTITY.operator, NOW, START_MS, met)).toEqual(status);
  });

  it('another caller whose question has not met it', () => {
    const view = viewOf(record, 'shop');
    const status = consentStatus(view, IDENTITY.operator, NOW, START_MS, ['another consent']);
    expect(status).toEqual({ state: 'NOT_ASKED' });
  });
});

describe('CONSENT_PENDING', () => {
  const pending = LIVING.filter(([, , , { state }]) => state === 'PENDING');
  it.each(pending)('has the times of simSwapConsent for %s', (_, consent, _state, status) => {
    const { retryAfterSeconds, expiresAtMs } = status;
    expect(failureNow(living(consent))).toEqual({
      code: 'CONSENT_PENDING',
      reach: 'number',
      retryAfterSeconds,
      expiresAtMs,
    });
  });
});

describe('what bars a prompt', () => {
  it('is what the failure of another caller applies to, and nothing else', () => {
    const failed = failedFor({ ...REFUSED, reach: 'operation' }, 60_000);
    expect(viewOf({ ends: [failed] }, 'shop')).toMatchObject({ barred: [failed], ends: [] });
    expect(viewOf({ ends: [failed] }, 'bank')).toMatchObject({ barred: [], ends: [failed] });
  });

  it.each([
    [{}, 60_000],
    [{ retryAfterSeconds: 90 }, 90_000],
    [{ code: 'OPERATOR_UNAVAILABLE' }, 240_000],
  ] as const)('is the third failure in a row of another caller, %j, for %d ms', (about, ms) => {
    const failed = { ...failedFor({ ...REFUSED, ...about }, 240_000), unanswered: 2 };
    const at = (nowMs: number) =>
      consentViewOf({ record: { ends: [failed] }, nowMs }, 'shop', RULES, new Set<string>()).barred;
    expect(at(NOW + ms - 1)).toEqual([failed]);
    expect(at(NOW + ms)).toEqual([]);
  });

  it('is not the expiry or the answer of another caller', () => {
    const answered = { ...IDENTITY, kind: 'answered', atMs: NOW, untilMs: NOW + 1 } as const;
    const record = { ends: [expiredAt(0), answered] };
    expect(viewOf(record, 'shop')).toMatchObject({ barred: [], ends: [] });
  });

  it('is the doubt of a store that has lost its memory, until the doubt is over', () => {
    const view = viewOf(undefined, 'bank', NOW + 7000);
    expect(view.prompt.state).toBe('in-doubt');
    expect(consentStatus(view, IDENTITY.operator, NOW, START_MS, [])).toEqual(pendingWith(7, 7000));
    expect(viewOf(undefined, 'bank', NOW).prompt.state).toBe('free');
    // What is on record may be older than what was lost.
    expect(viewOf({ ends: [] }, 'bank', NOW + 7000).prompt.state).toBe('in-doubt');
    expect(viewOf(living(grantedFor(9000)), 'bank', NOW).prompt.state).toBe('granted');
    expect(viewOf(living(grantedFor(9000)), 'bank', NOW + 7000).prompt.state).toBe('in-doubt');
  });
});

it.each([
  ['a denial, with the time for which it counts', DENIED, { retryAfterSeconds: 5 }],
  ['a refusal, without a time since waiting does not help', REFUSED, {}],
  ['a refusal with a time', { ...REFUSED, retryAfterSeconds: 9 }, { retryAfterSeconds: 5 }],
])('a request that no longer waits gets %s', (_, failure, told) => {
  expect(failureNow(living(closedFor(failure, 5000)))).toEqual({ ...failure, ...told });
});
