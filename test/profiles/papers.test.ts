import { describe, expect, it } from 'vitest';
import { tellAbout, type Told } from '../endToEnd/answers.ts';
import { check, number, verdicts } from '../onboarding/checked.ts';
import { OperatorsFile, startServiceOf } from '../support/operatorsFile.ts';
import { dpopPapers, mtnDate, PLAYED, SECRETS, twilioLookup, vonageInsight } from './papers.ts';
import { StrictOperator, type Papers, type StrictReply } from './strictOperator.ts';

type PlayedName = keyof typeof PLAYED;

async function ask(
  profile: PlayedName,
  {
    papers = PLAYED[profile].papers(),
    whose = 'PLAYED',
  }: { papers?: Papers; whose?: 'PLAYED' | 'STRANGE' } = {},
) {
  const operator = await StrictOperator.start(papers);
  const service = await startServiceOf([entryOf(profile, operator, whose)], SECRETS);
  return {
    operator,
    service,
    /** The answers about the line with these last digits: its date without windows. */
    tell: async (lastDigits: string, ...windows: readonly number[]) => {
      const fields = windows.map((hours) => `h${hours}: simSwappedWithin(maxAgeHours: ${hours})`);
      const all = fields.length === 0 ? ['lastSimSwap'] : fields;
      return Object.values(await tellAbout(service, `+447700900${lastDigits}`, ...all));
    },
    [Symbol.asyncDispose]: async () => {
      await service.stop();
      await operator[Symbol.asyncDispose]();
      // Also of a number in a path.
      expect(service.logged.join('\n')).not.toMatch(/7700900|secret-of/);
    },
  };
}

/** The date, the window of ten days, and the lookups that both took together. */
type Answers = readonly [date: Told, tenDays: Told, lookups: number];

const LINES = ['003', '004', '005', '006'] as const;
const AGO: Answers = ['87600 h ago', false, 1];
const NONE = 'PERIOD_NOT_SUPPORTED';

/** About the numbers with these last digits (LINES in papers.ts), in turn. */
const ANSWERS: Readonly<Record<PlayedName, readonly Answers[]>> = {
  // One reply has both.
  'vonage-insights': [['72 h ago', true, 1], AGO, [null, true, 1], [null, false, 1]],
  nokia: [['72 h ago', true, 2], AGO, [null, true, 2], [null, false, 2]],
  // The profile has no check: a date inside the window is `true`.
  mtn: [['72 h ago', true, 1], AGO, [null, NONE, 1], [null, NONE, 1]],
  // Without a date the account's window is two days.
  'twilio-lookup': [['72 h ago', true, 1], AGO, [null, true, 1], [null, NONE, 1]],
  'camara-dpop': [['72 h ago', true, 2], AGO, [null, true, 2], [null, false, 2]],
  camara: [['72 h ago', true, 2], AGO, [null, true, 2], [null, false, 2]],
  'camara, 2-legged': [['72 h ago', true, 2], AGO, [null, true, 2], [null, false, 2]],
};

/** Whether each lookup takes a token. */
const takesTokens = (profile: PlayedName): boolean =>
  PLAYED[profile].papers().endpoints.some(({ asks }) => asks === 'token');

const prompts = (profile: PlayedName): boolean => profile === 'camara';

const NAMES = Object.keys(PLAYED) as readonly PlayedName[];

describe.each(NAMES)('%s, as its papers have it', (profile) => {
  it.each(LINES)('answers about …%s', async (lastDigits) => {
    const [date, tenDays, lookups = 0] = ANSWERS[profile][LINES.indexOf(lastDigits)] ?? [];
    await using asking = await ask(profile);
    const { operator, service } = asking;
    const fields = ['lastSimSwap', 'simSwappedWithin(maxAgeHours: 240)'];
    const told = await tellAbout(service, `+447700900${lastDigits}`, ...fields);
    expect(Object.values(told)).toEqual([date, tenDays]);
    expect(operator.refused).toEqual([]);
    const token = takesTokens(profile) ? lookups : 0;
    expect(operator.answered).toMatchObject({
      lookup: lookups,
      token,
      prompt: prompts(profile) ? lookups : 0,
    });
  });

  it('refuses a client that it does not know', async () => {
    await using asking = await ask(profile, { whose: 'STRANGE' });
    const { operator, service } = asking;
    expect(await asking.tell('003', 240)).toEqual(['OPERATOR_REFUSED']);
    expect(operator.answered.lookup).toBe(0);
    expect(operator.refused.length).toBeGreaterThan(0);
    expect(service.logged.join('\n')).toMatch(/^error /m);
  });
});

