import { describe, expect, it } from 'vitest';
import type { ErrorRule } from '../../../src/http/errorMap.ts';
import { answerJson, type Answer } from '../../http/recordingServer.ts';
import { BOB } from '../../values.ts';
import { grant, type OperatorScript } from '../../wiredOperator.ts';
import { DeviatingOperator, type Deviation, type Short } from './deviatingOperator.ts';
import { all, withErrors } from './deviations.ts';

function answering(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (received, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    answerJson(received, response, body, status);
  };
}

function rule(status: number, code: ErrorRule['code'], more: Partial<ErrorRule> = {}): ErrorRule {
  return { status, code, reach: 'number', ...more };
}

/** Claro: an envelope of its own, beside CAMARA's. */
const CLARO = withErrors({
  wordAt: [['error', 'errorCode']],
  rules: [
    rule(451, 'NUMBER_NOT_SERVED'),
    rule(403, 'NUMBER_NOT_SERVED', { word: 'SIM-0042' }),
    rule(400, 'PERIOD_NOT_SUPPORTED', { word: '1077', reach: 'question' }),
  ],
});

/** Telefonica: one call about a number at a time. */
const CONFLICT = withErrors({
  rules: [rule(409, 'OPERATOR_UNAVAILABLE', { retryAfterSeconds: 1 })],
});

/** An operator with a word of its own, in CAMARA's form. */
const UNKNOWN_NUMBER = withErrors({
  rules: [rule(422, 'NUMBER_NOT_SERVED', { word: 'SIM_SWAP.UNKNOWN_NUMBER' })],
});

function claro(errorCode: unknown): object {
  return { apiVersion: '1', transactionId: 'T-1', error: { httpCode: '4xx', errorCode } };
}

const SECRET = 'PRIVATE-TEXT';

describe('an error of a lookup', () => {
  it.each<[string, Deviation, Answer, Short, number?]>([
    ['451', CLARO, answering(451, {}), 'NUMBER_NOT_SERVED'],
    [
      '451 without a body',
      CLARO,
      (received, response) => response.writeHead(451).end(),
      'NUMBER_NOT_SERVED',
    ],
    ['a word in an envelope', CLARO, answering(403, claro('SIM-0042')), 'NUMBER_NOT_SERVED'],
    ['another word in it', CLARO, answering(403, claro(SECRET)), 'OPERATOR_REFUSED'],
    ['the word with another status', CLARO, answering(404, claro('SIM-0042')), 'OPERATOR_REFUSED'],
    ['a number for a word', CLARO, answering(400, claro(1077)), 'PERIOD_NOT_SUPPORTED'],
    [
      'a word of CAMARA in an envelope',
      CLARO,
      answering(404, claro('SIM_SWAP.UNKNOWN_PHONE_NUMBER')),
      'NUMBER_NOT_SERVED',
    ],
    [
      'CAMARA’s own form, beside the envelope',
      CLARO,
      answering(404, { status: 404, code: 'IDENTIFIER_NOT_FOUND' }),
      'NUMBER_NOT_SERVED',
    ],
    [
      'a known word goes before one that is not',
      CLARO,
      answering(404, { code: 'IDENTIFIER_NOT_FOUND', ...claro(SECRET) }),
      'NUMBER_NOT_SERVED',
    ],
    [
      '409 retried a second later',
      CONFLICT,
      answering(409, { code: 'CONFLICT' }),
      'OPERATOR_UNAVAILABLE',
      1,
    ],
    [
      '409 that says when itself',
      CONFLICT,
      answering(409, {}, { 'retry-after': '7' }),
      'OPERATOR_UNAVAILABLE',
      7,
    ],
    ['409 of another operator', CLARO, answering(409, {}), 'OPERATOR_UNAVAILABLE'],
    [
      'a word of its own for a number that it does not serve',
      UNKNOWN_NUMBER,
      answering(422, { status: 422, code: 'SIM_SWAP.UNKNOWN_NUMBER' }),
      'NUMBER_NOT_SERVED',
    ],
    [
      'another word with that status',
      UNKNOWN_NUMBER,
      answering(422, { status: 422, code: SECRET }),
      'OPERATOR_REFUSED',
    ],
    [
      'a denial where no owner is asked is a refusal of ours',
      withErrors({ rules: [rule(403, 'CONSENT_DENIED')] }),
      answering(403, {}),
      'OPERATOR_REFUSED',
    ],
    [
      'the first rule that fits',
      withErrors({
        rules: [
          rule(403, 'NUMBER_NOT_SERVED', { word: 'A' }),
          rule(403, 'OPERATION_NOT_OFFERED', { reach: 'operation' }),
          rule(403, 'OPERATOR_TIMEOUT', { word: 'B' }),
        ],
      }),
      answering(403, { code: 'B' }),
      'OPERATION_NOT_OFFERED',
    ],
  ])('%s', async (_, deviation, lookUp, code, retryAfterSeconds) => {
    await using operator = await DeviatingOperator.start({ deviation, script: { lookUp } });
    const failure = await operator.failureOf({ maxAgeHours: 240 });
    expect(failure).toMatchObject(
      retryAfterSeconds === undefined ? { code } : { code, retryAfterSeconds },
    );
    expect(operator.wire.lookups).toHaveLength(1);
    expect(operator.logged.join('\n')).not.toContain(SECRET);
  });

  it('is named in the log by a word of CAMARA, or of the operator’s own rules, and no other', async () => {
    await using operator = await DeviatingOperator.start({
      deviation: withErrors({
        wordAt: [['fault', 'name']],
        rules: [rule(403, 'OPERATOR_REFUSED', { word: 'NO-CONTRACT' })],
      }),
      script: { lookUp: answering(403, { fault: { name: 'NO-CONTRACT' } }) },
    });
    await operator.ask();
    expect(operator.logged.join('\n')).toContain('"word":"NO-CONTRACT"');
    operator.wire.script = { lookUp: answering(403, { fault: { name: SECRET } }) };
    await operator.ask();
    expect(operator.logged.join('\n')).not.toContain(SECRET);
  });

  it('that applies to the number leaves no further question, whatever its reach says', async () => {
    await using operator = await DeviatingOperator.start({
      deviation: withErrors({ rules: [rule(403, 'OPERATOR_UNAVAILABLE', { reach: 'question' })] }),
      script: { lookUp: answering(403, {}) },
    });
    expect(await operator.askBoth()).toEqual(['OPERATOR_UNAVAILABLE', 'OPERATOR_UNAVAILABLE']);
    expect(operator.wire.lookups).toHaveLength(1);
  });

  it.each([500, 503, 408])('%d is not made again, whatever it is mapped to', async (status) => {
    await using operator = await DeviatingOperator.start({
      deviation: withErrors({
        rules: [rule(status, 'OPERATOR_UNAVAILABLE', { retryAfterSeconds: 1 })],
      }),
      script: { lookUp: answering(status, {}) },
    });
    expect(await operator.ask()).toBe('OPERATOR_UNAVAILABLE');
    expect(operator.wire.lookups).toHaveLength(1);
    expect(operator.wire.tokens).toHaveLength(1);
  });
});

