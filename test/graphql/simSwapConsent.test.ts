import { afterEach, describe, expect, it } from 'vitest';
import type { Environment } from '../../src/config/environment.ts';
import type { SimulatorSettings } from '../../simulator/simulator.ts';
import { systemClock } from '../../src/system/clock.ts';
import { heldClock } from '../support/heldClock.ts';
import { startSimulated, type Reply, type SimulatedService } from '../support/service.ts';

const ANSWERED = '+447700900004';
const AFTER_2_S = '+447700900050';
const DECLINED = '+447700900052';
const WITHDRAWN = '+447700900053';
const UNKNOWN = '+447700900054';
const FORGOTTEN = '+447700900057';

/** Less than any owner takes who has to think. */
const IMPATIENT = { CONSENT_WAIT_MS: '300' };

let service: SimulatedService;
afterEach(() => service.stop());

async function serve(
  flow: string,
  settings: Environment = {},
  simulator: Partial<SimulatorSettings> = {},
): Promise<void> {
  service = await startSimulated({ OPERATOR_FLOW: flow, ...settings }, simulator);
}

function ask(numbers: readonly string[], fields: string): Promise<Reply> {
  const query = `query ($numbers: [ID!]!) { phoneNumbers(e164s: $numbers) { ${fields} } }`;
  return service.ask(query, { numbers });
}

const CONSENT = 'simSwapConsent { state retryAfterSeconds expiresAt }';

async function consentOf(number: string, fields = '') {
  const { data } = await ask([number], `${CONSENT} ${fields}`);
  return data.phoneNumbers[0].simSwapConsent;
}

describe('simSwapConsent', () => {
  it('is NOT_NEEDED in the 2-legged flow', async () => {
    await serve('2-legged');
    const times = { retryAfterSeconds: null, expiresAt: null };
    expect(await consentOf(ANSWERED)).toEqual({ state: 'NOT_NEEDED', ...times });
  });

  it('starts no prompt by itself', async () => {
    await serve('3-legged');
    expect((await consentOf(AFTER_2_S)).state).toBe('NOT_ASKED');
    expect(service.stats()).toMatchObject({ prompts: 0, polls: 0 });
  });

  it.each([
    [ANSWERED, 'ANSWERED', null],
    [WITHDRAWN, 'DENIED', expect.any(Number)],
    [FORGOTTEN, 'EXPIRED', null],
    [UNKNOWN, 'NOT_ASKED', null],
  ])(
    'is read after the answer of the same operation: %s, %s',
    async (number, state, retryAfterSeconds: unknown) => {
      await serve('3-legged', { CONSENT_WAIT_MS: '15000' });
      const consent = await consentOf(number, 'simSwappedWithin');
      expect(consent).toEqual({ state, retryAfterSeconds, expiresAt: null });
    },
  );

  it('is PENDING in the operation whose owner has not answered yet', async () => {
    await serve('3-legged', IMPATIENT, { nowMs: heldClock(1000) });
    const times = { retryAfterSeconds: expect.any(Number), expiresAt: expect.any(String) };
    const consent = await consentOf(AFTER_2_S, 'simSwappedWithin');
    expect(consent).toEqual({ state: 'PENDING', ...times });
  });

  it('leads an app that sees no errors from PENDING to the answer, with one prompt', async () => {
    await serve('3-legged', { CONSENT_WAIT_MS: '100' });
    let asks = 0;
    let answer: boolean | null | undefined;
    while (typeof answer !== 'boolean' && asks < 20) {
      asks += 1;
      const { data } = await ask([AFTER_2_S], `simSwappedWithin ${CONSENT}`);
      const [line] = data.phoneNumbers;
      answer = line.simSwappedWithin;
      const { state, retryAfterSeconds, expiresAt } = line.simSwapConsent;
      if (typeof answer === 'boolean') continue;
      expect(state).toBe('PENDING');
      expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now());
      await systemClock.sleep(retryAfterSeconds * 1000);
    }
    expect(answer).toBe(false);
    expect(service.stats().prompts).toBe(1);
  });

  it('remembers a denial', async () => {
    await serve('3-legged', { CONSENT_WAIT_MS: '15000' });
    expect((await consentOf(DECLINED, 'simSwappedWithin')).state).toBe('DENIED');
    expect((await consentOf(DECLINED)).state).toBe('DENIED');
    expect(service.stats().prompts).toBe(1);
  });

  it('does not count as a question, but its numbers count', async () => {
    await serve('3-legged', { MAX_QUESTIONS_PER_NUMBER: '1', MAX_NUMBERS_PER_OPERATION: '2' });
    const one = await ask([ANSWERED], `simSwappedWithin ${CONSENT} again: ${CONSENT}`);
    expect(one.codes).toEqual([]);
    const many = await ask([ANSWERED, AFTER_2_S, DECLINED], CONSENT);
    expect(many.codes).toEqual(['LOOKUP_LIMIT_EXCEEDED']);
  });

  it('is null while the store cannot be reached; the number is not null', async () => {
    await serve('3-legged', {
      REDIS_URL: 'redis://127.0.0.1:1',
      STATE_KEY: Buffer.alloc(32).toString('hex'),
    });
    const { data, codes } = await ask([ANSWERED], `simSwappedWithin ${CONSENT}`);
    expect(data.phoneNumbers).toEqual([{ simSwappedWithin: null, simSwapConsent: null }]);
    expect(codes).toEqual(['STATE_UNAVAILABLE']);
    expect(service.stats().prompts).toBe(0);
  });
});

it.each([
  ['60', 'wait=30', { data: { phoneNumber: { simSwappedWithin: false } } }],
  ['0', 'wait=0', { errors: [{ extensions: { code: 'CONSENT_PENDING' } }] }],
])('Prefer: wait=%s sets how long a request waits for the owner', async (wait, applied, body) => {
  await serve('3-legged', { CONSENT_WAIT_MS: '1000', REQUEST_TIMEOUT_MS: '30000' });
  const query = `{ phoneNumber(e164: "${AFTER_2_S}") { simSwappedWithin } }`;
  const reply = await service.ask(query, {}, { prefer: `wait=${wait}` });
  expect(reply.headers.get('preference-applied')).toBe(applied);
  expect(reply.body).toMatchObject(body);
});
