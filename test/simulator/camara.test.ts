import { beforeAll, describe, expect, test } from 'vitest';
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
type Scenario = readonly [
  /** Without the operation's prefix. */
  tag: string,
  line: Line,
  expected: string,
  request?: Asked,
];

interface Asked {
  readonly shows?: Shows;
  readonly maxAge?: unknown;
  /** Whether the body names the number: with a 2-legged token it does unless it is said. */
  readonly namesNumber?: boolean;
}

const NEVER: Line = 'never swapped, activated 10 years ago';
const IN_2_H: Line = 'swapped 2 h ago';
const IN_72_H: Line = 'swapped 72 h ago';
const NOT_SERVED: Line = 'of a kind that is not served';
const SWAPPED = '200 swapped: true';
const UNSWAPPED = '200 swapped: false';
const INVALID = '400 INVALID_ARGUMENT';
const UNAUTHENTICATED = '401 UNAUTHENTICATED';

const CHECKS: readonly Scenario[] = [
  ['1_generic_success_scenario', NEVER, UNSWAPPED],
  ['2_valid_sim_swap_no_max_age', IN_72_H, SWAPPED],
  ['3_valid_sim_swap_max_age', IN_72_H, SWAPPED, { maxAge: 260 }],
  ['3_valid_sim_swap_max_age', IN_72_H, SWAPPED, { maxAge: 120 }],
  ['3_valid_sim_swap_max_age', IN_2_H, SWAPPED, { maxAge: 24 }],
  ['3_valid_sim_swap_max_age', IN_2_H, SWAPPED, { maxAge: 12 }],
  ['3_valid_sim_swap_max_age, equal', IN_72_H, SWAPPED, { maxAge: 72 }],
  ['4_more_than_240_hours', 'swapped 960 h ago', UNSWAPPED],
  ['5_out_of_max_age', IN_72_H, UNSWAPPED, { maxAge: 71 }],
  ['6_no_sim_swap_no_max_age', NEVER, UNSWAPPED],
  ...[260, 120, 24, 12].map((hours): Scenario => {
    return ['7_no_sim_swap_with_max_age', NEVER, UNSWAPPED, { maxAge: hours - 1 }];
  }),
];

const DATES: readonly Scenario[] = [
  ['1_generic_success_scenario', NEVER, '200 latestSimChange: 87600 h ago'],
  ['2_valid_sim_swap', IN_72_H, '200 latestSimChange: 72 h ago'],
  ['3_no_sim_swap_returns_activation_date', NEVER, '200 latestSimChange: 87600 h ago'],
  // 4 applies to operators that take numbers without a SIM card: to the simulator those are unknown.
  [
    '5_no_sim_swap_or_activation_date_due_to_legal_constrain',
    'swapped before the history begins',
    '200 latestSimChange: null',
  ],
];

/** The 401s, alike for both operations and both versions. */
const AUTHENTICATION: readonly Scenario[] = [
  ['401.1_no_authorization_header', NEVER, UNAUTHENTICATED, { shows: 'nothing' }],
  ['401.2_expired_access_token', NEVER, UNAUTHENTICATED, { shows: 'an expired token' }],
  ['401.3_invalid_access_token', NEVER, UNAUTHENTICATED, { shows: 'an invalid token' }],
];

const NAMED_BESIDE_TOKEN: Asked = { shows: 'a 3-legged token', namesNumber: true };

const NUMBERS_2_1: readonly Scenario[] = [
  ['C02.01_phone_number_not_schema_compliant', 'malformed', INVALID],
  ['C02.02_phone_number_not_found', 'unknown', '404 IDENTIFIER_NOT_FOUND'],
  ['C02.03_unnecessary_phone_number', NEVER, '422 UNNECESSARY_IDENTIFIER', NAMED_BESIDE_TOKEN],
  ['C02.04_missing_phone_number', NEVER, '422 MISSING_IDENTIFIER', { namesNumber: false }],
  ['C02.05_phone_number_not_supported', NOT_SERVED, '422 SERVICE_NOT_APPLICABLE'],
];

