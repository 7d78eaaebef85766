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
  unansweredIn,
  withLearned,
  type Consent,
  type ConsentRecord,
  type ConsentRules,
  type Learned,
} from '../../src/consents/consentRecord.ts';
import {
  closedFor,
  DENIED,
  EXPIRED,
  expiredAt,
  failedFor,
  grantedFor,
  IDENTITY,
  NOW,
  pendingFor,
  redeemedFor,
  REFUSED,
  requestedFor,
  RULES,
} from './records.ts';

const NOTHING: ConsentRecord = { ends: [] };
const GONE: ConsentRecord = { ends: [expiredAt(0)] };
const PENDING = pendingFor({});
/** Claimed four seconds ago. */
const REQUESTED = requestedFor(7_000, 296_000);
const GRANTED = grantedFor(9000, 5000);
const REDEEMED = redeemedFor(1);
const WITHDRAWN: Learned = { kind: 'withdrawn', id: IDENTITY.id };

function living(consent: Consent): ConsentRecord {
  return { consent, ends: [] };
}

function lives(consent: Consent): Learned {
  return { kind: 'lives', lives: consent };
}

it.each<[string, number, ConsentRules['firstPoll'], Parameters<typeof pendingFor>[0]]>([
  ['polled at once', 120, 'at-once', {}],
  ['polled after an interval', 120, 'after-interval', { nextPollMs: 5_000 }],
  ['that lives for an hour', 3600, 'at-once', { redeemableMs: 598_000, livesMs: 600_000 }],
])('the acknowledgement of a prompt %s', (_, expiresInSeconds, firstPoll, times) => {
  const acknowledgement = { authReqId: 'request-1', expiresInSeconds, intervalSeconds: 5 };
  const rules = { ...RULES, firstPoll };
  expect(acknowledged(IDENTITY, acknowledgement, NOW - 2_000, NOW, rules)).toEqual(
    pendingFor(times),
  );
});

describe('a poll that ends nothing', () => {
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
    const times = { sentAtMs: NOW, nowMs: NOW + tookMs, isTold: true };
    expect(pollEnded(PENDING, polled, times, RULES)).toEqual(
      lives({ ...pendingFor({ nextPollMs, leaseMs: tookMs }), intervalMs }),
    );
  });
});

const IN_DOUBT = lives(requestedFor(0, 300_000));

it('a request to prompt whose reply is lost is in doubt from then on', () => {
  expect(requestEnded(REQUESTED, { kind: 'reply-lost' }, NOW, NOW, RULES)).toEqual(IN_DOUBT);
});

describe('a request to prompt that was refused', () => {
  const limited: LookupFailure = { code: 'OPERATOR_RATE_LIMITED', reach: 'number' };
  const held = closedFor({ ...limited, retryAfterSeconds: 90 }, 90_000);

  it.each<[string, LookupFailure, { holdSeconds?: number }, boolean, Learned]>([
    ['a denial is remembered', DENIED, {}, false, lives(closedFor(DENIED, 600_000))],
    ['a hold by the operator is remembered', limited, { holdSeconds: 90 }, false, lives(held)],
    ['a doubt lasts from now on', REFUSED, { holdSeconds: 90 }, true, IN_DOUBT],
    ['any other failure leaves no record', REFUSED, {}, false, WITHDRAWN],
  ])('%s', (_, failure, hold, mayHavePrompted, learned) => {
    const judged = { kind: 'failed', failure, mayHavePrompted, ...hold } as const;
    expect(requestEnded(REQUESTED, judged, NOW, NOW, RULES)).toEqual(learned);
  });
});

describe('a poll that ended the consent', () => {
  const AT_ONCE = { sentAtMs: NOW, nowMs: NOW, isTold: false };
  const forgetful = { ...RULES, deniedMs: 0 };
  const over = pendingFor({ livesMs: -1 });

  it.each<[string, typeof PENDING, LookupFailure, ConsentRules, Learned]>([
    ['a denial lasts ten minutes', PENDING, DENIED, RULES, lives(closedFor(DENIED, 600_000))],
    ['and two seconds at least', PENDING, DENIED, forgetful, lives(closedFor(DENIED, 2000))],
    ['a refusal, as its prompt', PENDING, REFUSED, RULES, lives(closedFor(REFUSED, 120_000))],
    ['and no longer', over, REFUSED, RULES, lives(closedFor(REFUSED, 0))],
    ['an expiry is an end', PENDING, EXPIRED, RULES, { kind: 'ended', ended: expiredAt(0) }],
  ])('%s', (_, pending, failure, rules, learned) => {
    const polled = { kind: 'failed', failure } as const;
    expect(pollEnded(pending, polled, AT_ONCE, rules)).toEqual(learned);
  });

  it('of a store that has lost writes leaves it in doubt whether the token was spent', () => {
    const polled = { kind: 'failed', failure: EXPIRED } as const;
    const times = { ...AT_ONCE, doubtUntilMs: NOW + 300_000 };
    expect(pollEnded(PENDING, polled, times, RULES)).toEqual(IN_DOUBT);
  });
});

describe('the record at a moment', () => {
  const lastMoment = pendingFor({ livesMs: 1 });
  const polled = pendingFor({ livesMs: 0, leaseMs: 1 });
  const [over, last] = [failedFor(REFUSED, 0), failedFor(REFUSED, 1)];

  it.each<[string, ConsentRecord | undefined, ConsentRecord]>([
    ['a prompt that lives', living(lastMoment), living(lastMoment)],
    ['a prompt that is over, with a poll on the wire', living(polled), living(polled)],
    ['a prompt whose time is over', living(pendingFor({ livesMs: 0 })), GONE],
    ['a doubt that is over', living(requestedFor(-1, -5000)), { ends: [expiredAt(-5000)] }],
    ['a lookup whose process died', living(redeemedFor(0)), GONE],
    [
      'a token whose lookup has not left',
      living(grantedFor(0)),
      { ends: [failedFor(EXPIRED, 60_000)] },
    ],
    ['an expiry that is too old to report', living(pendingFor({ livesMs: -60_000 })), NOTHING],
    ['a denial that is over', living(closedFor(DENIED, 0)), NOTHING],
    ['an end whose time is over', { ends: [over, last] }, { ends: [last] }],
    ['none', undefined, NOTHING],
  ])('of %s', (_, record, current) => {
    expect(asOf(record, NOW, RULES)).toEqual(current);
  });
});

