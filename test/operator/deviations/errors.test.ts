import { describe, expect, it } from 'vitest';
import type { ErrorRuleProfile as ErrorRule } from '../../../src/domain/profile.ts';
import type { ErrorMap } from '../../../src/judging/errorMap.ts';
import { answerJson, type Answer } from '../../wire/recordingServer.ts';
import { jsonReply } from '../../wire/replies.ts';
import { START_MS } from '../../support/testClock.ts';
import { BOB, hours } from '../../support/values.ts';
import { grant, replying } from '../../support/wiredOperator.ts';
import { judgeCheck } from '../camara.ts';
import type { Short } from '../../support/severalOperators.ts';
import { DeviatingOperator, withErrors, type Deviation } from './deviatingOperator.ts';

/** A reply; without a body where none is named. */
type Told = readonly [status: number, body?: unknown, headers?: Record<string, string>];

const NOT_SERVED = 'NUMBER_NOT_SERVED';
const REFUSED = 'OPERATOR_REFUSED';
const UNAVAILABLE = 'OPERATOR_UNAVAILABLE';
const LIMITED = 'OPERATOR_RATE_LIMITED';
const DENIED = 'CONSENT_DENIED';
const WAITS = 'authorization_pending';
const PENDING = 'CONSENT_PENDING';
const NOT_FOUND = 'IDENTIFIER_NOT_FOUND';

function rule(status: number, code: ErrorRule['code'], more: Partial<ErrorRule> = {}): ErrorRule {
  return { status, code, reach: 'number', ...more };
}

/** Claro: an envelope of its own, beside CAMARA's. */
const CLARO: ErrorMap = {
  wordAt: [['error', 'errorCode']],
  rules: [
    rule(451, 'NUMBER_NOT_SERVED'),
    rule(403, 'NUMBER_NOT_SERVED', { word: 'SIM-0042' }),
    rule(400, 'PERIOD_NOT_SUPPORTED', { word: '1077', reach: 'question' }),
  ],
};

const ofRules = (...rules: readonly ErrorRule[]): ErrorMap => ({ wordAt: [], rules });

/** Telefonica: one call about a number at a time. */
const CONFLICT = ofRules(rule(409, UNAVAILABLE, { retryAfterSeconds: 1 }));

const THREE_RULES = ofRules(
  rule(403, NOT_SERVED, { word: 'A' }),
  rule(403, 'OPERATION_NOT_OFFERED', { reach: 'operation' }),
  rule(403, 'OPERATOR_TIMEOUT', { word: 'B' }),
);

function claro(errorCode: unknown): object {
  return { apiVersion: '1', transactionId: 'T-1', error: { httpCode: '4xx', errorCode } };
}

const SECRET = 'PRIVATE-TEXT';

describe('an error of a lookup', () => {
  it.each<[string, ErrorMap, Told, string, number?]>([
    ['451', CLARO, [451], NOT_SERVED],
    ['a word in an envelope', CLARO, [403, claro('SIM-0042')], NOT_SERVED],
    ['the word with another status', CLARO, [404, claro('SIM-0042')], REFUSED],
    ['a number as the word', CLARO, [400, claro(1077)], 'PERIOD_NOT_SUPPORTED'],
    ['a word of CAMARA in the envelope', CLARO, [404, claro(NOT_FOUND)], NOT_SERVED],
    ['409 with the wait of its rule', CONFLICT, [409, { code: 'CONFLICT' }], UNAVAILABLE, 1],
    ['409 with Retry-After', CONFLICT, [409, {}, { 'retry-after': '7' }], UNAVAILABLE, 7],
    ['a denial without a prompted owner', ofRules(rule(403, DENIED)), [403], REFUSED],
    ['the first rule that matches', THREE_RULES, [403, { code: 'B' }], 'OPERATION_NOT_OFFERED'],
  ])('%s', (_, errors, [status, body = '', headers], code, retryAfterSeconds) => {
    const exchange = { sentAtMs: START_MS, nowMs: START_MS, flow: '2-legged', errors } as const;
    const judged = judgeCheck(jsonReply(status, body, headers), exchange, hours(240));
    const seconds = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    expect(judged).toMatchObject({ failure: { code, ...seconds } });
  });

  it('is in the log by a word of CAMARA or of the operator’s own rules, never by another', async () => {
    await using operator = await DeviatingOperator.start({
      deviation: withErrors({
        wordAt: [['fault', 'name']],
        rules: [rule(403, 'OPERATOR_REFUSED', { word: 'NO-CONTRACT' })],
      }),
      script: { lookUp: replying({ fault: { name: 'NO-CONTRACT' } }, 403) },
    });
    await operator.ask();
    expect(operator.logged.join('\n')).toContain('"word":"NO-CONTRACT"');
    operator.wire.script = { lookUp: replying({ fault: { name: SECRET } }, 403) };
    await operator.ask();
    expect(operator.logged.join('\n')).not.toContain(SECRET);
  });

  it.each([500, 408])('%d is not retried, whatever code it is mapped to', async (status) => {
    await using operator = await DeviatingOperator.start({
      deviation: withErrors(ofRules(rule(status, UNAVAILABLE, { retryAfterSeconds: 1 }))),
      script: { lookUp: replying({}, status) },
    });
    expect(await operator.ask()).toBe('OPERATOR_UNAVAILABLE');
    expect(operator.wire.lookups).toHaveLength(1);
    expect(operator.wire.tokens).toHaveLength(1);
  });
});

