import { describe, expect, it } from 'vitest';
import type { LookupFailure } from '../../../src/errors.ts';
import {
  acknowledged,
  ended,
  endsAtMs,
  inDoubt,
  nextStep,
  pendingFailure,
  polled,
  polling,
  redeemed,
  requested,
  type ConsentRecord,
  type ConsentRules,
  type Pending,
} from '../../../src/tokens/consents/consentRecord.ts';
import { hours } from '../../values.ts';

/** Now, on the store's clock. All times below are counted from it. */
const NOW = 1_000_000;

const IDENTITY = {
  id: 'consent-1',
  caller: 'bank',
  lookup: { operation: 'check', maxAgeHours: hours(240) },
} as const;

const RULES: ConsentRules = {
  doubtMs: 300_000,
  deniedMs: 600_000,
  resultMs: 60_000,
  leaseMs: 11_000,
  firstPoll: 'at-once',
};

const DENIED: LookupFailure = { code: 'CONSENT_DENIED', reach: 'number' };
const EXPIRED: LookupFailure = { code: 'CONSENT_EXPIRED', reach: 'number' };
const REFUSED: LookupFailure = { code: 'OPERATOR_REFUSED', reach: 'number' };

function requestedFor(leaseMs: number, doubtMs: number): ConsentRecord {
  return {
    ...IDENTITY,
    state: 'requested',
    leaseUntilMs: NOW + leaseMs,
    doubtUntilMs: NOW + doubtMs,
  };
}

interface PendingTimes {
  readonly nextPollMs?: number;
  readonly redeemableMs?: number;
  readonly livesMs?: number;
  readonly leaseMs?: number;
}

function pendingFor({
  nextPollMs = 0,
  redeemableMs = 118_000,
  livesMs = 120_000,
  leaseMs,
}: PendingTimes) {
  const pending: typeof IDENTITY & Pending = {
    ...IDENTITY,
    state: 'pending',
    authReqId: 'request-1',
    intervalMs: 5_000,
    nextPollAtMs: NOW + nextPollMs,
    redeemableUntilMs: NOW + redeemableMs,
    livesUntilMs: NOW + livesMs,
  };
  return leaseMs === undefined ? pending : { ...pending, leaseUntilMs: NOW + leaseMs };
}

function redeemedFor(leaseMs: number): ConsentRecord {
  return { ...IDENTITY, state: 'redeemed', leaseUntilMs: NOW + leaseMs };
}

function endedFor(failure: LookupFailure, ms: number): ConsentRecord {
  return { ...IDENTITY, state: 'ended', failure, untilMs: NOW + ms };
}

const REQUEST = { step: 'request' };
const TURN_AWAY = { step: 'turn-away' };
const POLL = { step: 'poll' };
const TOLD_EXPIRED = { step: 'fail', failure: EXPIRED, forget: true };
const wait = (ms: number) => ({ step: 'wait', untilMs: NOW + ms });
const deniedFor = (retryAfterSeconds: number) => ({
  step: 'fail',
  failure: { ...DENIED, retryAfterSeconds },
  forget: false,
});

