import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FailureReach } from '../../src/domain/errors.ts';
import type { ErrorRuleProfile } from '../../src/domain/profile.ts';
import { reachOf, errorCodeOf, type ErrorMap } from '../../src/judging/errorMap.ts';
import type { Exchange } from '../../src/wire/exchange.ts';
import { judgeCheck, judgeRetrieveDate } from '../operator/camara.ts';
import { judgeAcknowledgement, judgePoll, judgeToken } from '../../src/tokens/tokenResponses.ts';
import { inForm } from '../support/forms.ts';
import { START_MS } from '../support/testClock.ts';
import { hours } from '../support/values.ts';
import { jsonReply } from '../wire/replies.ts';

const CODES: readonly ErrorRuleProfile['code'][] = [
  'NUMBER_NOT_SERVED',
  'PERIOD_NOT_SUPPORTED',
  'OPERATION_NOT_OFFERED',
  'CONSENT_DENIED',
  'CONSENT_EXPIRED',
  'OPERATOR_RATE_LIMITED',
  'OPERATOR_UNAVAILABLE',
  'OPERATOR_TIMEOUT',
  'OPERATOR_REFUSED',
  'OPERATOR_INVALID_REPLY',
];

const RUNS = { numRuns: inForm({ short: 500, long: 5000 }) };

const statuses = fc.constantFrom(301, 400, 401, 403, 404, 408, 409, 422, 429, 451, 500, 501, 503);
const words = fc.constantFrom(
  'CONFLICT',
  'E77',
  'authorization_pending',
  'invalid_grant',
  'access_denied',
  '1077',
);

const rules: fc.Arbitrary<ErrorRuleProfile> = fc.record(
  {
    status: statuses,
    word: words,
    code: fc.constantFrom(...CODES),
    reach: fc.constantFrom<FailureReach>('question', 'operation', 'number'),
    retryAfterSeconds: fc.integer({ min: 0, max: 300 }),
  },
  { requiredKeys: ['status', 'code', 'reach'] },
);

const paths = fc.constantFrom(['code'], ['error'], ['error', 'errorCode'], ['errors', '0', 'name']);

const maps: fc.Arbitrary<ErrorMap> = fc.record({
  wordAt: fc.array(paths, { maxLength: 3 }),
  rules: fc.array(rules, { maxLength: 5 }),
});

const texts = fc.oneof(words, fc.constant('PRIVATE-TEXT'), fc.constant(1077), fc.constant(null));

const bodies = fc.record(
  {
    code: texts,
    error: fc.oneof(texts, fc.record({ errorCode: texts })),
    errors: fc.array(fc.record({ name: texts }), { maxLength: 2 }),
    // Members of an answer.
    swapped: fc.constant(false),
    latestSimChange: fc.constant('2010-01-01T00:00:00Z'),
    access_token: fc.constant('token'),
    token_type: fc.constant('Bearer'),
    auth_req_id: fc.constant('consent'),
    expires_in: fc.constant(60),
  },
  { requiredKeys: [] },
);

interface Refusal {
  readonly errors: ErrorMap;
  readonly status: number;
  readonly body: object;
  readonly isUnproven: boolean;
}

const refusals: fc.Arbitrary<Refusal> = fc.record({
  errors: maps,
  status: statuses,
  body: bodies,
  isUnproven: fc.boolean(),
});

function replied({ status, body, isUnproven }: Refusal): Exchange {
  const reply = jsonReply(status, body);
  return { kind: 'reply', reply, sentAtMs: START_MS, leftAtMs: 0, isUnproven };
}

function exchangeOf(errors: ErrorMap, flow: '2-legged' | '3-legged', isUnproven: boolean) {
  return { sentAtMs: START_MS, nowMs: START_MS, flow, errors, isUnproven };
}

const isDoubt = (status: number): boolean => status >= 500 || status === 408;