const INVALID = 'OPERATOR_INVALID_REPLY';
const DIGITS = '447700900003';
const NUMBER = `+${DIGITS}`;

const REFUSED_PROOF = { error: 'invalid_dpop_proof' };
const ok = (body: object): StrictReply => ({ status: 200, body });
const camara = (status: number, code: string): StrictReply => ({
  status,
  body: { status, code, message: '' },
});
const rapid = (status: number, message: string): StrictReply => ({ status, body: { message } });
const apigee = (status: number, statusCode: string): StrictReply => ({
  status,
  body: { statusCode, statusMessage: '', supportMessage: '', transactionId: '' },
});
const insight = (members: object): StrictReply =>
  vonageInsight({ status: { code: 'OK', message: 'Success' }, ...members });
const saysStatus = (code: string, members: object = {}): StrictReply =>
  vonageInsight({ status: { code, message: '' }, ...members });
/** Of a country without dates. */
const period = (swapped_period: unknown, swapped_in_period: unknown): StrictReply =>
  twilioLookup(NUMBER, { last_sim_swap_date: null, swapped_period, swapped_in_period });

/** The answer of `simSwappedWithin(maxAgeHours: 240)` where a lookup about …003 has this reply. */
const ODD: Readonly<Record<PlayedName, readonly (readonly [string, StrictReply, Told])[]>> = {
  'vonage-insights': [
    ['a text for a boolean', insight({ is_swapped: 'false' }), INVALID],
    ['no insight', ok({ insights: {} }), INVALID],
    ['no status', vonageInsight({ is_swapped: false }), INVALID],
    ['a status of its own', saysStatus('SOMETHING_NEW'), INVALID],
    ['nothing known', insight({ latest_sim_swap_at: null, is_swapped: null }), 'NUMBER_NOT_SERVED'],
    ['a part of it, the date left out', saysStatus('PARTIAL_SUCCESS', { is_swapped: true }), true],
    // As a guide has it.
    ['NO_COVERAGE', saysStatus('NO_COVERAGE', { is_swapped: true }), 'NUMBER_NOT_SERVED'],
    ['NOT_FOUND', saysStatus('NOT_FOUND'), 'NUMBER_NOT_SERVED'],
    ['UNSUPPORTED_NETWORK_TYPE', saysStatus('UNSUPPORTED_NETWORK_TYPE'), 'NUMBER_NOT_SERVED'],
    ['INVALID_NUMBER_FORMAT', saysStatus('INVALID_NUMBER_FORMAT'), 'NUMBER_NOT_SERVED'],
    ['UNAUTHORIZED', saysStatus('UNAUTHORIZED'), 'OPERATOR_REFUSED'],
    ['INVALID_PURPOSE', saysStatus('INVALID_PURPOSE'), 'OPERATOR_REFUSED'],
    ['SUPPLIER_ERROR', saysStatus('SUPPLIER_ERROR'), 'OPERATOR_UNAVAILABLE'],
    ['INTERNAL_ERROR', saysStatus('INTERNAL_ERROR'), 'OPERATOR_UNAVAILABLE'],
  ],
  nokia: [
    ['a text for a boolean', ok({ swapped: 'false' }), INVALID],
    ['no subscription', rapid(403, 'You are not subscribed to this API.'), 'OPERATOR_REFUSED'],
    ['a quota', rapid(429, 'You have exceeded the MONTHLY quota.'), 'OPERATOR_RATE_LIMITED'],
    ['a wrong path', rapid(404, 'Endpoint does not exist'), 'OPERATOR_REFUSED'],
    ['an unknown line', camara(404, 'NOT_FOUND'), 'NUMBER_NOT_SERVED'],
    ['a line that is not served', camara(422, 'NOT_SUPPORTED'), 'NUMBER_NOT_SERVED'],
  ],
  mtn: [
    ['no swap on record, and no date', mtnDate(DIGITS, '', '1022'), NONE],
    ['1022 with empty data', ok({ statusCode: '1022', customerId: DIGITS, data: {} }), NONE],
    ['1022 without data', ok({ statusCode: '1022', customerId: DIGITS }), NONE],
    ['success without data', ok({ statusCode: '0000', customerId: DIGITS }), INVALID],
    ['no status', ok({ customerId: DIGITS, data: { lastSimSwapDate: '' } }), INVALID],
    ['a failure with a status of success', mtnDate(DIGITS, '', '3001'), INVALID],
    ['a date without a zone', mtnDate(DIGITS, '2020-04-20T15:22:11'), INVALID],
    ['the date of its example', mtnDate(DIGITS, '2020-04-20T15:22:11+03:00'), false],
    ['another number', mtnDate('447700900099', '2020-04-20T15:22:11Z'), INVALID],
    ['no number', mtnDate('', '2020-04-20T15:22:11Z'), INVALID],
    ['an unknown number', apigee(404, '1000'), 'NUMBER_NOT_SERVED'],
    ['a wrong path', { status: 404, body: { fault: { faultstring: '' } } }, 'OPERATOR_REFUSED'],
    ['a bill that was not paid', apigee(403, '6000'), 'OPERATOR_REFUSED'],
    ['too often', apigee(429, '1013'), 'OPERATOR_RATE_LIMITED'],
    ['a timeout', apigee(408, '3003'), 'OPERATOR_UNAVAILABLE'],
  ],
  'twilio-lookup': [
    ['another number', twilioLookup('+447700900099', null), INVALID],
    ['an unsupported carrier', twilioLookup(NUMBER, null), 'NUMBER_NOT_SERVED'],
    ['an unsupported country', twilioLookup(NUMBER, null, 60_607), 'NUMBER_NOT_SERVED'],
    ['what the carrier left out', twilioLookup(NUMBER, null, 60_620), 'NUMBER_NOT_SERVED'],
    ['an account without the package', twilioLookup(NUMBER, null, 60_606), 'OPERATOR_REFUSED'],
    ['a code that is new', twilioLookup(NUMBER, null, 60_699), INVALID],
    ['months', period('P1M', false), INVALID],
    ['years', period('P1Y', false), INVALID],
    ['an empty period', period('PT', false), INVALID],
    ['a number for a period', period(48, false), INVALID],
    ['a text for a boolean', period('PT240H', 'false'), INVALID],
  ],
  'camara-dpop': [
    ['a text for a boolean', ok({ swapped: 'false' }), INVALID],
    ['a proof that is refused', { status: 400, body: REFUSED_PROOF }, 'OPERATOR_REFUSED'],
    ['an unknown line', camara(404, 'IDENTIFIER_NOT_FOUND'), 'NUMBER_NOT_SERVED'],
  ],
  camara: [
    ['a text for a boolean', ok({ swapped: 'false' }), INVALID],
    ['an unknown line', camara(404, 'IDENTIFIER_NOT_FOUND'), 'NUMBER_NOT_SERVED'],
  ],
  'camara, 2-legged': [
    ['an unknown line', camara(404, 'IDENTIFIER_NOT_FOUND'), 'NUMBER_NOT_SERVED'],
    ['a line that is not served', camara(422, 'SERVICE_NOT_APPLICABLE'), 'NUMBER_NOT_SERVED'],
  ],
};

