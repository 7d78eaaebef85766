import { describe, expect, it } from 'vitest';
import type { LookupFailure } from '../../src/domain/errors.ts';
import {
  acknowledged,
  answered,
  asOf,
  keptUntilMs,
  lookupEnded,
  overruled,
  pollEnded,
  requestEnded,
  type Consent,
  type ConsentRecord,
  type ConsentRules,
  type Learned,
  type Pending,
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

describe('a poll that leaves everything open', () => {
  it.each([
    ['pending: an interval from sending', 'authorization_pending', undefined, 400, 5_000, 5_400],
    ['held back by the operator', 'authorization_pending', undefined, 2_000, 5_000, 5_500],
    ['no reply: an interval from giving up', 'no_reply', undefined, 9_000, 5_000, 14_000],
    ['slow_down: five seconds more, for good', 'slow_down', undefined, 400, 10_000, 10_400],
    ['Retry-After that is longer, from the reply on', 'no_reply', 30, 400, 5_000, 30_400],
    ['Retry-After that is shorter changes nothing', 'no_reply', 1, 400, 5_000, 5_400],
    ['429 with Retry-After: both', 'slow_down', 30, 400, 10_000, 30_400],
  ] as const)('%s', (_, goOn, retryAfterSeconds, tookMs, intervalMs, nextPollMs) => {
    const told = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    const polled = { kind: 'go-on', goOn, ...told } as const;
    expect(pollEnded(pendingFor({}), polled, NOW, NOW + tookMs, true, RULES)).toEqual(
      lives({ ...pendingFor({ nextPollMs, leaseMs: tookMs }), intervalMs }),
    );
  });
});

describe('a request to prompt that was refused', () => {
  const LIMITED: LookupFailure = { code: 'OPERATOR_RATE_LIMITED', reach: 'number' };

  it.each<[string, LookupFailure, number | undefined, boolean, Learned]>([
    ['a denial is remembered', DENIED, undefined, false, lives(closedFor(DENIED, 600_000))],
    [
      'an operator that wants to be left alone is',
      LIMITED,
      90,
      false,
      lives(closedFor({ ...LIMITED, retryAfterSeconds: 90 }, 90_000)),
    ],
    ['a prompt that may be on its way is', REFUSED, 90, true, lives(requestedFor(0, 300_000))],
    [
      'anything else leaves nothing behind',
      REFUSED,
      undefined,
      false,
      { kind: 'withdrawn', id: IDENTITY.id },
    ],
  ])('%s', (_, failure, seconds, mayHavePrompted, learned) => {
    const hold = seconds === undefined ? {} : { holdSeconds: seconds };
    const judged = { kind: 'failed', failure, mayHavePrompted, ...hold } as const;
    const requested = requestedFor(11_000, 300_000);
    expect(requestEnded(requested, judged, NOW, NOW, RULES)).toEqual(learned);
  });
});

describe('a poll that ended the consent', () => {
  it.each<[string, Pending, LookupFailure, ConsentRules, Learned]>([
    [
      'a denial counts for ten minutes',
      pendingFor({}),
      DENIED,
      RULES,
      lives(closedFor(DENIED, 600_000)),
    ],
    [
      'and is known to every request that waits, even if it is not to be remembered',
      pendingFor({}),
      DENIED,
      { ...RULES, deniedMs: 0 },
      lives(closedFor(DENIED, 2000)),
    ],
    [
      'a refusal stands as long as the prompt may',
      pendingFor({}),
      REFUSED,
      RULES,
      lives(closedFor(REFUSED, 120_000)),
    ],
    ['and no longer', pendingFor({ livesMs: -1 }), REFUSED, RULES, lives(closedFor(REFUSED, 0))],
    [
      "an expiry is kept to be told, and stands in no request's way",
      pendingFor({}),
      EXPIRED,
      RULES,
      { kind: 'ended', ended: expiredAt(0) },
    ],
  ])('%s', (_, pending, failure, rules, learned) => {
    const polled = { kind: 'failed', failure } as const;
    expect(pollEnded(pending, polled, NOW, NOW, false, rules)).toEqual(learned);
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
  const ended = lookupEnded(IDENTITY, { lookup: IDENTITY.lookup, failure: REFUSED }, NOW, RULES);
  const withdrawn: Learned = { kind: 'withdrawn', id: IDENTITY.id };
  const expired: Learned = { kind: 'ended', ended: expiredAt(0) };

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
      'is forgotten where nothing left',
      { consent: requestedNow, ends: [] },
      withdrawn,
      { ends: [] },
    ],
    ["leaves another's consent", { consent: other, ends: [] }, withdrawn, undefined],
    [
      'is an answer',
      { consent: redeemedFor(1), ends: [] },
      answered(IDENTITY, NOW),
      { ends: [{ ...IDENTITY, kind: 'answered', atMs: NOW, untilMs: NOW + 10_000 }] },
    ],
  ])('%s', (_, found, learned, record) => {
    expect(overruled(found, learned)).toEqual(record);
  });
});

function lives(consent: Consent) {
  return { kind: 'lives', lives: consent } as const;
}