describe('whatever an error map says', () => {
  it('no refusal becomes an answer, a token or a consent', () => {
    fc.assert(
      fc.property(refusals, fc.constantFrom('2-legged', '3-legged'), (refusal, flow) => {
        const { errors, status, body, isUnproven } = refusal;
        const reply = jsonReply(status, body);
        const exchange = exchangeOf(errors, flow, isUnproven);
        expect(judgeCheck(reply, exchange, hours(24)).kind).toBe('failed');
        expect(judgeRetrieveDate(reply, exchange).kind).toBe('failed');
        expect(judgeToken(replied(refusal), START_MS, errors).kind).toBe('failed');
        expect(judgePoll(replied(refusal), START_MS, errors).kind).not.toBe('issued');
        const reading = { errors, minIntervalSeconds: 1 };
        const acknowledged = judgeAcknowledgement(replied(refusal), START_MS, reading);
        expect(acknowledged.kind).not.toBe('acknowledged');
      }),
      RUNS,
    );
  });

  it('a prompt stays in doubt where it may have reached the phone; a limit holds the number', () => {
    fc.assert(
      fc.property(refusals, (refusal) => {
        const { errors, status } = refusal;
        const reading = { errors, minIntervalSeconds: 1 };
        const judged = judgeAcknowledgement(replied(refusal), START_MS, reading);
        if (judged.kind !== 'failed' || judged.mayHavePrompted) return;
        const { failure, holdSeconds = 0 } = judged;
        expect(isDoubt(status)).toBe(false);
        expect(failure.code).not.toMatch(/^OPERATOR_(?:UNAVAILABLE|TIMEOUT)$/);
        const isHeld = holdSeconds >= 30;
        expect(isHeld).toBe(failure.code === 'OPERATOR_RATE_LIMITED');
      }),
      RUNS,
    );
  });

  it('polls continue after a doubt, a pending word and a passing failure', () => {
    fc.assert(
      fc.property(refusals, (refusal) => {
        const { errors, status, body, isUnproven } = refusal;
        const judged = judgePoll(replied(refusal), START_MS, errors);
        if (judged.kind !== 'failed') return;
        const isPending = 'error' in body && body.error === 'authorization_pending';
        expect(isDoubt(status) || status === 429 || isUnproven).toBe(false);
        expect(status >= 400 && isPending).toBe(false);
        expect(judged.failure.code).not.toMatch(/^OPERATOR_(?:UNAVAILABLE|TIMEOUT|RATE_LIMITED)$/);
      }),
      RUNS,
    );
  });

  it('an unproven reply does not end a consent, and no code is about consent without a prompt', () => {
    fc.assert(
      fc.property(refusals, ({ errors, status, body }) => {
        const reply = jsonReply(status, body);
        const codes = [
          judgeCheck(reply, exchangeOf(errors, '2-legged', false), hours(24)),
          judgeCheck(reply, exchangeOf(errors, '3-legged', true), hours(24)),
          judgeToken(replied({ errors, status, body, isUnproven: false }), START_MS, errors),
        ].map((judged) => (judged.kind === 'failed' ? judged.failure.code : 'none'));
        expect(codes.filter((code) => code.startsWith('CONSENT_'))).toEqual([]);
      }),
      RUNS,
    );
  });
});

describe('the word of an error', () => {
  const errors: ErrorMap = {
    wordAt: [
      ['fault', 'name'],
      ['errors', '0', 'id'],
    ],
    rules: [{ status: 400, word: 'OURS', code: 'NUMBER_NOT_SERVED', reach: 'number' }],
  };

  it.each<[string, object, string | undefined]>([
    ['nowhere', {}, undefined],
    ['at the first place', { fault: { name: 'A' }, errors: [{ id: 'B' }] }, 'A'],
    ['in a list', { errors: [{ id: 'B' }] }, 'B'],
    ['a number', { fault: { name: 42 } }, '42'],
    ['not a fraction', { fault: { name: 4.2 } }, undefined],
    ['not an object', { fault: { name: {} } }, undefined],
    ['a known word goes first', { fault: { name: 'A' }, code: 'NOT_FOUND' }, 'NOT_FOUND'],
    ['a word of the rules is known', { fault: { name: 'A' }, errors: [{ id: 'OURS' }] }, 'OURS'],
  ])('%s', (_, body, word) => {
    expect(errorCodeOf(body as Record<string, unknown>, { wordIn: 'code', errors })).toBe(word);
  });

  it('is never an inherited member', () => {
    const inherited = {
      wordAt: [
        ['constructor', 'name'],
        ['__proto__', 'code'],
      ],
      rules: [],
    };
    expect(errorCodeOf({}, { wordIn: 'code', errors: inherited })).toBeUndefined();
  });
});

describe('the reach of a rule', () => {
  const REACHES: Partial<Record<ErrorRuleProfile['code'], FailureReach>> = {
    PERIOD_NOT_SUPPORTED: 'question',
    OPERATOR_INVALID_REPLY: 'question',
    OPERATION_NOT_OFFERED: 'operation',
    OPERATOR_REFUSED: 'operation',
  };
  it.each(CODES)('%s: its own where the code allows it, or that of the code', (code) => {
    const reach = REACHES[code];
    expect(reachOf({ code })).toBe(reach ?? 'number');
    const said = reach === 'question' ? 'operation' : 'question';
    expect(reachOf({ code, reach: said })).toBe(reach === undefined ? 'number' : said);
  });
});
