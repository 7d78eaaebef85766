import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { inForm } from '../support/forms.ts';
import { costs, startSimulated, type SimulatedService } from '../support/service.ts';

const CHECK = '{ result windowHours reason retryAfterSeconds expiresAt maxAgeHours asOf }';

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
  ] as const)(
    '%s: the result, and when the operator was queried',
    async (_, number, args, result) => {
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
    },
  );

  it('keeps the error of an invalid argument, and the number', async () => {
    const { data, errors } = await checkOf('+447700900004', '(maxAgeHours: 2401)');
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

/** Test numbers: those up to 08 answer. */
const NUMBER = fc
  .constantFrom(...'01 02 03 04 05 06 07 08 09 10 11 12 13 20 21 22 30 31 40 42'.split(' '))
  .map((end) => `+4477009000${end}`);

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

function queryOf({ windows, withDate, checksFirst }: Asked): string {
  const within = windows.map((hours) => `w${hours}: simSwappedWithin(maxAgeHours: ${hours})`);
  const checks = windows.map((hours) => `c${hours}: simSwapCheck(maxAgeHours: ${hours}) ${CHECK}`);
  const both = checksFirst ? [...checks, ...within] : [...within, ...checks];
  const all = [...both, ...(withDate ? ['lastSimSwap'] : [])];
  return `query ($e164: ID!) { phoneNumber(e164: $e164) { ${all.join(' ')} } }`;
}

describe('beside simSwappedWithin', () => {
  it('says the same', { timeout: inForm({ short: 10_000, long: 60_000 }) }, async () => {
    await fc.assert(
      fc.asyncProperty(NUMBER, ASKED, async (e164, asked) => {
        const { data, errors } = await service.ask(queryOf(asked), { e164 });
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
});