/** Telefonica's authorization server answers with CAMARA's form. */
const CAMARA_FORM = withErrors({
  wordAt: [['code']],
  rules: [
    rule(403, 'CONSENT_DENIED', { word: 'USER.DENIED' }),
    rule(400, 'OPERATOR_UNAVAILABLE', { word: 'BUSY', retryAfterSeconds: 3 }),
    rule(400, 'OPERATOR_RATE_LIMITED', { word: 'TOO.OFTEN', retryAfterSeconds: 45 }),
    rule(404, 'NUMBER_NOT_SERVED', { word: 'NO.LINE' }),
    rule(503, 'CONSENT_EXPIRED'),
    rule(500, 'CONSENT_DENIED'),
  ],
});

describe('an error of a consent', () => {
  it.each<[string, 'authorize' | 'token', Told, Short, Short]>([
    ['denied', 'authorize', [403, { code: 'USER.DENIED' }], DENIED, DENIED],
    [
      'unknown: the next request prompts',
      'authorize',
      [404, { code: 'NO.LINE' }],
      NOT_SERVED,
      'again',
    ],
    ['busy: it may have rung', 'authorize', [400, { code: 'BUSY' }], UNAVAILABLE, PENDING],
    ['too often', 'authorize', [400, { code: 'TOO.OFTEN' }], LIMITED, LIMITED],
    ['500: a doubt, whatever the rule says', 'authorize', [500, {}], DENIED, PENDING],
    ['denied', 'token', [403, { code: 'USER.DENIED' }], DENIED, DENIED],
    ['pending in CAMARA’s form', 'token', [400, { code: WAITS }], PENDING, PENDING],
    ['busy: polls continue', 'token', [400, { code: 'BUSY' }], PENDING, PENDING],
    ['too often: polls continue', 'token', [400, { code: 'TOO.OFTEN' }], PENDING, PENDING],
    ['500: polls continue, whatever the rule says', 'token', [500, {}], PENDING, PENDING],
  ])('%s, at %s', async (_, endpoint, [status, body], first, second) => {
    await using operator = await DeviatingOperator.start({
      flow: '3-legged',
      deviation: CAMARA_FORM,
      script: { [endpoint]: replying(body, status) },
    });
    // A reply to a prompt ends the request; polls continue until the patience is over.
    const waitMs = endpoint === 'authorize' ? 5000 : 100;
    const question = { maxAgeHours: 240, waitMs };
    expect(await operator.ask(question)).toBe(first);
    const again = await operator.ask(question);
    const [told, prompts] = second === 'again' ? [first, 2] : [second, 1];
    expect(again).toBe(told);
    expect(operator.wire.prompts).toHaveLength(prompts);
    // The second poll waits for the interval.
    expect(operator.wire.tokens.length).toBeLessThan(2);
  });

  it('prompts no owner again when a rule maps a doubtful lookup to CONSENT_EXPIRED', async () => {
    await using operator = await DeviatingOperator.start({
      flow: '3-legged',
      deviation: CAMARA_FORM,
      script: { lookUp: replying({}, 503) },
    });
    expect(await operator.ask({ maxAgeHours: 240 })).toBe('OPERATOR_UNAVAILABLE');
    expect(await operator.ask({ maxAgeHours: 240 })).toBe('OPERATOR_UNAVAILABLE');
    expect(operator.wire.prompts).toHaveLength(1);
  });
});

describe('an error of a token request', () => {
  it.each<[string, Told, Short, number]>([
    ['an unknown line', [404, { code: 'NO.LINE' }], NOT_SERVED, 1],
    ['a denial without a prompted owner', [403, { code: 'USER.DENIED' }], REFUSED, 1],
    ['504: at most one retry', [504, {}], UNAVAILABLE, 2],
  ])('%s', async (_, [status, body], code, tokens) => {
    const script = { token: replying(body, status) };
    await using operator = await DeviatingOperator.start({ deviation: CAMARA_FORM, script });
    expect(await operator.ask()).toBe(code);
    expect(operator.wire.tokens).toHaveLength(tokens);
    expect(operator.wire.lookups).toEqual([]);
  });
});

/** Answers when the test says so, and counts how many lookups are on the wire. */
function held() {
  const answers: (() => void)[] = [];
  const seen = { atOnce: 0, most: 0 };
  const lookUp: Answer = (received, response) => {
    seen.atOnce += 1;
    seen.most = Math.max(seen.most, seen.atOnce);
    answers.push(() => {
      seen.atOnce -= 1;
      answerJson(received, response, { swapped: false });
    });
  };
  return { answers, seen, script: { lookUp, token: grant } };
}

const ONE_CALL: Deviation = (settings) => ({ ...settings, oneCallPerNumber: true });

describe('requests about one number at the same time', () => {
  it.each<[string, Deviation, before: number, most: number]>([
    ['run in parallel', (settings) => settings, 2, 2],
    ['run in sequence with oneCallPerNumber, beside those about other numbers', ONE_CALL, 1, 2],
  ])('%s', async (_, way, before, most) => {
    const { answers, seen, script } = held();
    const deviation: Deviation = (settings) =>
      way({ ...settings, limits: { ...settings.limits, connections: most } });
    await using operator = await DeviatingOperator.start({ deviation, script });
    const asked = Array.from({ length: 10 }, (__, index) =>
      operator.ask({ caller: `caller ${index}`, maxAgeHours: 240 }),
    );
    await expect.poll(() => seen.atOnce).toBe(before);
    const other = operator.ask({ number: BOB, maxAgeHours: 240 });
    await expect.poll(() => seen.atOnce).toBe(most);
    for (let count = 0; count < 11; count += 1) {
      await expect.poll(() => answers.length).toBeGreaterThan(0);
      answers.shift()?.();
    }
    expect(await Promise.all([...asked, other])).toEqual(Array(11).fill(false));
    expect(seen.most).toBe(most);
  });
});
