import { describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../../simulator/simulator.ts';
import { CHECK_SCOPE, DATE_SCOPE, poll, read, requestConsent, requestToken } from './client.ts';

const START_MS = Date.UTC(2026, 0, 31);
const HOUR_MS = 3_600_000;
const TOKEN_LIFE_MS = 60_000;

/** What the scenarios call a phone number, and the test number that fits. */
const LINES = {
  'swapped 2 h ago': '+447700900001',
  'swapped 72 h ago': '+447700900002',
  'swapped 960 h ago': '+447700900003',
  'never swapped, activated 10 years ago': '+447700900004',
  'swapped 72 h ago, limited to 168 h': '+447700900009',
  'swapped before the history begins': '+447700900006',
  unknown: '+447700900099',
  'of a kind that is not served': '+447700900011',
  malformed: '0044 7700 900004',
} as const;

type Line = keyof typeof LINES;

/** What the request shows for itself: a token of either flow, or something in its place. */
type Shows =
  | 'a 2-legged token'
  | 'a 3-legged token'
  | 'a token of another number'
  | 'an expired token'
  | 'an invalid token'
  | 'nothing';

/** A scenario of CAMARA's test definitions, as a request to the simulator and what must come. */
interface Scenario {
  /** Its tag, without the operation's prefix. */
  readonly tag: string;
  readonly line: Line;
  readonly shows?: Shows;
  readonly maxAge?: unknown;
  /** Whether the body names the number: with a 2-legged token it does unless it is said. */
  readonly namesNumber?: boolean;
  readonly expected: string;
}

const NEVER: Line = 'never swapped, activated 10 years ago';

const CHECKS: readonly Scenario[] = [
  { tag: '1_generic_success_scenario', line: NEVER, expected: '200 swapped: false' },
  { tag: '2_valid_sim_swap_no_max_age', line: 'swapped 72 h ago', expected: '200 swapped: true' },
  ...[260, 120].map((maxAge): Scenario => {
    const line = 'swapped 72 h ago';
    return { tag: '3_valid_sim_swap_max_age', line, maxAge, expected: '200 swapped: true' };
  }),
  ...[24, 12].map((maxAge): Scenario => {
    const line = 'swapped 2 h ago';
    return { tag: '3_valid_sim_swap_max_age', line, maxAge, expected: '200 swapped: true' };
  }),
  {
    tag: '3_valid_sim_swap_max_age, equal',
    line: 'swapped 72 h ago',
    maxAge: 72,
    expected: '200 swapped: true',
  },
  { tag: '4_more_than_240_hours', line: 'swapped 960 h ago', expected: '200 swapped: false' },
  {
    tag: '5_out_of_max_age',
    line: 'swapped 72 h ago',
    maxAge: 71,
    expected: '200 swapped: false',
  },
  { tag: '6_no_sim_swap_no_max_age', line: NEVER, expected: '200 swapped: false' },
  ...[260, 120, 24, 12].map((hours): Scenario => {
    const tag = '7_no_sim_swap_with_max_age';
    return { tag, line: NEVER, maxAge: hours - 1, expected: '200 swapped: false' };
  }),
];

const DATES: readonly Scenario[] = [
  { tag: '1_generic_success_scenario', line: NEVER, expected: '200 latestSimChange: 87600 h ago' },
  {
    tag: '2_valid_sim_swap',
    line: 'swapped 72 h ago',
    expected: '200 latestSimChange: 72 h ago',
  },
  {
    tag: '3_no_sim_swap_returns_activation_date',
    line: NEVER,
    expected: '200 latestSimChange: 87600 h ago',
  },
  // 4 applies to operators that take numbers without a SIM card: to the simulator those are unknown.
  {
    tag: '5_no_sim_swap_or_activation_date_due_to_legal_constrain',
    line: 'swapped before the history begins',
    expected: '200 latestSimChange: null',
  },
];

const UNAUTHENTICATED = '401 UNAUTHENTICATED';

/** The 401s, alike for both operations and both versions. */
const AUTHENTICATION: readonly Scenario[] = [
  {
    tag: '401.1_no_authorization_header',
    line: NEVER,
    shows: 'nothing',
    expected: UNAUTHENTICATED,
  },
  {
    tag: '401.2_expired_access_token',
    line: NEVER,
    shows: 'an expired token',
    expected: UNAUTHENTICATED,
  },
  {
    tag: '401.3_invalid_access_token',
    line: NEVER,
    shows: 'an invalid token',
    expected: UNAUTHENTICATED,
  },
];

const NUMBERS_2_1: readonly Scenario[] = [
  {
    tag: 'C02.01_phone_number_not_schema_compliant',
    line: 'malformed',
    expected: '400 INVALID_ARGUMENT',
  },
  { tag: 'C02.02_phone_number_not_found', line: 'unknown', expected: '404 IDENTIFIER_NOT_FOUND' },
  {
    tag: 'C02.03_unnecessary_phone_number',
    line: NEVER,
    shows: 'a 3-legged token',
    namesNumber: true,
    expected: '422 UNNECESSARY_IDENTIFIER',
  },
  {
    tag: 'C02.04_missing_phone_number',
    line: NEVER,
    namesNumber: false,
    expected: '422 MISSING_IDENTIFIER',
  },
  {
    tag: 'C02.05_phone_number_not_supported',
    line: 'of a kind that is not served',
    expected: '422 SERVICE_NOT_APPLICABLE',
  },
];

/** By the numbers that check and retrieve-date give them. */
function numbers10(first: number, invalidNumber: string): readonly Scenario[] {
  return [
    {
      tag: `${first}_phone_number_not_supported`,
      line: 'of a kind that is not served',
      expected: '422 NOT_SUPPORTED',
    },
    {
      tag: `${first + 1}_phone_number_provided_does_not_match_the_token`,
      line: NEVER,
      shows: 'a token of another number',
      expected: '403 INVALID_TOKEN_CONTEXT',
    },
    {
      tag: `${first + 2}_phone_number_not_provided_and_cannot_be_deducted_from_access_token`,
      line: NEVER,
      namesNumber: false,
      expected: '422 UNIDENTIFIABLE_PHONE_NUMBER',
    },
    { tag: invalidNumber, line: 'malformed', expected: '400 INVALID_ARGUMENT' },
    // Without a scenario of their own, but in the API's definition.
    { tag: 'NOT_FOUND', line: 'unknown', expected: '404 NOT_FOUND' },
    {
      tag: 'a number that fits the 3-legged token',
      line: 'swapped 72 h ago',
      shows: 'a 3-legged token',
      namesNumber: true,
      expected: '200',
    },
  ];
}

const BAD_MAX_AGES = [0, -1, 0.5, '24', true].map((maxAge): Scenario => ({
  tag: `invalid_max_age: ${JSON.stringify(maxAge)}`,
  line: NEVER,
  maxAge,
  expected: '400 INVALID_ARGUMENT',
}));

const SCENARIOS: Readonly<
  Record<'2.1' | '1.0', Readonly<Record<'check' | 'retrieve-date', readonly Scenario[]>>>
> = {
  '2.1': {
    check: [
      ...CHECKS,
      ...AUTHENTICATION,
      ...BAD_MAX_AGES,
      {
        tag: '400.2_invalid_max_age_value',
        line: NEVER,
        maxAge: 100_000,
        expected: '400 OUT_OF_RANGE',
      },
      {
        tag: '400.3_max_age_out_of_monitored_period',
        line: 'swapped 72 h ago, limited to 168 h',
        maxAge: 169,
        expected: '400 OUT_OF_RANGE',
      },
      ...NUMBERS_2_1,
    ],
    'retrieve-date': [...DATES, ...AUTHENTICATION, ...NUMBERS_2_1],
  },
  '1.0': {
    check: [
      ...CHECKS,
      ...AUTHENTICATION,
      ...BAD_MAX_AGES,
      { tag: 'invalid_max_age', line: NEVER, maxAge: 2401, expected: '400 INVALID_ARGUMENT' },
      ...numbers10(8, '400.1_invalid_phone_number'),
    ],
    'retrieve-date': [...DATES, ...AUTHENTICATION, ...numbers10(6, '4_invalid_phone_number')],
  },
};

describe.each(['2.1', '1.0'] as const)("CAMARA's own scenarios of %s", (dialect) => {
  describe.each(['check', 'retrieve-date'] as const)('%s', (operation) => {
    test.each(SCENARIOS[dialect][operation].map((one) => [one.tag, one.line, one] as const))(
      '%s (%s)',
      async (_tag, _line, scenario) => {
        const clock = { nowMs: START_MS };
        const simulator = await startSimulator({ port: 0, dialect, nowMs: () => clock.nowMs });
        try {
          expect(await outcome(simulator, operation, scenario, clock)).toBe(scenario.expected);
        } finally {
          await simulator.close();
        }
      },
    );
  });

  test.each([
    ['/check', dialect === '2.1' ? '/sim-swap/v2/check' : '/sim-swap/v1/check'],
    [
      '/retrieve-date',
      dialect === '2.1' ? '/sim-swap/v2/retrieve-date' : '/sim-swap/v1/retrieve-date',
    ],
  ])('%s lies at %s', async (path, expected) => {
    const simulator = await startSimulator({ port: 0, dialect });
    await simulator.close();
    expect(new URL(simulator.simSwapUrl + path).pathname).toBe(expected);
  });

  test.each([
    ['a_b;c:d', '200 swapped: false'],
    ['a b', dialect === '2.1' ? '400 INVALID_ARGUMENT' : '200 swapped: false'],
    ['a'.repeat(257), dialect === '2.1' ? '400 INVALID_ARGUMENT' : '200 swapped: false'],
  ])('x-correlator: %s', async (correlator, expected) => {
    const simulator = await startSimulator({ port: 0, dialect, nowMs: () => START_MS });
    try {
      const scenario: Scenario = { tag: '', line: NEVER, expected };
      const told = await outcome(simulator, 'check', scenario, { nowMs: START_MS }, correlator);
      expect(told).toBe(expected);
    } finally {
      await simulator.close();
    }
  });
});

/** Makes the request, holds what every reply must have, and tells what came in short. */
async function outcome(
  simulator: Simulator,
  operation: 'check' | 'retrieve-date',
  { line, shows = 'a 2-legged token', maxAge, namesNumber, expected }: Scenario,
  clock: { nowMs: number },
  correlator = 'b4333c46-49c0-4f62-80d7-f0ef930f1c46',
): Promise<string> {
  const token = await tokenThat(shows, simulator, operation, LINES[line]);
  if (shows === 'an expired token') clock.nowMs += TOKEN_LIFE_MS;
  const names = namesNumber ?? shows !== 'a 3-legged token';
  const reply = await fetch(`${simulator.simSwapUrl}/${operation}`, {
    method: 'POST',
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      'content-type': 'application/json',
      'x-correlator': correlator,
    },
    body: JSON.stringify({
      ...(names ? { phoneNumber: LINES[line] } : {}),
      ...(maxAge === undefined ? {} : { maxAge }),
    }),
  });
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(reply.headers.get('x-correlator')).toBe(correlator);
  const body = (await reply.json()) as Readonly<Record<string, unknown>>;
  if (reply.status === 200) return expected === '200' ? '200' : `200 ${answer(body)}`;
  expect(body['status']).toBe(reply.status);
  // "contains a user friendly text": a sentence, and not the code once more.
  expect(body['message']).toMatch(/^[a-zA-Z][a-zA-Z]+ .+\.$/);
  return `${reply.status} ${String(body['code'])}`;
}