describe.each(NAMES)('%s: the answer of a window', (profile) => {
  it.each(ODD[profile])('%s', async (_, reply, told) => {
    await using asking = await ask(profile);
    asking.operator.script.push(reply);
    expect(await asking.tell('003', 240)).toEqual([told]);
    expect(asking.operator.refused).toEqual([]);
    expect(
      asking.operator.received.filter(
        ({ path }) => path.startsWith('/sim-swap') || !/\/(token|oauth|\.well-known)/.test(path),
      ),
    ).toHaveLength(1);
  });
});

it('the window of a reply by Twilio does not begin before its date', async () => {
  await using asking = await ask('twilio-lookup');
  // Three days, of which a date may be off by two.
  expect(await asking.tell('003', 22, 26, 71, 72)).toEqual([false, NONE, NONE, true]);
  expect(asking.operator.answered.lookup).toBe(1);
});

it('the window of a reply by Twilio answers no smaller one, without a further lookup', async () => {
  await using asking = await ask('twilio-lookup');
  asking.operator.script.push(period('PT48H', true));
  expect(await asking.tell('003', 1, 47, 48, 240)).toEqual([NONE, NONE, true, true]);
  expect(asking.operator.answered.lookup).toBe(1);
});

/** A reply that is not an answer, to the date and to all windows at once. */
const UNREADABLE = {
  'a code that is new': twilioLookup(NUMBER, null, 60_699),
  'a period in months': period('P1M', false),
} as const;