/** By the numbers that check and retrieve-date give them. */
function numbers10(first: number, invalidNumber: string): readonly Scenario[] {
  return [
    [`${first}_phone_number_not_supported`, NOT_SERVED, '422 NOT_SUPPORTED'],
    [
      `${first + 1}_phone_number_provided_does_not_match_the_token`,
      NEVER,
      '403 INVALID_TOKEN_CONTEXT',
      { shows: 'a token of another number' },
    ],
    [
      `${first + 2}_phone_number_not_provided_and_cannot_be_deducted_from_access_token`,
      NEVER,
      '422 UNIDENTIFIABLE_PHONE_NUMBER',
      { namesNumber: false },
    ],
    [invalidNumber, 'malformed', INVALID],
    // Without a scenario of their own, but in the API's definition.
    ['NOT_FOUND', 'unknown', '404 NOT_FOUND'],
    ['a number that fits the 3-legged token', IN_72_H, '200', NAMED_BESIDE_TOKEN],
  ];
}

const BAD_MAX_AGES = [0, -1, 1.5, '24', true].map((maxAge): Scenario => {
  return [`invalid_max_age: ${JSON.stringify(maxAge)}`, NEVER, INVALID, { maxAge }];
});

const LIMITED: Line = 'swapped 72 h ago, limited to 168 h';

const SCENARIOS: Readonly<
  Record<'2.1' | '1.0', Readonly<Record<'check' | 'retrieve-date', readonly Scenario[]>>>
> = {
  '2.1': {
    check: [
      ...CHECKS,
      ...AUTHENTICATION,
      ...BAD_MAX_AGES,
      ['400.2_invalid_max_age_value', NEVER, '400 OUT_OF_RANGE', { maxAge: 100_000 }],
      ['400.3_max_age_out_of_monitored_period', LIMITED, '400 OUT_OF_RANGE', { maxAge: 169 }],
      ...NUMBERS_2_1,
    ],
    'retrieve-date': [...DATES, ...AUTHENTICATION, ...NUMBERS_2_1],
  },
  '1.0': {
    check: [
      ...CHECKS,
      ...AUTHENTICATION,
      ...BAD_MAX_AGES,
      ['invalid_max_age', NEVER, INVALID, { maxAge: 2401 }],
      ...numbers10(8, '400.1_invalid_phone_number'),
    ],
    'retrieve-date': [...DATES, ...AUTHENTICATION, ...numbers10(6, '4_invalid_phone_number')],
  },
};

describe.each(['2.1', '1.0'] as const)("CAMARA's own scenarios of %s", (dialect) => {
  const clock = { nowMs: START_MS };
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({ port: 0, dialect, nowMs: () => clock.nowMs });
    return () => simulator.close();
  });

  describe.each(['check', 'retrieve-date'] as const)('%s', (operation) => {
    const titled = SCENARIOS[dialect][operation].map((one) => [one[0], one[1], one] as const);
    test.each(titled)('%s (%s)', async (_tag, _line, scenario) => {
      clock.nowMs = START_MS;
      expect(await outcome(simulator, operation, scenario, clock)).toBe(scenario[2]);
    });
  });

  test.each([
    ['a_b;c:d', UNSWAPPED],
    ['a b', dialect === '2.1' ? INVALID : UNSWAPPED],
    ['a'.repeat(257), dialect === '2.1' ? INVALID : UNSWAPPED],
  ])('x-correlator: %s', async (correlator, expected) => {
    clock.nowMs = START_MS;
    const scenario: Scenario = ['', NEVER, expected];
    expect(await outcome(simulator, 'check', scenario, clock, correlator)).toBe(expected);
  });
});

/** Makes the request, checks what every reply must have, and returns the reply in short. */
async function outcome(
  simulator: Simulator,
  operation: 'check' | 'retrieve-date',
  [, line, expected, { shows = 'a 2-legged token', maxAge, namesNumber } = {}]: Scenario,
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
      return read(await requestToken(simulator, LINES[IN_2_H], scope), 'access_token');
    case 'a 2-legged token':
    case 'an expired token':
      return read(await requestToken(simulator, bound, scope), 'access_token');
  }
}
