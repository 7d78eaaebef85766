import { describe, expect, test } from 'vitest';
import { tellAbout, type Told } from './answers.ts';
import { startSimulated } from '../service.ts';

const FIELDS = [
  'lastSimSwap',
  'day: simSwappedWithin(maxAgeHours: 24)',
  'tenDays: simSwappedWithin',
  'all: simSwappedWithin(maxAgeHours: 2400)',
];

type Answers = Readonly<Record<string, Told>>;

/** What is asked, what is answered, and the lookups that it takes. */
const LINES: readonly [name: string, lastDigits: string, Answers, lookups: number][] = [
  [
    'swapped 3 days ago: the date may be an activation, so windows that hold it are checked',
    '002',
    { lastSimSwap: '72 h ago', day: false, tenDays: true, all: true },
    3,
  ],
  [
    'swapped 2 hours ago',
    '001',
    { lastSimSwap: '2 h ago', day: true, tenDays: true, all: true },
    3,
  ],
  [
    'never swapped: the date answers every window',
    '004',
    { lastSimSwap: '87600 h ago', day: false, tenDays: false, all: false },
    1,
  ],
  [
    'activated yesterday: the date is no swap',
    '005',
    { lastSimSwap: '24 h ago', day: false, tenDays: false, all: false },
    2,
  ],
  [
    'a withheld date is null without an error, and answers no window',
    '006',
    { lastSimSwap: null, day: false, tenDays: true, all: true },
    4,
  ],
  [
    'a withheld date with a monitored period answers the windows inside it',
    '008',
    { lastSimSwap: null, day: false, tenDays: false, all: false },
    1,
  ],
  [
    'unknown to the operator',
    '010',
    {
      lastSimSwap: 'NUMBER_NOT_SERVED',
      day: 'NUMBER_NOT_SERVED',
      tenDays: 'NUMBER_NOT_SERVED',
      all: 'NUMBER_NOT_SERVED',
    },
    0,
  ],
];

describe.each(['2-legged', '3-legged'])('over the wire, %s', (flow) => {
  test.each(LINES)('%s', async (_name, lastDigits, answers, lookups) => {
    await using service = await startSimulated({ OPERATOR_FLOW: flow });

    const heard = await tellAbout(service, `+447700900${lastDigits}`, ...FIELDS);

    expect(heard).toEqual(answers);
    const { prompts, tokens, reusedTokens, misusedTokens, ...stats } = service.stats();
    expect(stats.lookups).toBe(lookups);
    expect(tokens).toBe(stats.lookups + stats.refusedLookups);
    expect({ reusedTokens, misusedTokens }).toEqual({ reusedTokens: 0, misusedTokens: 0 });
    expect(prompts).toBe(flow === '3-legged' ? tokens : 0);
    expect(service.logged.join()).not.toContain('7700900');
  });

  test('an unknown number is turned away by a single lookup', async () => {
    await using service = await startSimulated({ OPERATOR_FLOW: flow });

    await tellAbout(service, '+447700900010', ...FIELDS);

    expect(service.stats()).toMatchObject({ refusedLookups: 1, tokens: 1 });
  });
});
