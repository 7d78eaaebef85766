import { describe, expect, it } from 'vitest';
import type { LookupFailure } from '../../src/domain/errors.ts';
import {
  acknowledged,
  answered,
  asOf,
  concluded,
  endedByLookup,
  endedByPoll,
  keptUntilMs,
  overruled,
  polled,
  refused,
  type Consent,
  type ConsentRecord,
  type ConsentRules,
} from '../../src/consents/consentRecord.ts';
import {
  closedFor,
  DENIED,
  EXPIRED,
  expiredAt,
  failedFor,
  IDENTITY,
  NOW,
  pendingFor,
  redeemedFor,
  REFUSED,
  requestedFor,
  RULES,
} from './records.ts';

describe('what is written', () => {
  it.each<[string, number, ConsentRules['firstPoll'], Parameters<typeof pendingFor>[0]]>([
    ['polled at once', 120, 'at-once', {}],
    ['polled after an interval', 120, 'after-interval', { nextPollMs: 5_000 }],
    ['that lives for an hour', 3600, 'at-once', { redeemableMs: 598_000, livesMs: 600_000 }],
  ])('on the acknowledgement of a prompt %s', (_, expiresInSeconds, firstPoll, times) => {
    const acknowledgement = { authReqId: 'request-1', expiresInSeconds, intervalSeconds: 5 };
    const rules = { ...RULES, firstPoll };
    expect(acknowledged(IDENTITY, acknowledgement, NOW - 2_000, NOW, rules)).toEqual(
      pendingFor(times),
    );
  });
});

describe('polled', () => {
  it.each([
    ['pending: an interval from sending', 'authorization_pending', undefined, 5_000, 5_000],
    ['no reply: an interval from sending', 'no_reply', undefined, 5_000, 5_000],
    ['slow_down: five seconds more, for good', 'slow_down', undefined, 10_000, 10_000],
    ['Retry-After that is longer, from the reply on', 'no_reply', 30, 5_000, 30_400],
    ['Retry-After that is shorter changes nothing', 'no_reply', 1, 5_000, 5_000],
    ['429 with Retry-After: both', 'slow_down', 30, 10_000, 30_400],
  ] as const)('%s', (_, goOn, retryAfterSeconds, intervalMs, nextPollMs) => {
    const heard = { kind: 'go-on', goOn, ...withSeconds(retryAfterSeconds) } as const;
    expect(polled(pendingFor({}), heard, NOW, NOW + 400)).toEqual({
      ...pendingFor({ nextPollMs, leaseMs: 400 }),
      intervalMs,
    });
  });
});

describe('a request to prompt that was refused', () => {
  const LIMITED: LookupFailure = { code: 'OPERATOR_RATE_LIMITED', reach: 'number' };

  it.each<[string, LookupFailure, number | undefined, Consent | undefined]>([
    ['a denial is remembered', DENIED, undefined, closedFor(DENIED, 600_000)],
    [
      'an operator that wants to be left alone is',
      LIMITED,
      90,
      closedFor({ ...LIMITED, retryAfterSeconds: 90 }, 90_000),
    ],
    ['anything else leaves nothing behind', REFUSED, undefined, undefined],
  ])('%s', (_, failure, holdSeconds, left) => {
    expect(refused(IDENTITY, failure, holdSeconds, NOW, RULES)).toEqual(left);
  });
});

describe('a poll that ended the consent', () => {
  it.each([
    ['a denial counts for ten minutes', pendingFor({}), DENIED, closedFor(DENIED, 600_000)],
    [
      'a refusal stands as long as the prompt may',
      pendingFor({}),
      REFUSED,
      closedFor(REFUSED, 120_000),
    ],
    ['and no longer', pendingFor({ livesMs: -1 }), REFUSED, closedFor(REFUSED, 0)],
  ])('%s', (_, pending, failure, closed) => {
    expect(endedByPoll(pending, failure, true, NOW, RULES)).toEqual({
      kind: 'lives',
      lives: closed,
    });
  });

  it('a denial is known to every request that waits, even if it is not to be remembered', () => {
    expect(endedByPoll(pendingFor({}), DENIED, true, NOW, { ...RULES, deniedMs: 0 })).toEqual({
      kind: 'lives',
      lives: closedFor(DENIED, 2000),
    });
  });

  it("an expiry is kept to be told, and stands in no request's way", () => {
    expect(endedByPoll(pendingFor({}), EXPIRED, false, NOW, RULES)).toEqual({
      kind: 'ended',
      ended: expiredAt(0),
    });
  });
});

