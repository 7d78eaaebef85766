import { describe, expect, it } from 'vitest';
import { answerJson } from '../../http/recordingServer.ts';
import { DeviatingOperator, type Deviation, type Short } from './deviatingOperator.ts';
import { all, AS_DOCUMENTED, IN_SECONDS, withDate, withMembers } from './deviations.ts';

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

describe('a date', () => {
  it.each<[string, Deviation, object, readonly [Short, Short, Short]]>([
    ['null', AS_DOCUMENTED, { latestSimChange: null }, [null, PERIOD, PERIOD]],
    [
      'null, by contract no swap in 90 days',
      noSwapWithin(90),
      { latestSimChange: null },
      [null, false, PERIOD],
    ],
    [
      'null, by contract no swap in 90 days, and a shorter period beside it, which goes first',
      noSwapWithin(90),
      { latestSimChange: null, monitoredPeriod: 5 },
      [null, PERIOD, PERIOD],
    ],
    [
      'null, by contract no swap in 5 days, and a longer period beside it, which goes first',
      noSwapWithin(5),
      { latestSimChange: null, monitoredPeriod: 120 },
      [null, false, false],
    ],
    [
      'null, by contract no swap in 90 days, where no period is trusted',
      all(noSwapWithin(90), (settings) => ({ ...settings, trustMonitoredPeriod: false })),
      { latestSimChange: null },
      [null, PERIOD, PERIOD],
    ],
    [
      'a date, whatever null would mean',
      noSwapWithin(90),
      { latestSimChange: LONG_AGO },
      [LONG_AGO, false, false],
    ],
    ['no date at all, whatever null would mean', noSwapWithin(90), {}, [INVALID, INVALID, INVALID]],
    [
      '1900 of an operator without sentinels',
      AS_DOCUMENTED,
      { latestSimChange: '1900-01-01T00:00:00Z' },
      [INVALID, INVALID, INVALID],
    ],
    ['1900-01-01', SENTINELS, { latestSimChange: '1900-01-01' }, [null, PERIOD, PERIOD]],
    [
      'its midnight',
      SENTINELS,
      { latestSimChange: '1900-01-01T00:00:00Z' },
      [null, PERIOD, PERIOD],
    ],
    [
      'without a zone',
      SENTINELS,
      { latestSimChange: '1900-01-01 00:00:00' },
      [null, PERIOD, PERIOD],
    ],
    ['01-01-1900', SENTINELS, { latestSimChange: '01-01-1900' }, [null, PERIOD, PERIOD]],
    [
      'the end of time',
      SENTINELS,
      { latestSimChange: '9999-12-31T23:59:59Z' },
      [null, PERIOD, PERIOD],
    ],
    ['an empty text', SENTINELS, { latestSimChange: '' }, [null, PERIOD, PERIOD]],
    [
      'the day after a sentinel',
      SENTINELS,
      { latestSimChange: '1900-01-02T00:00:00Z' },
      [INVALID, INVALID, INVALID],
    ],
    [
      'digits after a sentinel',
      SENTINELS,
      { latestSimChange: '1900-01-010' },
      [INVALID, INVALID, INVALID],
    ],
    ['a date of others', SENTINELS, { latestSimChange: LONG_AGO }, [LONG_AGO, false, false]],
    [
      'a sentinel, by contract no swap in 90 days',
      all(SENTINELS, noSwapWithin(90)),
      { latestSimChange: '1900-01-01T00:00:00Z' },
      [null, false, PERIOD],
    ],
    [
      'members of other names',
      withMembers({ latestSimChange: 'lastChange', monitoredPeriod: 'days' }),
      { lastChange: null, days: 120 },
      [null, false, false],
    ],
    [
      'the documented member of an operator that has another',
      withMembers({ latestSimChange: 'lastChange' }),
      { latestSimChange: LONG_AGO },
      [INVALID, INVALID, INVALID],
    ],
    [
      'a period of the wrong type',
      withMembers({ monitoredPeriod: 'days' }),
      { latestSimChange: null, days: '120' },
      [INVALID, INVALID, INVALID],
    ],
  ])('%s', async (_, deviation, body, told) => {
    expect(await read(deviation, body)).toEqual(told);
  });
});

const SIM_SWAPPED: Deviation = withMembers({ swapped: 'simSwapped' });

describe('a window', () => {
  it.each<[string, Deviation, object, Short]>([
    ['true', SIM_SWAPPED, { simSwapped: true }, true],
    ['false', SIM_SWAPPED, { simSwapped: false }, false],
    ['a text', SIM_SWAPPED, { simSwapped: 'false' }, INVALID],
    ['the documented member', SIM_SWAPPED, { swapped: false }, INVALID],
    ['a member of every object', withMembers({ swapped: 'constructor' }), {}, INVALID],
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
    deviation: all(deviation, (settings) => ({
      ...settings,
      maxAgeHours: 168,
    })),
  });
  expect(await operator.ask({ maxAgeHours: 168 })).toBe(false);
  expect(await operator.ask({ maxAgeHours: 169 })).toBe(PERIOD);
  expect(operator.wire.lookups.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    { phoneNumber: '+447700900001', maxAge },
  ]);
});
