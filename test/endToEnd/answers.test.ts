import { describe, expect, test } from 'vitest';
import { tellAbout, type Told } from './answers.ts';
import { systemClock } from '../../src/system/clock.ts';
import { costs, startSimulated } from '../service.ts';

const FIELDS = [
  'lastSimSwap',
  'day: simSwappedWithin(maxAgeHours: 24)',
  'tenDays: simSwappedWithin',
  'all: simSwappedWithin(maxAgeHours: 2400)',
];

/** What is asked, what is answered to the fields, and the lookups that it takes. */
const LINES: readonly [
  name: string,
  lastDigits: string,
  answers: readonly Told[],
  lookups: number,
][] = [
  [
    'swapped 3 days ago: the date may be an activation, so windows that hold it are checked',
    '002',
    ['72 h ago', false, true, true],
    3,
  ],
  ['swapped 2 hours ago', '001', ['2 h ago', true, true, true], 3],
  ['never swapped: the date answers every window', '004', ['87600 h ago', false, false, false], 1],
  ['activated yesterday: the date is no swap', '005', ['24 h ago', false, false, false], 2],
  [
    'a withheld date is null without an error, and answers no window',
    '006',
    [null, false, true, true],
    4,
  ],
  [
    'a withheld date with a monitored period answers the windows inside it',
    '008',
    [null, false, false, false],
    1,
  ],
  ['unknown to the operator', '010', FIELDS.map(() => 'NUMBER_NOT_SERVED'), 1],
];

describe.each(['2-legged', '3-legged'])('over the wire, %s', (flow) => {
  test.each(LINES)('%s', async (_name, lastDigits, answers, lookups) => {
    await using service = await startSimulated({ OPERATOR_FLOW: flow });

    const heard = await tellAbout(service, `+447700900${lastDigits}`, ...FIELDS);

    expect(Object.values(heard)).toEqual(answers);
    expect(costs(service)).toEqual({ tokens: lookups, lookups });
    expect(service.stats()).toMatchObject({
      reusedTokens: 0,
      misusedTokens: 0,
      prompts: flow === '3-legged' ? lookups : 0,
    });
    expect(service.logged.join()).not.toContain('7700900');
  });
});

test('a clock that is 15 days ahead makes no `false` of a swap of three days ago', async () => {
  const aheadMs = 15 * 24 * 3_600_000;
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
  await using service = await startSimulated({}, {}, { clock });
  const fields = ['lastSimSwap', 'swapped: simSwappedWithin(maxAgeHours: 240)'];
  expect(await tellAbout(service, '+447700900002', ...fields)).toEqual({
    lastSimSwap: '72 h ago',
    swapped: true,
  });
  expect(service.stats()).toMatchObject({ lookups: 2 });
  expect(service.logged.join('\n')).toContain('The clocks of this machine and of the operator');
});