function answer({ swapped, latestSimChange }: Readonly<Record<string, unknown>>): string {
  if (typeof swapped === 'boolean') return `swapped: ${swapped}`;
  if (latestSimChange === null) return 'latestSimChange: null';
  if (typeof latestSimChange !== 'string') return 'no answer';
  return `latestSimChange: ${(START_MS - Date.parse(latestSimChange)) / HOUR_MS} h ago`;
}

async function tokenThat(
  shows: Shows,
  simulator: Simulator,
  operation: 'check' | 'retrieve-date',
  number: string,
): Promise<string | undefined> {
  const scope = operation === 'check' ? CHECK_SCOPE : DATE_SCOPE;
  // A token is bound to a number that exists; what the body says is another matter.
  const bound = number.startsWith('+') ? number : LINES[NEVER];
  switch (shows) {
    case 'nothing':
      return undefined;
    case 'an invalid token':
      return 'never-issued';
    case 'a 3-legged token': {
      const authReqId = await read(await requestConsent(simulator, bound, scope), 'auth_req_id');
      return read(await poll(simulator, authReqId), 'access_token');
    }
    case 'a token of another number':
      return read(await requestToken(simulator, LINES['swapped 2 h ago'], scope), 'access_token');
    case 'a 2-legged token':
    case 'an expired token':
      return read(await requestToken(simulator, bound, scope), 'access_token');
  }
}
