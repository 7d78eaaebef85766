import fc from 'fast-check';
import { COMMON_ERRORS } from '../../src/judging/errorMap.ts';
import { describe, expect, it } from 'vitest';
import type { ReplyFlaw } from '../../src/wire/exchange.ts';
import { camara } from '../../profiles/camara.ts';
import type { DateReading, SwappedReading } from '../../src/domain/profile.ts';
import type { Fact } from '../../src/domain/fact.ts';
import { judgeLookup, type Judgement } from '../../src/operator/responses.ts';
import { judgeCheck, judgeRetrieveDate } from './camara.ts';
import { jsonReply } from '../wire/replies.ts';
import { START_MS } from '../support/testClock.ts';
import { ALICE, hours } from '../support/values.ts';

const EXCHANGE = {
  sentAtMs: START_MS - 200,
  nowMs: START_MS,
  flow: '2-legged',
  errors: COMMON_ERRORS,
} as const;
const WINDOW = hours(240);
const INVALID = { kind: 'failed', failure: { code: 'OPERATOR_INVALID_REPLY', reach: 'question' } };

function atMs(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

describe('judgeCheck', () => {
  it.each([true, false])('reads swapped: %s', (swapped) => {
    expect(judgeCheck(jsonReply(200, { swapped }), EXCHANGE, WINDOW)).toEqual({
      kind: 'answered',
      facts: [{ operation: 'check', maxAgeHours: 240, swapped, sentAtMs: EXCHANGE.sentAtMs }],
    });
  });

  it('ignores members that it does not know', () => {
    const reply = jsonReply(200, { swapped: true, latestSimChange: 'nonsense', extra: [1] });
    expect(judgeCheck(reply, EXCHANGE, WINDOW)).toMatchObject({ facts: [{ swapped: true }] });
  });

  it.each([
    ['failed', ['E77', 77, '077', {}]],
    ['answered', ['00', 200, undefined, null]],
  ])('is %s with these where the operator names its errors: %j', (kind, words) => {
    const errors = { wordAt: [['resultado', 'codigo']], rules: [] };
    for (const codigo of words) {
      const reply = jsonReply(200, { swapped: false, resultado: { codigo } });
      expect(judgeCheck(reply, { ...EXCHANGE, errors }, WINDOW).kind).toBe(kind);
    }
  });

  const TYPE = 'wrong type of swapped';

  it.each<[string, unknown, ReplyFlaw]>([
    ['"false"', { swapped: 'false' }, TYPE],
    ['null', { swapped: null }, TYPE],
    ['missing', {}, TYPE],
    ['under another name', { Swapped: false }, TYPE],
    ['in an inner object', { data: { swapped: false } }, TYPE],
    ['beside an error', { swapped: true, error: 'x' }, 'an error with the answer'],
  ])('takes no answer from swapped: %s', (_, body, flaw) => {
    expect(judgeCheck(jsonReply(200, body), EXCHANGE, WINDOW)).toEqual({ ...INVALID, flaw });
  });
});

describe('a reply about +447700900001 that names a number', () => {
  it.each<[unknown, boolean]>([
    ['+447700900001', true],
    ['tel:+44 7700 900001', true],
    ['447700900001', true],
    ['07700 900001', true],
    ['+44*******001', true],
    ['', true],
    [null, true],
    [{ value: '+447700900999' }, true],
    ['+447700900999', false],
    ['tel:+447700900999', false],
  ])('%j is believed: %s', (stated, isBelieved) => {
    const reply = (body: object) => jsonReply(200, { ...body, phoneNumber: stated });
    const exchange = { ...EXCHANGE, number: ALICE };
    const judged = [
      judgeCheck(reply({ swapped: false }), exchange, WINDOW),
      judgeRetrieveDate(reply({ latestSimChange: null }), exchange),
    ];
    const expected = isBelieved ? { kind: 'answered' } : { ...INVALID, flaw: 'another number' };
    expect(judged).toMatchObject([expected, expected]);
  });
});

function judgeDateBody(body: unknown) {
  return judgeRetrieveDate(jsonReply(200, body), EXCHANGE);
}

describe('judgeRetrieveDate', () => {
  it('reads a date, and keeps it as it was written', () => {
    const text = '2026-01-10T08:30:00.123456789+02:00';
    expect(judgeDateBody({ latestSimChange: text })).toEqual({
      kind: 'answered',
      facts: [
        {
          operation: 'retrieve-date',
          latestSimChange: { text, epochMs: Date.UTC(2026, 0, 10, 6, 30, 0, 123) },
          sentAtMs: EXCHANGE.sentAtMs,
        },
      ],
    });
  });

  it.each<[string, string]>([
    ['now', atMs(START_MS)],
    ['5 minutes ahead, since clocks differ', atMs(START_MS + 300_000)],
    ['the first day of 1991', '1991-01-01T00:00:00Z'],
  ])('reads a date of %s', (_, latestSimChange) => {
    expect(judgeDateBody({ latestSimChange })).toMatchObject({
      kind: 'answered',
      facts: [{ latestSimChange: { text: latestSimChange } }],
    });
  });

  it.each<[string, unknown, unknown]>([
    ['a null date', { latestSimChange: null }, undefined],
    ['a null date with a period', { latestSimChange: null, monitoredPeriod: 120 }, 120],
    ['a null date with a period of no days', { latestSimChange: null, monitoredPeriod: 0 }, 0],
    ['a null date with a null period', { latestSimChange: null, monitoredPeriod: null }, undefined],
    ['a date with a period', { latestSimChange: '2026-01-10T08:30:00Z', monitoredPeriod: 90 }, 90],
  ])('reads %s', (_, body, monitoredPeriodDays) => {
    const judged = judgeDateBody(body);
    const facts = judged.kind === 'answered' ? judged.facts : [];
    expect(
      facts.map((fact) => ('monitoredPeriodDays' in fact ? fact.monitoredPeriodDays : undefined)),
    ).toEqual([monitoredPeriodDays]);
  });

  const TYPE = 'wrong type of latestSimChange';
  const FORM = 'date not in RFC 3339';

  it.each<[string, unknown, ReplyFlaw]>([
    ['missing', undefined, TYPE],
    ['0', 0, TYPE],
    ['a date alone', '2026-01-10', FORM],
    ['without a zone', '2026-01-10T08:30:00', 'date without a zone'],
    ['a millisecond more than 5 minutes ahead', atMs(START_MS + 300_001), 'date ahead'],
    ['the last second of 1990', '1990-12-31T23:59:59.999Z', 'date before 1991'],
  ])('takes no answer from latestSimChange: %s', (_, latestSimChange, flaw) => {
    expect(judgeDateBody({ latestSimChange })).toEqual({ ...INVALID, flaw });
  });

  it.each([['120'], [-1], [90.5], [true], [[90]], [36_501], [1e308]])(
    'takes no answer beside a monitoredPeriod of %j',
    (monitoredPeriod) => {
      const flaw = 'wrong type of monitoredPeriod';
      for (const latestSimChange of [null, '2026-01-10T08:30:00Z']) {
        const judged = judgeDateBody({ latestSimChange, monitoredPeriod });
        expect(judged).toEqual({ ...INVALID, flaw });
      }
    },
  );
});

/** Null, or a date that may be true. */
function isInBounds(date: unknown): boolean {
  const epochMs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return date === null || (epochMs >= Date.UTC(1991, 0, 1) && epochMs <= START_MS + 300_000);
}

function iso(range: { min?: Date; max?: Date }): fc.Arbitrary<string> {
  return fc.date({ ...range, noInvalidDate: true }).map((date) => date.toISOString());
}

describe('whatever the reply, an answer is a 200 with JSON', () => {
  const sane = iso({ min: new Date('1991-01-01'), max: new Date(START_MS) });

  it.each([
    ['swapped', 'a boolean', fc.boolean(), (said: unknown) => typeof said === 'boolean'],
    [
      'latestSimChange',
      'null or a date in its bounds',
      fc.oneof(fc.constant(null), iso({}), sane),
      isInBounds,
    ],
  ] as const)('and in %s %s', (name, _, right, isRight) => {
    fc.assert(
      fc.property(anyStatus(), anyBody(name, right), (status, body) => {
        const reply = jsonReply(status, body);
        const judged =
          name === 'swapped'
            ? judgeCheck(reply, EXCHANGE, WINDOW)
            : judgeRetrieveDate(reply, EXCHANGE);
        const said = member(body, name);
        const isAnswer = judged.kind === 'answered';
        expect(isAnswer && !(status === 200 && isRight(said))).toBe(false);
        // Dates may have other forms as well.
        const isSure = name === 'swapped' ? isRight(said) : said === null;
        expect(status === 200 && isSure && !isAnswer).toBe(false);
      }),
      { numRuns: 5_000 },
    );
  });
});

function at(latestSimChange: unknown, monitoredPeriod?: number): object {
  return { latestSimChange, monitoredPeriod };
}

/** A date in short: its text, or the period without one, or the flaw. */
function toldBy(judged: Judgement<Fact>): string | undefined {
  if (judged.kind === 'failed') return judged.flaw;
  const [fact] = judged.facts;
  if (fact?.operation !== 'retrieve-date') return undefined;
  const { latestSimChange, monitoredPeriodDays: days } = fact;
  return latestSimChange?.text ?? (days === undefined ? 'none' : `none in ${days} days`);
}

describe('a date as a profile describes it', () => {
  const { date: own } = camara.lookups['retrieve-date'].read;
  if (own === undefined) throw new Error('CAMARA has a date.');
  const LONG_AGO = '2010-01-01T00:00:00Z';
  const FORM = 'date in another form';
  const SENTINELS = { sentinels: ['1900-01-01', '01-01-1900', '9999-12-31', ''] };
  const BY_CONTRACT = { nullMeans: { noSwapWithinDays: 90 } };
  const RENAMED = { at: '/lastChange', monitoredPeriod: '/days' } as const;

  it.each<[string, Partial<DateReading>, object, string]>([
    ['null', {}, at(null), 'none'],
    ['null, by contract', BY_CONTRACT, at(null), 'none in 90 days'],
    ['null, with a period of its own', BY_CONTRACT, at(null, 5), 'none in 5 days'],
    ['a date, whatever null would mean', BY_CONTRACT, at(LONG_AGO), LONG_AGO],
    ['nothing, whatever null would mean', BY_CONTRACT, {}, 'wrong type of latestSimChange'],
    ['a sentinel', SENTINELS, at('1900-01-01'), 'none'],
    ['its midnight', SENTINELS, at('1900-01-01T00:00:00Z'), 'none'],
    ['without a zone', SENTINELS, at('1900-01-01 00:00:00'), 'none'],
    ['the end of time', SENTINELS, at('9999-12-31T23:59:59Z'), 'none'],
    ['an empty text', SENTINELS, at(''), 'none'],
    ['the day after a sentinel', SENTINELS, at('1900-01-02T00:00:00Z'), 'date before 1991'],
    ['digits after a sentinel', SENTINELS, at('1900-01-010'), 'date not in RFC 3339'],
    ['a date beside sentinels', SENTINELS, at(LONG_AGO), LONG_AGO],
    ['a sentinel, by contract', { ...SENTINELS, ...BY_CONTRACT }, at(''), 'none in 90 days'],
    ['other members', RENAMED, { lastChange: null, days: 120 }, 'none in 120 days'],
    ['the member of others', RENAMED, at(LONG_AGO), 'wrong type of latestSimChange'],
    ['a wrong period', RENAMED, { lastChange: null, days: '1' }, 'wrong type of monitoredPeriod'],
    ['UTC without a zone', { form: 'utc' }, at('2026-01-10T08:30:00'), '2026-01-10T08:30:00Z'],
    ['UTC with a space', { form: 'utc' }, at('2026-01-10 08:30:00'), '2026-01-10T08:30:00Z'],
    ['UTC with a zone', { form: 'utc' }, at('2026-01-10T08:30:00Z'), FORM],
    ['a day', { form: 'day' }, at('2026-01-10'), '2026-01-10T00:00:00Z'],
    ['a day that is a number', { form: 'day' }, at(20_260_110), 'wrong type of latestSimChange'],
    ['seconds', { form: 'epoch-seconds' }, at(1_262_304_000), '2010-01-01T00:00:00.000Z'],
    [
      'milliseconds',
      { form: 'epoch-milliseconds' },
      at(1_262_304_000_000),
      '2010-01-01T00:00:00.000Z',
    ],
    ['no moment', { form: 'epoch-milliseconds' }, at(1e300), FORM],
  ])('%s', (_, date, body, told) => {
    const exchange = { ...EXCHANGE, reading: { date: { ...own, ...date } } };
    const judged = judgeLookup(jsonReply(200, body), exchange, { operation: 'retrieve-date' });
    expect(toldBy(judged)).toBe(told);
  });
});

describe('a window as a profile describes it', () => {
  it.each<[Partial<SwappedReading>, object, boolean | undefined]>([
    [{ at: '/simSwapped' }, { simSwapped: true }, true],
    [{ at: '/simSwapped' }, { swapped: false }, undefined],
    [{ at: '/constructor' }, {}, undefined],
    [{ true: 'Y', false: 'N' }, { swapped: 'N' }, false],
    [{ true: 'Y', false: 'N' }, { swapped: false }, undefined],
  ])('%j of %j', (reading, body, swapped) => {
    const own = { at: '/swapped', true: true, false: false, window: 'asked' } as const;
    const exchange = { ...EXCHANGE, reading: { swapped: { ...own, ...reading } } };
    const lookup = { operation: 'check', maxAgeHours: WINDOW } as const;
    const judged = judgeLookup(jsonReply(200, body), exchange, lookup);
    expect(judged).toMatchObject(swapped === undefined ? INVALID : { facts: [{ swapped }] });
  });
});

it.each<[string, boolean, number | undefined]>([
  ['PT48H', false, 48],
  // An example from Twilio's docs.
  ['PT15282H33M44S', false, 2400],
  ['PT15282H33M44S', true, undefined],
  ['PT47H30M', false, 47],
  ['PT47H30M', true, 48],
  ['PT47H0M1S', true, 48],
  ['P2D', false, 48],
  ['P1W', true, 168],
  ['P1DT12H', false, 36],
  ['PT30M', false, undefined],
  ['PT30M', true, 1],
])("the operator's own window %s with %s answers %s hours", (period, swapped, maxAgeHours) => {
  const reading = {
    swapped: { at: '/swapped', true: true, false: false, window: '/period' },
  } as const;
  const lookup = { operation: 'check', maxAgeHours: WINDOW } as const;
  const judged = judgeLookup(jsonReply(200, { swapped, period }), { ...EXCHANGE, reading }, lookup);
  expect(judged).toMatchObject({
    facts: maxAgeHours === undefined ? [] : [{ maxAgeHours, swapped }],
    closed: { lookup, failure: { code: 'PERIOD_NOT_SUPPORTED', reach: 'operation' } },
  });
});

it.each([
  [403, { error: 'access_denied' }],
  [401, { code: 'AUTHENTICATION_REQUIRED' }],
])("%d with %j that may be another request's is not remembered", (status, body) => {
  const asked = { ...EXCHANGE, flow: '3-legged', isUnproven: true } as const;
  const judged = judgeCheck(jsonReply(status, body), asked, WINDOW);
  expect(judged).toEqual({ ...INVALID, flaw: 'no correlator' });
});

describe('a refused lookup keeps owners from being prompted', () => {
  it.each<[number, unknown, number | undefined]>([
    [401, { code: 'UNAUTHENTICATED' }, 2],
    [403, { error: 'insufficient_scope' }, 2],
    [404, { error: 'Not Found' }, 2],
    [405, {}, 2],
    [302, {}, 2],
    // It may be about a number.
    [403, { code: 'PERMISSION_DENIED' }, 6],
    [403, {}, 6],
    [412, { code: 'FAILED_PRECONDITION' }, 6],
    [409, { code: 'ABORTED' }, undefined],
    [422, { code: 'UNSUPPORTED_IDENTIFIER' }, undefined],
    [422, {}, undefined],
  ])('%d with %j: after %s numbers', (status, body, barsAfterNumbers) => {
    const judged = judgeCheck(jsonReply(status, body), { ...EXCHANGE, flow: '3-legged' }, WINDOW);
    const { failure } = judged as Extract<Judgement<Fact>, { kind: 'failed' }>;
    expect(failure.barsAfterNumbers).toBe(barsAfterNumbers);
  });
});

it.each([
  ['UNSUPPORTED_IDENTIFIER', 'about the kind of identifier', 'OPERATOR_REFUSED', 'operation'],
  ['NOT_SUPPORTED', 'about the number', 'NUMBER_NOT_SERVED', 'number'],
])('422 %s is %s: %s', (code, _, expected, reach) => {
  const reply = jsonReply(422, { status: 422, code });
  const failed = { kind: 'failed', failure: { code: expected, reach } };
  expect(judgeCheck(reply, EXCHANGE, WINDOW)).toMatchObject(failed);
  expect(judgeRetrieveDate(reply, EXCHANGE)).toMatchObject(failed);
});

it('a refusal is not an answer, even if its body has one', () => {
  const reply = jsonReply(500, { swapped: false, latestSimChange: null });
  expect(judgeCheck(reply, EXCHANGE, WINDOW)).not.toHaveProperty('facts');
  expect(judgeRetrieveDate(reply, EXCHANGE)).not.toHaveProperty('facts');
});

function anyStatus(): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(200) },
    { weight: 1, arbitrary: fc.integer({ min: 200, max: 599 }) },
  );
}

/** Any JSON, and often an object whose member is nearly or quite right. */
function anyBody(name: string, right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(
    fc.jsonValue(),
    fc.jsonValue().map((value) => ({ [name]: value })),
    right.map((value) => ({ [name]: value })),
  );
}

function member(body: unknown, name: string): unknown {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  return isObject ? (body as Record<string, unknown>)[name] : undefined;
}