it.each(Object.entries(UNREADABLE))(
  'Twilio is sent one request, answered by %s',
  async (_, odd) => {
    await using asking = await ask('twilio-lookup');
    for (let count = 0; count < 6; count += 1) asking.operator.script.push(odd);
    const windows = [1, 24, 48, 240, 720].map((h) => `h${h}: simSwappedWithin(maxAgeHours: ${h})`);
    const told = await tellAbout(asking.service, NUMBER, 'lastSimSwap', ...windows);
    expect(new Set(Object.values(told))).toEqual(new Set([INVALID]));
    expect(asking.operator.received).toHaveLength(1);
  },
);

it('Vonage is sent no request twice: the date is that of its own period', async () => {
  await using asking = await ask('vonage-insights');
  for (let count = 0; count < 6; count += 1)
    asking.operator.script.push(insight({ is_swapped: 0 }));
  const windows = [1, 24, 48, 240, 720].map((h) => `h${h}: simSwappedWithin(maxAgeHours: ${h})`);
  await tellAbout(asking.service, NUMBER, 'lastSimSwap', ...windows);
  const bodies = asking.operator.received.map(({ body }) => body);
  expect(bodies).toHaveLength(5);
  expect(new Set(bodies).size).toBe(5);
});

describe('a nonce of DPoP', () => {
  it.each<readonly [string, { token?: string; lookup?: string }, number, number]>([
    ['at the token endpoint', { token: 'one' }, 1, 1],
    ['at the lookup', { lookup: 'two' }, 1, 1],
    ['at both', { token: 'one', lookup: 'two' }, 1, 1],
  ])('%s is taken into the next proof', async (_, nonces, token, lookups) => {
    await using asking = await ask('camara-dpop', { papers: dpopPapers(nonces) });
    expect(await asking.tell('003', 240)).toEqual([true]);
    expect(asking.operator.answered).toMatchObject({ token, lookup: lookups });
    expect(asking.operator.refused).toEqual([]);
    const before = asking.operator.received.length;
    // It is known by now.
    expect(await asking.tell('004', 240)).toEqual([false]);
    expect(asking.operator.received).toHaveLength(before + 2);
  });
});

it.each(NAMES)(
  'operators check of %s: no number, one lookup of a number, an unknown client',
  async (profile) => {
    await using operator = await StrictOperator.start(PLAYED[profile].papers());
    const checked = (whose: 'PLAYED' | 'STRANGE', about?: string) => {
      const file = new OperatorsFile([entryOf(profile, operator, whose)]);
      const trial =
        about === undefined ? {} : { number: { number: number(about), mayPrompt: true } };
      return check({ ...SECRETS, OPERATORS_FILE: file.path }, trial);
    };
    const tokens = takesTokens(profile);
    const nobody = await checked('PLAYED');
    expect(verdicts(nobody)).toMatchObject({ credentials: tokens ? 'ok' : 'not tried' });
    expect([nobody.billedLookups, operator.answered.lookup]).toEqual([0, 0]);
    const once = await checked('PLAYED', '+447700900003');
    expect(verdicts(once)).toMatchObject({ lookup: 'ok', billed: 'ok' });
    expect([once.billedLookups, operator.answered.lookup]).toEqual([1, 1]);
    const findings = [...nobody.findings, ...once.findings];
    expect(findings.filter(({ verdict }) => /failed|warning/.test(verdict))).toEqual([]);

    const stranger = await checked('STRANGE', '+447700900003');
    const refused = tokens ? { credentials: 'failed', lookup: 'not tried' } : { lookup: 'failed' };
    expect(verdicts(stranger)).toMatchObject(refused);
    expect(operator.answered.lookup).toBe(1);
  },
);

function entryOf(profile: PlayedName, { url }: StrictOperator, whose: 'PLAYED' | 'STRANGE') {
  return { name: 'theirs', profile, prefixes: ['+44'], ...PLAYED[profile].entry(url, whose) };
}
