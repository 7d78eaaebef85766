import fc from 'fast-check';
import { assertEnumType, buildSchema } from 'graphql';
import { readFileSync } from 'node:fs';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ERRORS, type ErrorDescription } from '../../src/domain/errors.ts';
import { inForm } from '../forms.ts';
import { costs, startSimulated, type SimulatedService } from '../service.ts';

const CHECK = '{ result windowHours reason retryAfterSeconds expiresAt maxAgeHours asOf }';

/** What is wrong with the request itself, or with this service. */
const STAY_ERRORS = ['BAD_USER_INPUT', 'FORBIDDEN', 'INTERNAL_SERVER_ERROR'];

/** What a check holds besides what a case is about. */
const NOTHING_MORE = {
  reason: null,
  retryAfterSeconds: null,
  expiresAt: null,
  maxAgeHours: null,
  asOf: null,
};

// Few numbers never answer; they shall not take long.
const service = await startSimulated({
  OPERATOR_TIMEOUT_MS: '500',
  OPERATOR_MAX_AGE_HOURS: '1000',
});
afterAll(() => service.stop());

async function checkOf(e164: string, args = '') {
  const query = `query ($e164: ID!) { phoneNumber(e164: $e164) { e164 simSwapCheck${args} ${CHECK} } }`;
  return service.ask(query, { e164 });
}

describe('simSwapCheck', () => {
  it.each([
    ['a swap within ten days', '+447700900001', '', 'SWAPPED'],
    ['a swap before the window', '+447700900002', '(maxAgeHours: 24)', 'NOT_SWAPPED'],
    ['a line that never swapped', '+447700900004', '(maxAgeHours: 1000)', 'NOT_SWAPPED'],
  ] as const)('%s, and when the operator was asked', async (_, number, args, result) => {
    const before = Date.now();
    const { data, errors } = await checkOf(number, args);

    expect(errors).toEqual([]);
    const { asOf, ...check } = data.phoneNumber.simSwapCheck;
    expect({ ...check, asOf: null }).toEqual({
      ...NOTHING_MORE,
      result,
      windowHours: Number(/\d+/.exec(args)?.[0] ?? 240),
    });
    expect(Date.parse(asOf)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(asOf)).toBeLessThanOrEqual(Date.now());
  });

  it.each([0, 2401])('keeps the error of a bad argument, and the number: %s', async (hours) => {
    const { data, errors } = await checkOf('+447700900004', `(maxAgeHours: ${hours})`);
    expect(data).toEqual({ phoneNumber: { e164: '+447700900004', simSwapCheck: null } });
    expect(errors).toMatchObject([
      { path: ['phoneNumber', 'simSwapCheck'], extensions: { code: 'BAD_USER_INPUT' } },
    ]);
  });
});

describe('in the 3-legged flow', () => {
  let consented: SimulatedService;
  beforeEach(async () => {
    consented = await startSimulated({ OPERATOR_FLOW: '3-legged', CONSENT_WAIT_MS: '1000' });
    return () => consented.stop();
  });

  it('a pending consent has its times', async () => {
    const { data, errors } = await consented.ask(
      `{ phoneNumber(e164: "+447700900051") { simSwapCheck ${CHECK} } }`,
    );
    expect(errors).toEqual([]);
    const { expiresAt, retryAfterSeconds, ...check } = data.phoneNumber.simSwapCheck;
    expect(check).toEqual({
      result: 'UNKNOWN',
      windowHours: 240,
      reason: 'CONSENT_PENDING',
      maxAgeHours: null,
      asOf: null,
    });
    expect(retryAfterSeconds).toBeGreaterThan(0);
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now());
  });

  it('an answer that is given again is as old as it was', async () => {
    const query = '{ phoneNumber(e164: "+447700900004") { simSwapCheck { result asOf } } }';
    const first = await consented.ask(query);
    const again = await consented.ask(query);
    expect(first.data.phoneNumber.simSwapCheck.result).toBe('NOT_SWAPPED');
    expect(again.data).toEqual(first.data);
    expect(costs(consented).lookups).toBe(1);
  });
});