it('a record is kept until its last end is over', () => {
  const ends = [failedFor(REFUSED, 5), expiredAt(0)];
  expect(keptUntilMs({ ends }, RULES)).toBe(NOW + 60_000);
  expect(keptUntilMs({ consent: PENDING, ends }, RULES)).toBe(NOW + 180_000);
  expect(keptUntilMs({ consent: grantedFor(1000), ends }, RULES)).toBe(NOW + 121_000);
});

function endedFor(failure: LookupFailure, ms: number): Learned {
  return { kind: 'ended', ended: failedFor(failure, ms) };
}

describe('a lookup that failed', () => {
  const later = { ...REFUSED, retryAfterSeconds: 3600 };
  const soon = { ...REFUSED, retryAfterSeconds: 1 };

  it.each<[string, LookupFailure, Learned]>([
    ['is remembered for a minute', REFUSED, endedFor(REFUSED, 60_000)],
    ['or as long as the operator says', later, endedFor(later, 3_600_000)],
    ['where that is longer', soon, endedFor(soon, 60_000)],
    ['is a denial where the owner has withdrawn', DENIED, lives(closedFor(DENIED, 600_000))],
  ])('%s', (_, failure, learned) => {
    const { lookup } = IDENTITY;
    expect(lookupEnded(IDENTITY, { lookup, failure }, NOW, RULES)).toEqual(learned);
  });

  it.each([
    [1, 120_000],
    [4, 960_000],
    [9, 960_000],
  ])('is remembered for longer after %d others in a row: %d ms', (unanswered, ms) => {
    const { lookup } = IDENTITY;
    const again = { ...IDENTITY, unanswered };
    const ended = lookupEnded(again, { lookup, failure: REFUSED }, NOW, RULES);
    expect(ended).toMatchObject({ ended: { unanswered, untilMs: NOW + ms } });
  });

  it('is counted by the next prompt for its operation, until another one is answered', () => {
    const failed = failedFor(REFUSED, 60_000);
    const since = asOf({ ends: [failed] }, NOW + 90_000, RULES);
    expect(unansweredIn(since.ends, IDENTITY)).toBe(1);
    const date = { ...IDENTITY, lookup: { operation: 'retrieve-date' } } as const;
    expect(unansweredIn(since.ends, date)).toBe(0);
    const shop = { ...IDENTITY, asker: 'shop' };
    expect(unansweredIn(since.ends, shop)).toBe(0);
    const away = failedFor({ ...REFUSED, code: 'OPERATOR_UNAVAILABLE' }, 60_000);
    expect(unansweredIn([away], shop)).toBe(1);
    const next = { ...IDENTITY, id: 'consent-2' };
    expect(withLearned(since, answered(next, NOW + 90_000)).ends).toMatchObject([next]);
    expect(withLearned(since, answered(next, NOW + 30_000)).ends).toMatchObject([failed, next]);
  });
});

describe('what was learned while the record changed', () => {
  const another = living({ ...PENDING, id: 'consent-2', asker: 'shop' });
  const ended = lookupEnded(IDENTITY, { lookup: IDENTITY.lookup, failure: REFUSED }, NOW, RULES);
  const failed: ConsentRecord = { ends: [failedFor(REFUSED, 60_000)] };
  const expired: Learned = { kind: 'ended', ended: expiredAt(0) };
  const polledSince = living(pendingFor({ leaseMs: 9_000 }));
  const times = { atMs: NOW, untilMs: NOW + 10_000 };
  const answer: ConsentRecord = { ends: [{ ...IDENTITY, kind: 'answered', ...times }] };

  it.each<[string, ConsentRecord, Learned, ConsentRecord | undefined]>([
    ['counts in a store that has lost it', NOTHING, lives(PENDING), living(PENDING)],
    ['counts over an earlier state', living(REQUESTED), lives(PENDING), living(PENDING)],
    ['does not count over a later one', living(REDEEMED), lives(PENDING), undefined],
    ['nor over the same one, which may be of another poll', polledSince, lives(PENDING), undefined],
    ['counts where the owner has consented', living(PENDING), lives(GRANTED), living(GRANTED)],
    ['nor where another process may spend the token', living(GRANTED), lives(REDEEMED), undefined],
    ['nor in a store that has lost it', NOTHING, lives(REDEEMED), undefined],
    ['is not an expiry where another poll has granted it', living(GRANTED), expired, undefined],
    ['nor over its own end', GONE, lives(PENDING), undefined],
    ["nor over another's consent", another, lives(PENDING), undefined],
    ["keeps another's consent beside its end", another, ended, { ...another, ...failed }],
    ['replaces an earlier end', GONE, ended, failed],
    ['is not an expiry where another poll has the token', living(REDEEMED), expired, undefined],
    ['is removed where no request left', living(REQUESTED), WITHDRAWN, NOTHING],
    ["leaves another's consent", another, WITHDRAWN, undefined],
    ['is an answer', living(REDEEMED), answered(IDENTITY, NOW), answer],
  ])('%s', (_, found, learned, record) => {
    expect(overruled(found, learned)).toEqual(record);
  });
});
