import { describe, expect, it } from 'vitest';
import { answerJson } from '../../http/recordingServer.ts';
import { DeviatingOperator, type Deviation, type Short } from './deviatingOperator.ts';
import { all, AS_DOCUMENTED, IN_SECONDS, swappedAt, withDate } from './deviations.ts';

const DATE_ALONE: Deviation = (settings) => ({
  ...settings,
  operations: new Set(['retrieve-date']),
});

const SENTINELS: Deviation = withDate({
  sentinels: ['1900-01-01', '01-01-1900', '9999-12-31', ''],
});

const noSwapWithin = (days: number): Deviation =>
  withDate({ nullMeans: { noSwapWithinDays: days } });

/** The date, a window of 10 days and one of 100, each asked by a caller of its own. */
async function read(deviation: Deviation, body: object): Promise<readonly [Short, Short, Short]> {
  await using operator = await DeviatingOperator.start({
    deviation: all(DATE_ALONE, deviation),
    script: { lookUp: (received, response) => answerJson(received, response, body) },
  });
  return [
    await operator.ask(),
    await operator.ask({ maxAgeHours: 240 }),
    await operator.ask({ maxAgeHours: 2400 }),
  ];
}

const PERIOD = 'PERIOD_NOT_SUPPORTED';
const INVALID = 'OPERATOR_INVALID_REPLY';
const LONG_AGO = '2010-01-01T00:00:00Z';

const NONE = [null, PERIOD, PERIOD] as const;
const BAD = [INVALID, INVALID, INVALID] as const;
const RENAMED = withDate({ at: '/lastChange', monitoredPeriod: '/days' });
const UNTRUSTED: Deviation = (settings) => ({ ...settings, trustMonitoredPeriod: false });

const at = (latestSimChange: string | null, monitoredPeriod?: number): object => ({
  latestSimChange,
  monitoredPeriod,
});

describe('a date', () => {
  it.each<[string, Deviation, object, readonly [Short, Short, Short]]>([
    ['null', AS_DOCUMENTED, at(null), NONE],
    ['null, by contract no swap in 90 days', noSwapWithin(90), at(null), [null, false, PERIOD]],
    ['null, with a shorter period, which goes first', noSwapWithin(90), at(null, 5), NONE],
    ['null, with a longer one', noSwapWithin(5), at(null, 120), [null, false, false]],
    ['null, where no period is trusted', all(noSwapWithin(90), UNTRUSTED), at(null), NONE],
    ['a date, whatever null would mean', noSwapWithin(90), at(LONG_AGO), [LONG_AGO, false, false]],
    ['no date at all, whatever null would mean', noSwapWithin(90), {}, BAD],
    ['1900 of an operator without sentinels', AS_DOCUMENTED, at('1900-01-01T00:00:00Z'), BAD],
    ['1900-01-01', SENTINELS, at('1900-01-01'), NONE],
    ['its midnight', SENTINELS, at('1900-01-01T00:00:00Z'), NONE],
    ['without a zone', SENTINELS, at('1900-01-01 00:00:00'), NONE],
    ['01-01-1900', SENTINELS, at('01-01-1900'), NONE],
    ['the end of time', SENTINELS, at('9999-12-31T23:59:59Z'), NONE],
    ['an empty text', SENTINELS, at(''), NONE],
    ['the day after a sentinel', SENTINELS, at('1900-01-02T00:00:00Z'), BAD],
    ['digits after a sentinel', SENTINELS, at('1900-01-010'), BAD],
    ['a date of others', SENTINELS, at(LONG_AGO), [LONG_AGO, false, false]],
    [
      'a sentinel, by contract no swap in 90 days',
      all(SENTINELS, noSwapWithin(90)),
      at('1900-01-01T00:00:00Z'),
      [null, false, PERIOD],
    ],
    ['members of other names', RENAMED, { lastChange: null, days: 120 }, [null, false, false]],
    ['the documented member of an operator that has another', RENAMED, at(LONG_AGO), BAD],
    ['a period of the wrong type', RENAMED, { lastChange: null, days: '120' }, BAD],
  ])('%s', async (_, deviation, body, told) => {
    expect(await read(deviation, body)).toEqual(told);
  });
});

const SIM_SWAPPED: Deviation = swappedAt('/simSwapped');

describe('a window', () => {
  it.each<[string, Deviation, object, Short]>([
    ['true', SIM_SWAPPED, { simSwapped: true }, true],
    ['false', SIM_SWAPPED, { simSwapped: false }, false],
    ['a text', SIM_SWAPPED, { simSwapped: 'false' }, INVALID],
    ['the documented member', SIM_SWAPPED, { swapped: false }, INVALID],
    ['a member of every object', swappedAt('/constructor'), {}, INVALID],
    ['the member of another operator', AS_DOCUMENTED, { simSwapped: false }, INVALID],
  ])('%s', async (_, deviation, body, told) => {
    await using operator = await DeviatingOperator.start({
      deviation,
      script: { lookUp: (received, response) => answerJson(received, response, body) },
    });
    expect(await operator.ask({ maxAgeHours: 240 })).toBe(told);
  });
});

it('an operator with only retrieve-date is never asked to check', async () => {
  await using operator = await DeviatingOperator.start({ deviation: DATE_ALONE });
  expect(await operator.ask({ maxAgeHours: 240 })).toBe(false);
  expect(operator.wire.lookups.map(({ path }) => path)).toEqual(['/retrieve-date']);
});

it.each<[string, Deviation, number]>([
  ['hours', AS_DOCUMENTED, 168],
  ['seconds', IN_SECONDS, 604_800],
])('a bound on maxAge holds in %s', async (_, deviation, maxAge) => {
  await using operator = await DeviatingOperator.start({
    deviation: all(deviation, (settings) => ({ ...settings, maxAgeHours: 168 })),
  });
  expect(await operator.ask({ maxAgeHours: 168 })).toBe(false);
  expect(await operator.ask({ maxAgeHours: 169 })).toBe(PERIOD);
  expect(operator.wire.lookups.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    { phoneNumber: '+447700900001', maxAge },
  ]);
});