describe('the record at a moment', () => {
  it.each<[string, Consent, ConsentRecord]>([
    [
      'a prompt that lives',
      pendingFor({ livesMs: 1 }),
      { consent: pendingFor({ livesMs: 1 }), ends: [] },
    ],
    [
      'a prompt that is over, with a poll on the wire',
      pendingFor({ livesMs: 0, leaseMs: 1 }),
      { consent: pendingFor({ livesMs: 0, leaseMs: 1 }), ends: [] },
    ],
    ['a prompt whose time is over', pendingFor({ livesMs: 0 }), { ends: [expiredAt(0)] }],
    ['a doubt that is over', requestedFor(-1, -5000), { ends: [expiredAt(-5000)] }],
    ['a lookup whose process died', redeemedFor(0), { ends: [expiredAt(0)] }],
    ['an expiry that is too old to be told', pendingFor({ livesMs: -60_000 }), { ends: [] }],
    ['a denial that is over', closedFor(DENIED, 0), { ends: [] }],
  ])('of %s', (_, consent, current) => {
    expect(asOf({ consent, ends: [] }, NOW, RULES)).toEqual(current);
  });

  it('has no end whose time is over', () => {
    const ends = [failedFor(REFUSED, 0), failedFor(REFUSED, 1)];
    expect(asOf({ ends }, NOW, RULES)).toEqual({ ends: [failedFor(REFUSED, 1)] });
  });

  it('is empty where there is none', () => {
    expect(asOf(undefined, NOW, RULES)).toEqual({ ends: [] });
  });
});

it('a record is kept until the last of what it tells is over', () => {
  const ends = [failedFor(REFUSED, 5), expiredAt(0)];
  expect(keptUntilMs({ ends }, RULES)).toBe(NOW + 60_000);
  expect(keptUntilMs({ consent: pendingFor({}), ends }, RULES)).toBe(NOW + 180_000);
});

describe('what was learned while the record changed', () => {
  const requestedNow = requestedFor(11_000, 300_000);
  const other: Consent = { ...pendingFor({}), id: 'consent-2', asker: 'shop' };
  const ended = endedByLookup(IDENTITY, { lookup: IDENTITY.lookup, failure: REFUSED }, NOW, RULES);
  const expired = endedByPoll(pendingFor({}), EXPIRED, false, NOW, RULES);

  it.each<[string, ConsentRecord, Parameters<typeof overruled>[1], ConsentRecord | undefined]>([
    [
      'counts in a store that has lost it',
      { ends: [] },
      lives(pendingFor({})),
      { consent: pendingFor({}), ends: [] },
    ],
    [
      'counts over an earlier state',
      { consent: requestedNow, ends: [] },
      lives(pendingFor({})),
      { consent: pendingFor({}), ends: [] },
    ],
    [
      'does not count over a later one',
      { consent: redeemedFor(1), ends: [] },
      lives(pendingFor({})),
      undefined,
    ],
    [
      'does not count over the same one, which another poll may have written since',
      { consent: pendingFor({ leaseMs: 9_000 }), ends: [] },
      lives(pendingFor({})),
      undefined,
    ],
    ['does not count over its own end', { ends: [expiredAt(0)] }, lives(pendingFor({})), undefined],
    [
      "does not count over another's consent",
      { consent: other, ends: [] },
      lives(pendingFor({})),
      undefined,
    ],
    [
      "keeps another's consent beside its end",
      { consent: other, ends: [] },
      ended,
      { consent: other, ends: [failedFor(REFUSED, 60_000)] },
    ],
    [
      'takes the place of an earlier word',
      { ends: [expiredAt(0)] },
      ended,
      { ends: [failedFor(REFUSED, 60_000)] },
    ],
    [
      'is no expiry where another poll has the token',
      { consent: redeemedFor(1), ends: [] },
      expired,
      undefined,
    ],
    [
      'is an answer',
      { consent: redeemedFor(1), ends: [] },
      answered(IDENTITY, NOW),
      { ends: [{ ...IDENTITY, kind: 'answered', atMs: NOW, untilMs: NOW + 10_000 }] },
    ],
  ])('%s', (_, found, learned, record) => {
    expect(overruled(found, learned)).toEqual(record);
  });

  it('is forgotten where nothing left', () => {
    expect(concluded({ consent: requestedNow, ends: [] }, IDENTITY.id)).toEqual({ ends: [] });
  });
});

function lives(consent: Consent) {
  return { kind: 'lives', lives: consent } as const;
}

function withSeconds(retryAfterSeconds: number | undefined) {
  return retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
}
