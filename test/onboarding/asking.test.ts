import { describe, expect, it } from 'vitest';
import { WiredOperator } from '../support/wiredOperator.ts';
import {
  check,
  failed,
  number,
  rowsOf,
  settingsAt,
  simulator,
  simulatorSettings,
} from './checked.ts';
import { PassingTime } from './passingTime.ts';

const NEVER_SWAPPED = number('+447700900004');
const SWAPPED = number('+447700900001');
const PRICE = { OPERATOR_PRICE_CHECK: '0.0215', OPERATOR_PRICE_CURRENCY: 'EUR' };
const ONE = { number: NEVER_SWAPPED, mayPrompt: true };
const BOTH = { ...ONE, otherNumber: SWAPPED };

describe('with a number', () => {
  it('one lookup is made, and its price printed', async () => {
    await using operator = await simulator();
    const report = await check({ ...simulatorSettings(operator), ...PRICE }, { number: ONE });
    expect(failed(report)).toEqual([]);
    expect(report.billedLookups).toBe(1);
    expect(operator.stats()).toMatchObject({ lookups: 1, refusedLookups: 0, prompts: 0 });
    expect(rowsOf(report, 'billed')).toMatchObject([{ found: '1 lookup: 0.0215 EUR' }]);
    expect(rowsOf(report, 'echo')).toMatchObject([{ found: 'token yes, check yes' }]);
  });

  it.each([
    ['010', 'warning', /does not serve this number/, 0],
    ['013', 'failed', /not available/, 0],
    ['020', 'failed', /scopes/, 0],
    ['030', 'failed', /cannot be trusted/, 1],
  ] as const)('%s is reported, with what to do', async (digits, verdict, advice, billed) => {
    await using operator = await simulator();
    const asked = { ...ONE, number: number(`+447700900${digits}`) };
    const report = await check(simulatorSettings(operator), { number: asked });
    const [row] = rowsOf(report, 'lookup');
    expect(row).toMatchObject({ verdict, advice: expect.stringMatching(advice) });
    expect(report.billedLookups).toBe(billed);
  });

  it('a lookup without a reply may be billed', async () => {
    await using operator = await WiredOperator.start({
      lookUp: ({ method }, response) =>
        method === 'GET' ? response.writeHead(405).end() : void response.socket?.destroy(),
    });
    const report = await check(settingsAt(operator.url), { number: ONE });
    expect(operator.lookups.filter(({ method }) => method === 'POST')).toHaveLength(1);
    const [billed] = rowsOf(report, 'billed');
    expect(billed?.found).toMatch(/^0 lookups.*1 lookup without an answer may/);
  });
});

describe('in the 3-legged flow', () => {
  const THREE_LEGGED = { OPERATOR_FLOW: '3-legged' };

  it.each([
    ['050', 'ok', /prompted once; granted after \d polls?, interval 2 s/, 1],
    ['052', 'warning', /prompted once; declined/, 0],
    ['054', 'failed', /^NUMBER_NOT_SERVED, 400 unknown_user_id/, 0],
    ['055', 'warning', /prompted once; (?:expired|not answered)/, 0],
  ] as const)('%s', async (digits, verdict, found, lookups) => {
    const time = new PassingTime();
    await using operator = await simulator({ nowMs: () => time.nowMs() });
    const settings = { ...simulatorSettings(operator), ...THREE_LEGGED };
    const asked = { ...ONE, number: number(`+447700900${digits}`) };
    const report = await check(settings, { number: asked, clock: time });
    const row = { verdict, found: expect.stringMatching(found) };
    expect(rowsOf(report, 'consent')).toMatchObject([row]);
    expect(operator.stats()).toMatchObject({ lookups, doublePrompts: 0 });
    expect(operator.stats().prompts).toBeLessThanOrEqual(1);
    expect(report.billedLookups).toBe(lookups);
  });
});

describe('with another number', () => {
  it('a token that is refused for it is reported, with the setting to write', async () => {
    await using operator = await simulator();
    const report = await check(simulatorSettings(operator), { number: BOTH });
    const advice = expect.stringContaining('tokenMismatch of the profile to refused');
    expect(rowsOf(report, 'tokens')).toMatchObject([
      { verdict: 'ok', found: 'a token of another number is refused (403)', advice },
    ]);
    expect(operator.stats()).toMatchObject({ lookups: 2, refusedLookups: 1, misusedTokens: 1 });
    expect(report.billedLookups).toBe(2);
    // No row holds a number.
    expect(JSON.stringify(report)).not.toMatch(/\d{6}/);
  });

  it.each([
    ['accepted', 'ok'],
    ['refused', 'failed'],
  ])(
    'a token that is accepted for it, with %s in the settings, is %s',
    async (setting, verdict) => {
      await using operator = await WiredOperator.start({ forgives: ['tokensOnAnotherSubject'] });
      const settings = { ...settingsAt(operator.url), OPERATOR_TOKEN_MISMATCH: setting };
      const report = await check(settings, { number: BOTH });
      const found = 'a token of another number is accepted';
      expect(rowsOf(report, 'tokens')).toMatchObject([{ verdict, found }]);
      expect(report.billedLookups).toBe(3);
    },
  );

  it('does not judge tokens where the other number is refused with its own', async () => {
    await using operator = await simulator();
    const asked = { ...ONE, otherNumber: number('+447700900020') };
    const report = await check(simulatorSettings(operator), { number: asked });
    expect(rowsOf(report, 'tokens')).toMatchObject([{ verdict: 'not tried' }]);
    expect(operator.stats()).toMatchObject({ misusedTokens: 0 });
  });

  it('looks up only the first where it does not matter', async () => {
    await using operator = await WiredOperator.start();
    const settings = { ...settingsAt(operator.url), OPERATOR_SEND_PHONE_NUMBER: 'never' };
    const report = await check(settings, { number: BOTH });
    expect(rowsOf(report, 'tokens')[0]?.found).toMatch(/^does not matter/);
    expect(report.billedLookups).toBe(1);
  });
});