it('the reasons are the codes of a field but those that stay errors', () => {
  const sdl = readFileSync(new URL('../../schema/phone-number.graphql', import.meta.url), 'utf8');
  const reasons = assertEnumType(buildSchema(sdl).getType('SimSwapUnknownReason'));
  const codes = Object.entries<ErrorDescription>(ERRORS)
    .filter(([code, { places }]) => places.includes('field') && !STAY_ERRORS.includes(code))
    .map(([code]) => code);
  expect(new Set(reasons.getValues().map(({ name }) => name))).toEqual(new Set(codes));
});

const ANSWERED = ['01', '02', '03', '04', '05', '06', '07', '08'];
const FAILING = ['09', '10', '11', '12', '13', '20', '21', '22', '30', '31', '40', '42'];

/** A test number that ends so. */
function numberOf(ends: readonly string[]): fc.Arbitrary<string> {
  return fc.constantFrom(...ends).map((end) => `+4477009000${end}`);
}

/** What is queried of a number: some windows, and perhaps the date. */
interface Asked {
  readonly windows: readonly number[];
  readonly withDate: boolean;
  readonly checksFirst: boolean;
}

const ASKED: fc.Arbitrary<Asked> = fc.record({
  windows: fc.uniqueArray(fc.integer({ min: 1, max: 1100 }), { minLength: 1, maxLength: 4 }),
  withDate: fc.boolean(),
  checksFirst: fc.boolean(),
});

/** Queries each window by simSwappedWithin only, or by both fields. */
function queryOf({ windows, withDate, checksFirst }: Asked, fields: 'one' | 'both'): string {
  const within = windows.map((hours) => `w${hours}: simSwappedWithin(maxAgeHours: ${hours})`);
  const checks = windows.map((hours) => `c${hours}: simSwapCheck(maxAgeHours: ${hours}) ${CHECK}`);
  const both = checksFirst ? [...checks, ...within] : [...within, ...checks];
  const all = [...(fields === 'both' ? both : within), ...(withDate ? ['lastSimSwap'] : [])];
  return `query ($e164: ID!) { phoneNumber(e164: $e164) { ${all.join(' ')} } }`;
}

describe('beside simSwappedWithin', () => {
  it('never says anything else', { timeout: inForm({ short: 10_000, long: 60_000 }) }, async () => {
    await fc.assert(
      fc.asyncProperty(numberOf([...ANSWERED, ...FAILING]), ASKED, async (e164, asked) => {
        const { data, errors } = await service.ask(queryOf(asked, 'both'), { e164 });
        for (const hours of asked.windows) {
          const within = data.phoneNumber[`w${hours}`];
          const check = data.phoneNumber[`c${hours}`];
          const error = errors.find(({ path }) => path?.at(-1) === `w${hours}`)?.extensions ?? {};
          const result = within === null ? 'UNKNOWN' : within ? 'SWAPPED' : 'NOT_SWAPPED';
          expect(check).toMatchObject({
            result,
            windowHours: hours,
            reason: error['code'] ?? null,
            retryAfterSeconds: error['retryAfterSeconds'] ?? null,
            maxAgeHours: error['maxAgeHours'] ?? null,
          });
          expect(check.asOf === null).toBe(result === 'UNKNOWN');
        }
      }),
      { numRuns: inForm({ short: 50, long: 300 }) },
    );
  });

  it('costs nothing', { timeout: inForm({ short: 10_000, long: 60_000 }) }, async () => {
    await fc.assert(
      fc.asyncProperty(numberOf(ANSWERED), ASKED, async (e164, asked) => {
        const start = costs(service);
        await service.ask(queryOf(asked, 'one'), { e164 });
        const between = costs(service);
        await service.ask(queryOf(asked, 'both'), { e164 });
        const end = costs(service);
        expect(end.lookups - between.lookups).toBe(between.lookups - start.lookups);
        expect(end.tokens - between.tokens).toBe(between.tokens - start.tokens);
      }),
      { numRuns: inForm({ short: 25, long: 120 }) },
    );
  });
});
