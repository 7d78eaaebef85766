import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { startServer, type RunningServer } from '../../src/server.ts';
import { DEMO_CLIENT, startSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { systemClock } from '../../src/systemClock.ts';
import { silentLog } from '../silentLog.ts';

const ANSWERED = '+447700900004';
const AFTER_2_S = '+447700900050';
const DECLINED = '+447700900052';
const WITHDRAWN = '+447700900053';
const FORGOTTEN = '+447700900057';

interface Reply {
  readonly data: {
    readonly phoneNumbers: readonly {
      readonly simSwappedWithin?: boolean | null;
      readonly simSwapConsent: {
        readonly state: string;
        readonly retryAfterSeconds: number | null;
        readonly expiresAt: string | null;
      } | null;
    }[];
  } | null;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}

let simulator: Simulator;
let server: RunningServer;

beforeEach(async () => {
  simulator = await startSimulator({ port: 0 });
});

afterEach(async () => {
  await server.stop();
  await simulator.close();
});

async function serve(flow: string, settings: Record<string, string> = {}): Promise<void> {
  const config = readConfig({
    PORT: '0',
    OPERATOR_FLOW: flow,
    OPERATOR_AUTH_URL: simulator.authUrl,
    OPERATOR_SIM_SWAP_URL: simulator.simSwapUrl,
    OPERATOR_CLIENT_ID: DEMO_CLIENT.clientId,
    OPERATOR_CLIENT_SECRET: DEMO_CLIENT.clientSecret,
    CONSENT_WAIT_MS: '300',
    ...settings,
  });
  server = await startServer({
    config,
    operators: config.operators,
    clock: systemClock,
    log: silentLog,
  });
}

async function ask(numbers: readonly string[], fields: string): Promise<Reply> {
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      query: `query ($numbers: [ID!]!) { phoneNumbers(e164s: $numbers) { ${fields} } }`,
      variables: { numbers },
    }),
  });
  return (await response.json()) as Reply;
}

const CONSENT = 'simSwapConsent { state retryAfterSeconds expiresAt }';

async function consentOf(number: string, fields = '') {
  const { data } = await ask([number], `${CONSENT} ${fields}`);
  return data?.phoneNumbers[0]?.simSwapConsent;
}

describe('simSwapConsent', () => {
  it('is NOT_NEEDED in the 2-legged flow', async () => {
    await serve('2-legged');
    expect(await consentOf(ANSWERED)).toEqual({
      state: 'NOT_NEEDED',
      retryAfterSeconds: null,
      expiresAt: null,
    });
  });

  it('starts nothing by itself', async () => {
    await serve('3-legged');
    expect((await consentOf(AFTER_2_S))?.state).toBe('NOT_ASKED');
    expect(simulator.stats()).toMatchObject({ prompts: 0, polls: 0 });
  });

  it.each([
    [ANSWERED, 'ANSWERED', false],
    [AFTER_2_S, 'PENDING', true],
    [WITHDRAWN, 'DENIED', true],
    [FORGOTTEN, 'EXPIRED', false],
  ])('says in the same operation why %s has its answer: %s', async (number, state, retry) => {
    await serve('3-legged', { CONSENT_WAIT_MS: '1500' });
    const consent = await consentOf(number, 'simSwappedWithin');
    expect(consent?.state).toBe(state);
    expect(typeof consent?.retryAfterSeconds === 'number').toBe(retry);
    expect(typeof consent?.expiresAt === 'string').toBe(state === 'PENDING');
  });

  it('leads an app that sees no errors from PENDING to the answer, with one prompt', async () => {
    await serve('3-legged', { CONSENT_WAIT_MS: '100' });
    let asks = 0;
    let answer: boolean | null | undefined;
    while (typeof answer !== 'boolean' && asks < 20) {
      asks += 1;
      const { data } = await ask([AFTER_2_S], `simSwappedWithin ${CONSENT}`);
      const [line] = data?.phoneNumbers ?? [];
      answer = line?.simSwappedWithin;
      const { state, retryAfterSeconds, expiresAt } = line?.simSwapConsent ?? {};
      if (typeof answer === 'boolean') continue;
      expect(state).toBe('PENDING');
      expect(Date.parse(expiresAt ?? '')).toBeGreaterThan(Date.now());
      await systemClock.sleep((retryAfterSeconds ?? 1) * 1000);
    }
    expect(answer).toBe(false);
    expect(simulator.stats().prompts).toBe(1);
  });

  it('remembers a denial', async () => {
    await serve('3-legged', { CONSENT_WAIT_MS: '4000' });
    expect((await consentOf(DECLINED, 'simSwappedWithin'))?.state).toBe('DENIED');
    expect((await consentOf(DECLINED))?.state).toBe('DENIED');
    expect(simulator.stats().prompts).toBe(1);
  });

  it('counts as no question, but its numbers count', async () => {
    await serve('3-legged', { MAX_QUESTIONS_PER_NUMBER: '1', MAX_NUMBERS_PER_OPERATION: '2' });
    const one = await ask([ANSWERED], `simSwappedWithin ${CONSENT} again: ${CONSENT}`);
    expect(one.errors).toBeUndefined();
    const many = await ask([ANSWERED, AFTER_2_S, DECLINED], CONSENT);
    expect(many.errors?.[0]?.extensions.code).toBe('LOOKUP_LIMIT_EXCEEDED');
  });

  it('is null while the store cannot be asked, and the number is not', async () => {
    await serve('3-legged', {
      REDIS_URL: 'redis://127.0.0.1:1',
      STATE_KEY: Buffer.alloc(32).toString('hex'),
    });
    const { data, errors } = await ask([ANSWERED], `simSwappedWithin ${CONSENT}`);
    expect(data?.phoneNumbers).toEqual([{ simSwappedWithin: null, simSwapConsent: null }]);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['STATE_UNAVAILABLE']);
    expect(simulator.stats().prompts).toBe(0);
  });
});