describe('nextStep', () => {
  it.each<[string, ConsentRecord | undefined, own: object, other: object]>([
    ['nothing', undefined, REQUEST, REQUEST],

    ['a request that is on the wire', requestedFor(11_000, 300_000), wait(250), TURN_AWAY],
    ['a request whose lease is nearly over', requestedFor(100, 300_000), wait(100), TURN_AWAY],
    ['a request whose reply was lost', requestedFor(0, 300_000), TURN_AWAY, TURN_AWAY],
    ['the last moment of its doubt', requestedFor(-1, 1), TURN_AWAY, TURN_AWAY],
    ['the end of its doubt', requestedFor(-1, 0), TOLD_EXPIRED, REQUEST],

    ['a prompt that may be polled', pendingFor({}), POLL, TURN_AWAY],
    ['a prompt before its next poll', pendingFor({ nextPollMs: 3_000 }), wait(3_000), TURN_AWAY],
    ['a prompt that somebody polls', pendingFor({ leaseMs: 11_000 }), wait(250), TURN_AWAY],
    ['a poll whose lease is nearly over', pendingFor({ leaseMs: 100 }), wait(100), TURN_AWAY],
    ['a poll that nobody came back from', pendingFor({ leaseMs: 0 }), POLL, TURN_AWAY],
    [
      'the last moment in which it may be redeemed',
      pendingFor({ redeemableMs: 1 }),
      POLL,
      TURN_AWAY,
    ],
    [
      'a prompt too late to redeem, too early to repeat',
      pendingFor({ redeemableMs: 0, livesMs: 2_000 }),
      wait(2_000),
      TURN_AWAY,
    ],
    [
      'a next poll that would come too late',
      pendingFor({ nextPollMs: 3_000, redeemableMs: 3_000, livesMs: 5_000 }),
      wait(5_000),
      TURN_AWAY,
    ],
    [
      'a prompt whose time is over',
      pendingFor({ redeemableMs: -2_000, livesMs: 0 }),
      TOLD_EXPIRED,
      REQUEST,
    ],

    ['a token that goes out with its lookup', redeemedFor(11_000), wait(250), TURN_AWAY],
    ['its lease nearly over', redeemedFor(100), wait(100), TURN_AWAY],
    ['a lookup that nobody came back from', redeemedFor(0), TOLD_EXPIRED, REQUEST],

    ['a denial', endedFor(DENIED, 600_000), deniedFor(600), deniedFor(600)],
    ['the last moment of a denial', endedFor(DENIED, 1), deniedFor(1), deniedFor(1)],
    ['a denial of long ago', endedFor(DENIED, 0), REQUEST, REQUEST],
    ['an expiry', endedFor(EXPIRED, 60_000), TOLD_EXPIRED, REQUEST],
    ['an expiry of long ago', endedFor(EXPIRED, 0), REQUEST, REQUEST],
    [
      'a refusal while the prompt may live',
      endedFor(REFUSED, 60_000),
      { step: 'fail', failure: REFUSED, forget: false },
      TURN_AWAY,
    ],
    ['a refusal after that', endedFor(REFUSED, 0), REQUEST, REQUEST],
  ])('on %s', (_, record, own, other) => {
    expect(nextStep(record, 'bank', NOW)).toMatchObject(own);
    expect(nextStep(record, 'shop', NOW)).toMatchObject(other);
  });

  it('hands the record on that is to be polled', () => {
    const pending = pendingFor({});
    expect(nextStep(pending, 'bank', NOW)).toEqual({ step: 'poll', pending });
  });
});

describe('what is written', () => {
  it('before bc-authorize leaves: that a prompt may come of it', () => {
    expect(requested(IDENTITY, NOW, RULES)).toEqual(requestedFor(11_000, 300_000));
  });

  it('when the reply was lost: the doubt stays, the lease ends', () => {
    expect(inDoubt(requestedFor(11_000, 300_000), NOW + 400)).toEqual(requestedFor(400, 300_000));
  });

  it.each<[ConsentRules['firstPoll'], number]>([
    ['at-once', 0],
    ['after-interval', 5_000],
  ])(
    'on the acknowledgement, polling %s: when to poll, and until when',
    (firstPoll, nextPollMs) => {
      const acknowledgement = { authReqId: 'request-1', expiresInSeconds: 120, intervalSeconds: 5 };
      expect(
        acknowledged(IDENTITY, acknowledgement, NOW - 2_000, NOW, { ...RULES, firstPoll }),
      ).toEqual(pendingFor({ nextPollMs }));
    },
  );

  it('before a poll leaves: the next one is an interval from here', () => {
    expect(polling(pendingFor({}), NOW + 100, RULES)).toEqual(
      pendingFor({ nextPollMs: 5_100, leaseMs: 11_100 }),
    );
  });

  it('when the token has come: only that it goes out', () => {
    expect(redeemed(pendingFor({ leaseMs: 11_000 }), NOW, RULES)).toEqual(redeemedFor(11_000));
  });
});