describe('an answer with an error beside it is none', () => {
  it.each<[string, object, Short]>([
    ['a word', { swapped: false, resultado: { codigo: 'E77' } }, 'OPERATOR_INVALID_REPLY'],
    ['a number', { swapped: false, resultado: { codigo: 77 } }, 'OPERATOR_INVALID_REPLY'],
    [
      'a number as a text',
      { swapped: false, resultado: { codigo: '077' } },
      'OPERATOR_INVALID_REPLY',
    ],
    ['an object', { swapped: false, resultado: { codigo: {} } }, 'OPERATOR_INVALID_REPLY'],
    ['0', { swapped: false, resultado: { codigo: '00' } }, false],
    ['a status of success', { swapped: false, resultado: { codigo: 200 } }, false],
    ['nothing', { swapped: false, resultado: {} }, false],
    ['null', { swapped: false, resultado: { codigo: null } }, false],
  ])('%s', async (_, body, told) => {
    await using operator = await DeviatingOperator.start({
      deviation: withErrors({
        wordAt: [['resultado', 'codigo']],
        rules: [rule(400, 'NUMBER_NOT_SERVED')],
      }),
      script: { lookUp: answering(200, body) },
    });
    expect(await operator.ask({ maxAgeHours: 240 })).toBe(told);
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
  it.each<[string, OperatorScript, Short, Short]>([
    [
      'denied at the prompt',
      { authorize: answering(403, { code: 'USER.DENIED' }) },
      'CONSENT_DENIED',
      'CONSENT_DENIED',
    ],
    [
      'unknown at the prompt: nothing is left behind',
      { authorize: answering(404, { code: 'NO.LINE' }) },
      'NUMBER_NOT_SERVED',
      'another prompt',
    ],
    [
      'busy at the prompt: it may have rung',
      { authorize: answering(400, { code: 'BUSY' }) },
      'OPERATOR_UNAVAILABLE',
      'CONSENT_PENDING',
    ],
    [
      'too often at the prompt',
      { authorize: answering(400, { code: 'TOO.OFTEN' }) },
      'OPERATOR_RATE_LIMITED',
      'OPERATOR_RATE_LIMITED',
    ],
    [
      '503 at the prompt is a doubt, whatever it is mapped to',
      { authorize: answering(503, {}) },
      'OPERATOR_UNAVAILABLE',
      'CONSENT_PENDING',
    ],
    [
      '500 at the prompt is a doubt as well',
      { authorize: answering(500, {}) },
      'CONSENT_DENIED',
      'CONSENT_PENDING',
    ],
    [
      'denied at a poll',
      { token: answering(403, { code: 'USER.DENIED' }) },
      'CONSENT_DENIED',
      'CONSENT_DENIED',
    ],
    [
      'pending in CAMARA’s form',
      { token: answering(400, { code: 'authorization_pending' }) },
      'CONSENT_PENDING',
      'CONSENT_PENDING',
    ],
    [
      'pending, with a code of its own beside it',
      { token: answering(400, { code: 'USER.WAITS', error: 'authorization_pending' }) },
      'CONSENT_PENDING',
      'CONSENT_PENDING',
    ],
    [
      'busy at a poll: it goes on',
      { token: answering(400, { code: 'BUSY' }) },
      'CONSENT_PENDING',
      'CONSENT_PENDING',
    ],
    [
      'too often at a poll: it goes on',
      { token: answering(400, { code: 'TOO.OFTEN' }) },
      'CONSENT_PENDING',
      'CONSENT_PENDING',
    ],
    [
      '500 at a poll: it goes on, whatever it is mapped to',
      { token: answering(500, {}) },
      'CONSENT_PENDING',
      'CONSENT_PENDING',
    ],
    [
      '503 at a poll: it goes on, whatever it is mapped to',
      { token: answering(503, {}) },
      'CONSENT_PENDING',
      'CONSENT_PENDING',
    ],
  ])('%s', async (_, script, first, second) => {
    await using operator = await DeviatingOperator.start({
      flow: '3-legged',
      deviation: CAMARA_FORM,
      script,
    });
    const question = { maxAgeHours: 240, waitMs: 100 };
    expect(await operator.ask(question)).toBe(first);
    const again = await operator.ask(question);
    const [told, prompts] = second === 'another prompt' ? [first, 2] : [second, 1];
    expect(again).toBe(told);
    expect(operator.wire.prompts).toHaveLength(prompts);
  });

  it('that a lookup mapped to CONSENT_EXPIRED on a doubt does not prompt again at once', async () => {
    await using operator = await DeviatingOperator.start({
      flow: '3-legged',
      deviation: CAMARA_FORM,
      script: { lookUp: answering(503, {}) },
    });
    expect(await operator.ask({ maxAgeHours: 240 })).toBe('OPERATOR_UNAVAILABLE');
    expect(await operator.ask({ maxAgeHours: 240 })).toBe('OPERATOR_UNAVAILABLE');
    expect(operator.wire.prompts).toHaveLength(1);
  });
});

describe('an error of a token request', () => {
  it.each<[string, Deviation, Answer, Short, number]>([
    [
      'a line that is unknown',
      CAMARA_FORM,
      answering(404, { code: 'NO.LINE' }),
      'NUMBER_NOT_SERVED',
      1,
    ],
    ['a wrong address', CAMARA_FORM, answering(404, {}), 'OPERATOR_REFUSED', 1],
    [
      'an integer for a code',
      CAMARA_FORM,
      answering(401, { code: 401, message: SECRET }),
      'OPERATOR_REFUSED',
      1,
    ],
    [
      'a denial, where no owner is asked',
      CAMARA_FORM,
      answering(403, { code: 'USER.DENIED' }),
      'OPERATOR_REFUSED',
      1,
    ],
    [
      '503: a token is asked for twice at the most',
      CLARO,
      answering(503, {}),
      'OPERATOR_UNAVAILABLE',
      2,
    ],
  ])('%s', async (_, deviation, token, code, tokens) => {
    await using operator = await DeviatingOperator.start({ deviation, script: { token } });
    expect(await operator.ask()).toBe(code);
    expect(operator.wire.tokens).toHaveLength(tokens);
    expect(operator.wire.lookups).toEqual([]);
    expect(operator.logged.join('\n')).not.toContain(SECRET);
  });
});

/** Answers when told to, and counts how many lookups are on the wire. */
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

describe('two questions about one number at a time', () => {
  it.each<[string, Deviation, number]>([
    ['go side by side', (settings) => settings, 2],
    ['wait for each other at an operator that wants that', ONE_CALL, 1],
  ])('%s', async (_, deviation, most) => {
    const { answers, seen, script } = held();
    await using operator = await DeviatingOperator.start({ deviation, script });
    const asked = ['one', 'other'].map((caller) => operator.ask({ caller, maxAgeHours: 240 }));
    await expect.poll(() => seen.atOnce).toBe(most);
    for (let count = 0; count < 2; count += 1) {
      await expect.poll(() => answers.length).toBeGreaterThan(0);
      answers.shift()?.();
    }
    expect(await Promise.all(asked)).toEqual([false, false]);
    expect(seen.most).toBe(most);
  });

  it('keep no other number waiting, however many there are', async () => {
    const { answers, seen, script } = held();
    await using operator = await DeviatingOperator.start({
      deviation: all(ONE_CALL, (settings) => ({
        ...settings,
        limits: { ...settings.limits, permits: 2 },
      })),
      script,
    });
    const asked = Array.from({ length: 10 }, (_, index) =>
      operator.ask({ caller: `caller ${index}`, maxAgeHours: 240 }),
    );
    await expect.poll(() => seen.atOnce).toBe(1);
    const other = operator.ask({ number: BOB, maxAgeHours: 240 });
    await expect.poll(() => seen.atOnce).toBe(2);
    for (let count = 0; count < 11; count += 1) {
      await expect.poll(() => answers.length).toBeGreaterThan(0);
      answers.shift()?.();
    }
    expect(await Promise.all([...asked, other])).toEqual(Array(11).fill(false));
  });
});