describe('polled', () => {
  type GoOn = Parameters<typeof polled>[1];

  it.each<[string, GoOn, intervalMs: number, nextPollMs: number]>([
    ['pending: an interval from sending', { goOn: 'authorization_pending' }, 5_000, 5_000],
    ['no reply: an interval from sending', { goOn: 'no_reply' }, 5_000, 5_000],
    ['slow_down: five seconds more, for good', { goOn: 'slow_down' }, 10_000, 10_000],
    [
      'Retry-After that is longer, from the reply on',
      { goOn: 'no_reply', retryAfterSeconds: 30 },
      5_000,
      30_400,
    ],
    [
      'Retry-After that is shorter changes nothing',
      { goOn: 'no_reply', retryAfterSeconds: 1 },
      5_000,
      5_000,
    ],
    ['429 with Retry-After: both', { goOn: 'slow_down', retryAfterSeconds: 30 }, 10_000, 30_400],
  ])('%s', (_, goOn, intervalMs, nextPollMs) => {
    expect(polled(pendingFor({}), goOn, NOW, NOW + 400)).toEqual({
      ...pendingFor({ nextPollMs, leaseMs: 400 }),
      intervalMs,
    });
  });

  it('slow_down twice adds ten seconds', () => {
    const slow = { goOn: 'slow_down' } as const;
    const once = polled(pendingFor({}), slow, NOW, NOW);
    if (once.state !== 'pending') throw new Error('Still pending was expected.');
    expect(polled(once, slow, NOW, NOW)).toMatchObject({
      intervalMs: 15_000,
      nextPollAtMs: NOW + 15_000,
    });
  });
});

describe('ended', () => {
  it.each<[string, ConsentRecord, LookupFailure, untilMs: number]>([
    ['a denial counts for ten minutes', pendingFor({}), DENIED, 600_000],
    ['an expiry is kept to be told', pendingFor({}), EXPIRED, 60_000],
    ['a refusal stands as long as the prompt may', pendingFor({}), REFUSED, 120_000],
    ['a refusal after that stands no longer', pendingFor({ livesMs: -1 }), REFUSED, 0],
    [
      'a refusal of the request stands as long as the doubt',
      requestedFor(11_000, 300_000),
      REFUSED,
      300_000,
    ],
  ])('%s', (_, record, failure, untilMs) => {
    expect(ended(record, failure, NOW, RULES)).toEqual(endedFor(failure, untilMs));
  });
});

describe('endsAtMs', () => {
  it.each<[string, ConsentRecord, number]>([
    ['requested: its doubt', requestedFor(11_000, 300_000), 300_000],
    ['pending: the life of the prompt, not of the token', pendingFor({}), 120_000],
    ['redeemed: its lease', redeemedFor(11_000), 11_000],
    ['ended: its time', endedFor(DENIED, 600_000), 600_000],
  ])('%s', (_, record, ms) => {
    expect(endsAtMs(record)).toBe(NOW + ms);
  });
});

describe('pendingFailure', () => {
  const WALL = Date.UTC(2026, 0, 15, 12);

  it.each<[string, ConsentRecord, retryAfterSeconds: number, expiresInMs: number]>([
    ['until the next poll', pendingFor({ nextPollMs: 4_001 }), 5, 120_000],
    ['a second at least', pendingFor({ nextPollMs: -3_000 }), 1, 120_000],
    [
      'while the request is on the wire, until its lease is over',
      requestedFor(11_000, 300_000),
      11,
      300_000,
    ],
    ['in doubt, until the doubt is over', requestedFor(0, 300_000), 300, 300_000],
    ['while the lookup is on the wire, until its lease is over', redeemedFor(11_000), 11, 11_000],
  ])('says when asking again can help: %s', (_, record, retryAfterSeconds, expiresInMs) => {
    expect(pendingFailure(record, NOW, WALL)).toEqual({
      code: 'CONSENT_PENDING',
      reach: 'number',
      retryAfterSeconds,
      expiresAtMs: WALL + expiresInMs,
    });
  });

  it('says a second where nothing is known yet', () => {
    expect(pendingFailure(undefined, NOW, WALL)).toEqual({
      code: 'CONSENT_PENDING',
      reach: 'number',
      retryAfterSeconds: 1,
    });
  });
});
