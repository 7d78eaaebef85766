import { decodeJwt } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { NonceRule } from '../../simulator/proofs.ts';
import { startSimulator } from '../../simulator/simulator.ts';
import type { AuditEntry } from '../../src/caller/audit/entry.ts';
import type { QuotaSettings } from '../../src/caller/quotas/quotas.ts';
import { readConfig } from '../../src/config/config.ts';
import { MemoryConsentStore, type Written } from '../../src/consents/consentStore.ts';
import type { SimSwapLoader } from '../../src/lookups/executor.ts';
import type { Environment } from '../../src/config/environment.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { storesInMemory } from '../../src/simSwaps/simSwaps.ts';
import { systemClock, type Clock } from '../../src/system/clock.ts';
import { IS_LONG } from '../support/forms.ts';
import { answerJson, RecordingServer, type Received } from '../wire/recordingServer.ts';
import {
  auditedInto,
  date,
  operatorNamed,
  SeveralOperators,
  window,
  type OperatorChanges,
} from '../support/severalOperators.ts';

const CLIENT = { OPERATOR_CLIENT_ID: 'demo-client', OPERATOR_CLIENT_SECRET: 'demo-secret' };
const ALICE = numberOf(0);

/** Of the crowd of numbers; one in a hundred of it is not known to the simulator. */
function numberOf(index: number): PhoneNumber {
  const last = String(Math.floor(index / 90) % 100).padStart(2, '0');
  return `+12${last}55501${String(index % 90).padStart(2, '0')}` as PhoneNumber;
}

/** Whose tokens are bound to our key. */
function dpop(
  url: string,
  changes: OperatorChanges = {},
  simSwapUrl = url,
  others: Environment = {},
) {
  const flow = changes.flow ?? '2-legged';
  const own = { OPERATOR_FLOW: flow, OPERATOR_SIM_SWAP_URL: simSwapUrl };
  const environment = { ...CLIENT, ...own, ...others };
  const plain = operatorNamed('theirs', url, {}, environment);
  return operatorNamed(
    'theirs',
    url,
    {
      prefixes: ['+1'],
      authentication: { ...plain.authentication, dpop: true },
      tokens: {
        ...plain.tokens,
        types: ['dpop'],
        sentIn: { header: 'authorization', prefix: 'DPoP ' },
      },
      ...changes,
    },
    environment,
  );
}

/** Time that passes this many times as fast. */
function passing(times: number): Clock {
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => times * performance.now(),
    after: (ms, act) => systemClock.after(ms / times, act),
    sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
  };
}

/** Time that passes by itself, and leaps. */
function leaping(): Clock & { leap(ms: number): void } {
  let leaptMs = 0;
  return {
    ...passing(1),
    nowMs: () => Date.now() + leaptMs,
    monotonicMs: () => performance.now() + leaptMs,
    leap: (ms) => {
      leaptMs += ms;
    },
  };
}

class CountedWrites extends MemoryConsentStore {
  writes = 0;

  override write(...args: Parameters<MemoryConsentStore['write']>): Promise<Written> {
    this.writes += 1;
    return super.write(...args);
  }
}

/** An interval of a second is soon over. */
const FAST = passing(10);
/** The others never wait in vain for the exchange that goes first, however busy the machine is. */
const SLOW = passing(0.1);

async function simulated(nonces: NonceRule, changes: OperatorChanges = {}) {
  const simulator = await startSimulator({ port: 0, nonces });
  onTestFinished(() => simulator.close());
  const { authUrl, simSwapUrl } = simulator;
  const clock = changes.flow === '3-legged' ? systemClock : SLOW;
  const service = new SeveralOperators([dpop(authUrl, changes, simSwapUrl)], { clock });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const list = async (size: number): Promise<number> => {
    const loader = service.request();
    const answers = await Promise.all(
      Array.from({ length: size }, (_, index) => window(loader, numberOf(index), 24)),
    );
    return answers.filter((answer) => typeof answer === 'boolean').length;
  };
  return { simulator, service, list };
}

const PERIOD = { periodMs: 60_000 };

describe('a list of 20 after the nonces have changed', () => {
  it.each<NonceRule['at']>(['tokens', 'lookups', 'both'])('%s', async (at) => {
    const { simulator, list } = await simulated({ at, counts: PERIOD });
    for (const changes of [0, 2]) {
      simulator.rotateNonces(changes);
      simulator.resetStats();
      expect(await list(20)).toBe(20);
      expect(simulator.stats()).toMatchObject({
        tokens: 20,
        lookups: 20,
        // One exchange goes first.
        tokenChallenges: at === 'lookups' ? 0 : 1,
        lookupChallenges: at === 'tokens' ? 0 : 1,
        refusedProofs: 0,
        reusedTokens: 0,
      });
    }
  });

  it('whose nonces count once: one challenge an exchange', async () => {
    const { simulator, list } = await simulated({ at: 'both', counts: 'once' });
    for (const size of [20, 20]) expect(await list(size)).toBe(size);
    const { tokenChallenges, lookupChallenges, ...counts } = simulator.stats();
    expect(counts).toMatchObject({ tokens: 40, lookups: 40, reusedTokens: 0 });
    expect(Math.max(tokenChallenges, lookupChallenges)).toBeLessThanOrEqual(40);
  });
});

describe.runIf(IS_LONG)('a list is answered, and no token is taken for nothing', () => {
  const rules: readonly NonceRule['counts'][] = [{ periodMs: 100 }, 'once'];
  it.each(
    (['tokens', 'lookups', 'both'] as const).flatMap((at) =>
      [10, 50, 100, 1000].flatMap((size) => rules.map((counts) => [at, size, counts] as const)),
    ),
  )('nonces at %s, %d numbers, a nonce counts %j', async (at, size, counts) => {
    const { simulator, list } = await simulated({ at, counts });
    expect(await list(size)).toBe(size);
    const { tokenChallenges, lookupChallenges, ...stats } = simulator.stats();
    const expected = { tokens: size, lookups: size, refusedProofs: 0, reusedTokens: 0 };
    expect(stats).toMatchObject(expected);
    // How many those that change may challenge: dpopExchanges.test.ts.
    const most = counts === 'once' ? size : Infinity;
    expect(Math.max(tokenChallenges, lookupChallenges)).toBeLessThanOrEqual(most);
  });
});

it('a list is answered by a server that takes the nonces of its last eight requests', async () => {
  let requests = 0;
  const operator = await scripted('2-legged', ({ path, headers }) => {
    if (!path.endsWith('/check')) return undefined;
    requests += 1;
    const period = Math.floor(requests / 4);
    const { nonce } = decodeJwt<{ nonce?: string }>(String(headers['dpop']));
    const isAccepted = nonce === `n${period}` || nonce === `n${period - 1}`;
    return { nonce: `n${period}`, isAccepted };
  });
  const loader = operator.service.request();
  const answers = Array.from({ length: 100 }, (_, index) => window(loader, numberOf(index), 24));
  expect(new Set(await Promise.all(answers))).toEqual(new Set([true]));
  expect(operator.count('/token')).toBe(100);
});

describe('where the exchange that goes first breaks, another one goes first', () => {
  it.each(['/token', '/check'])('at %s', async (path) => {
    const operator = await scripted('2-legged', (received) => {
      if (!received.path.endsWith(path)) return undefined;
      const { nonce } = decodeJwt<{ nonce?: string }>(String(received.headers['dpop']));
      return {
        nonce: 'theirs',
        isAccepted: nonce === 'theirs',
        isReset: operator.count(path) <= 2,
      };
    });
    const loader = operator.service.request();
    const answers = Array.from({ length: 20 }, (_, index) => window(loader, numberOf(index), 24));
    const answered = (await Promise.all(answers)).filter((answer) => answer === true);
    // A lookup that may have been billed is not repeated.
    expect(answered).toHaveLength(path === '/check' ? 18 : 20);
    // Two that broke, and one challenge.
    expect(operator.count(path)).toBe(20 + (path === '/check' ? 1 : 3));
  });

  it('and all go where it has no reply', async () => {
    let lookups = 0;
    const allCame = Promise.withResolvers<void>();
    const reply = ({ path }: Received) => {
      if (!path.endsWith('/check')) return undefined;
      lookups += 1;
      if (lookups === 20) allCame.resolve();
      return { waitsFor: lookups === 1 ? new Promise<void>(() => undefined) : allCame.promise };
    };
    const operator = await scripted('2-legged', reply, { timeoutMs: 700 });
    const loader = operator.service.request();
    const answers = Array.from({ length: 20 }, (_, index) => window(loader, numberOf(index), 24));
    const counts = Object.groupBy(await Promise.all(answers), String);
    expect(counts).toMatchObject({ OPERATOR_TIMEOUT: { length: 1 }, true: { length: 19 } });
  });
});

describe('3-legged, a nonce that is wanted', () => {
  it.each<readonly [string, NonceRule, tokenChallenges: number, lookupChallenges: number]>([
    ['at the authorization server', { at: 'tokens', counts: PERIOD }, 1, 0],
    ['at the lookup', { at: 'lookups', counts: PERIOD }, 0, 1],
    ['at each exchange, once', { at: 'both', counts: 'once' }, 1, 1],
  ])('%s: one prompt, one answer', async (_, nonces, tokenChallenges, lookupChallenges) => {
    const { simulator, list } = await simulated(nonces, { flow: '3-legged' });
    expect(await list(1)).toBe(1);
    expect(simulator.stats()).toMatchObject({
      prompts: 1,
      tokens: 1,
      lookups: 1,
      tokenChallenges,
      lookupChallenges,
    });
  });
});

/** An operator in whose replies the test has the say. */
async function scripted(
  flow: '2-legged' | '3-legged',
  reply: (received: Received) => Challenge | undefined,
  {
    tokenSeconds = 300,
    timeoutMs = 60_000,
    clock = systemClock,
    hasProofs = true,
    store = new MemoryConsentStore(clock),
    limits = {},
  }: {
    tokenSeconds?: number;
    timeoutMs?: number;
    clock?: Clock;
    hasProofs?: boolean;
    store?: MemoryConsentStore;
    limits?: Partial<QuotaSettings>;
  } = {},
) {
  const server = await RecordingServer.start((received, response) => {
    const challenge = reply(received);
    const isLookup = received.path.endsWith('/check');
    if (challenge?.waitsFor !== undefined) {
      void challenge.waitsFor.then(() => answerJson(received, response, { swapped: true }));
      return;
    }
    if (challenge?.isReset === true) {
      response.socket?.destroy();
      return;
    }
    if (challenge?.nonce !== undefined) response.setHeader('dpop-nonce', challenge.nonce);
    if (challenge !== undefined && challenge.isAccepted !== true) {
      const { isEchoed = true, isLast = false, error = 'use_dpop_nonce' } = challenge;
      const { status = isLookup ? 401 : 400 } = challenge;
      if (isLast) response.setHeader('connection', 'close');
      if (isEchoed) response.setHeader('x-correlator', received.correlator);
      if (isLookup) response.setHeader('www-authenticate', `DPoP error="${error}"`);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error }));
    } else if (isLookup) {
      answerJson(received, response, { swapped: true });
    } else if (received.path.endsWith('/bc-authorize')) {
      answerJson(received, response, { auth_req_id: 'theirs', expires_in: 60, interval: 1 });
    } else {
      const access_token = `issued-${received.correlator}`;
      answerJson(received, response, {
        access_token,
        token_type: 'DPoP',
        expires_in: tokenSeconds,
      });
    }
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const audit: AuditEntry[] = [];

  const environment = { OPERATOR_TIMEOUT_MS: String(timeoutMs) };
  const settings = dpop(server.url, { flow }, server.url, environment);
  const authentication = { ...settings.authentication, dpop: hasProofs };
  const operators = [{ ...settings, authentication }];
  const stores = { ...storesInMemory(operators, readConfig({}).consent, clock), consents: store };
  const admissions = auditedInto(audit, clock, limits);
  const service = new SeveralOperators(operators, { admissions, clock, stores });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const count = (ending: string): number =>
    server.received.filter(({ path }) => path.endsWith(ending)).length;
  return { server, service, audit, count };
}

/** A request that waits for its answer, however fast time passes. */
function patient({ service }: { readonly service: SeveralOperators }): SimSwapLoader {
  return service.request('caller', undefined, 600_000, { waitMs: 600_000 });
}

interface Challenge {
  readonly nonce?: string;
  /** Only names the next nonce. */
  readonly isAccepted?: boolean;
  /** In place of a reply. */
  readonly isReset?: boolean;
  /** Before the answer. */
  readonly waitsFor?: Promise<void>;
  readonly isEchoed?: boolean;
  /** Of its connection. */
  readonly isLast?: boolean;
  readonly error?: string;
  /** 400, and 401 for a lookup, where absent. */
  readonly status?: number;
}

const PATHS = {
  token: '/token',
  lookup: '/check',
  'bc-authorize': '/bc-authorize',
  poll: '/token',
};

describe('a challenge that is not one', () => {
  const CASES: readonly (readonly [string, (count: number) => Challenge | undefined, number])[] = [
    ['without a nonce', () => ({}), 1],
    ['with a nonce that is too long', () => ({ nonce: 'n'.repeat(513) }), 1],
    ['with a nonce that no header carries as one', () => ({ nonce: 'a nonce' }), 1],
    ['with the nonce that was sent', () => ({ nonce: 'same' }), 2],
    ['with another error', () => ({ nonce: 'theirs', error: 'invalid_dpop_proof' }), 1],
    ['with the status of a refusal', () => ({ nonce: 'theirs', status: 403 }), 1],
    ['a fourth time', (count) => ({ nonce: `n${count}` }), 4],
  ];
  it.each(
    CASES.flatMap((one) =>
      (['token', 'lookup', 'bc-authorize', 'poll'] as const)
        // A poll goes on, and a lookup takes another token.
        .filter(
          (at) => one[0] !== { poll: 'a fourth time', lookup: 'with another error' }[at as string],
        )
        .map((at) => [at, ...one] as const),
    ),
  )('at %s, %s: OPERATOR_REFUSED', async (at, _, challenge, exchanges) => {
    const flow = at === 'token' || at === 'lookup' ? '2-legged' : '3-legged';
    let count = 0;
    const operator = await scripted(flow, ({ path }) =>
      path.endsWith(PATHS[at]) ? challenge((count += 1)) : undefined,
    );
    expect(await window(operator.service.request(), ALICE)).toBe('OPERATOR_REFUSED');
    expect(operator.count(PATHS[at])).toBe(exchanges);
    // No token was dropped for it.
    expect(operator.count('/token')).toBe(
      at === 'bc-authorize' ? 0 : at === 'lookup' ? 1 : exchanges,
    );
  });
});

it('a challenge to an exchange without a proof is a refusal', async () => {
  const operator = await scripted('2-legged', () => ({ nonce: 'theirs' }), { hasProofs: false });
  expect(await window(operator.service.request(), ALICE)).toBe('OPERATOR_REFUSED');
  expect(operator.server.received).toHaveLength(1);
});

describe('a challenge that may be the reply to another request', () => {
  // On a connection that has carried another exchange, at a server that echoes.
  it.each([
    ['a token', '/token', 'OPERATOR_INVALID_REPLY', [2, 1]],
    ['a lookup', '/check', 'OPERATOR_INVALID_REPLY', [2, 2]],
  ])('to the request for %s counts as lost', async (_, path, answer, [tokens, lookups]) => {
    const operator = await scripted('2-legged', (received) =>
      received.path.endsWith(path) && operator.count(path) === 2
        ? { nonce: 'another', isEchoed: false }
        : undefined,
    );
    expect(await window(operator.service.request(), ALICE)).toBe(true);
    expect(await window(operator.service.request(), numberOf(1))).toBe(answer);
    expect([operator.count('/token'), operator.count('/check')]).toEqual([tokens, lookups]);
  });

  it('to bc-authorize leaves the consent in doubt, and nothing is sent again', async () => {
    const operator = await scripted('3-legged', ({ path }) =>
      path.endsWith('/bc-authorize') && operator.count('/bc-authorize') > 1
        ? { nonce: 'another', isEchoed: false }
        : undefined,
    );
    expect(await window(operator.service.request(), ALICE)).toBe(true);
    expect(await window(operator.service.request(), numberOf(1))).toBe('CONSENT_PENDING');
    expect(await window(operator.service.request(), numberOf(1))).toBe('CONSENT_PENDING');
    expect(operator.count('/bc-authorize')).toBe(2);
  });

  it('to a poll is polled again after its interval', async () => {
    const reply = ({ path }: Received) =>
      path.endsWith('/token') && operator.count('/token') === 2
        ? { nonce: 'another', isEchoed: false }
        : undefined;
    const operator = await scripted('3-legged', reply, { clock: FAST });
    expect(await window(patient(operator), ALICE)).toBe(true);
    const startedAtMs = FAST.monotonicMs();
    expect(await window(patient(operator), numberOf(1))).toBe(true);
    expect(FAST.monotonicMs() - startedAtMs).toBeGreaterThan(900);
    expect([operator.count('/bc-authorize'), operator.count('/token')]).toEqual([2, 3]);
  });
});

it('a poll that is challenged four times is polled again after its interval: one prompt, one answer', async () => {
  const reply = ({ path }: Received) =>
    path.endsWith('/token') && operator.count('/token') <= 4
      ? { nonce: `n${operator.count('/token')}` }
      : undefined;
  const operator = await scripted('3-legged', reply, { clock: FAST });
  const startedAtMs = FAST.monotonicMs();
  expect(await window(patient(operator), ALICE)).toBe(true);
  expect(FAST.monotonicMs() - startedAtMs).toBeGreaterThan(900);
  expect([operator.count('/bc-authorize'), operator.count('/token')]).toEqual([1, 5]);
});

it('a lookup after consent is offered again while each challenge names another nonce: one prompt, one answer', async () => {
  const operator = await scripted('3-legged', ({ path }) =>
    path.endsWith('/check') && operator.count('/check') <= 3
      ? { nonce: `n${operator.count('/check')}` }
      : undefined,
  );
  expect(await window(operator.service.request(), ALICE)).toBe(true);
  expect([operator.count('/bc-authorize'), operator.count('/token')]).toEqual([1, 1]);
});

describe('a lookup after consent that only challenges answered keeps its token: no request prompts again', () => {
  it.each([
    [300, 'is answered', true],
    // As long as an exchange may take.
    [60, 'has the failure', 'OPERATOR_REFUSED'],
  ])(
    'challenged a fourth time, with a token of %d s: the next request %s',
    async (seconds, _, answer) => {
      const reply = ({ path }: Received) =>
        path.endsWith('/check') && operator.count('/check') <= 4
          ? { nonce: `n${operator.count('/check')}` }
          : undefined;
      const operator = await scripted('3-legged', reply, { tokenSeconds: seconds });
      expect(await window(operator.service.request(), ALICE)).toBe('OPERATOR_REFUSED');
      expect(await window(operator.service.request(), ALICE)).toBe(answer);
      expect([operator.count('/bc-authorize'), operator.count('/token')]).toEqual([1, 1]);
    },
  );

  it('whose repetition never left: the next request is answered', async () => {
    const operator = await scripted('3-legged', ({ path }) => {
      if (!path.endsWith('/check') || operator.count('/check') > 1) return undefined;
      operator.server.shut();
      return { nonce: 'first', isLast: true };
    });
    expect(await window(operator.service.request(), ALICE)).toBe('OPERATOR_UNAVAILABLE');
    expect(operator.count('/check')).toBe(1);
    await operator.server.reopen();
    expect(await window(operator.service.request(), ALICE)).toBe(true);
    expect([operator.count('/bc-authorize'), operator.count('/token')]).toEqual([1, 1]);
    const lookups = operator.audit.filter(({ event }) => event === 'lookup');
    expect(lookups).toMatchObject([
      {},
      { outcome: 'OPERATOR_UNAVAILABLE', attempts: 1 },
      {},
      { outcome: 'answered', attempts: 1 },
    ]);
  });
});

describe('a prompt that is challenged', () => {
  it('is one prompt: one written intent, one place of each quota, one audit pair that counts both exchanges', async () => {
    const store = new CountedWrites(systemClock);
    const writes: number[] = [];
    const reply = ({ path }: Received) => {
      if (!path.endsWith('/bc-authorize')) return undefined;
      writes.push(store.writes);
      return writes.length === 1 ? { nonce: 'first' } : undefined;
    };
    const limits = { numbersPerHour: 1, lookupsPerHour: 1, promptsPerHour: 1 };
    const operator = await scripted('3-legged', reply, { store, limits });
    expect(await window(patient(operator), ALICE)).toBe(true);
    expect(writes).toEqual([1, 1]);
    const prompts = operator.audit.filter(({ event }) => event === 'consent-request');
    expect(prompts).toMatchObject([{}, { outcome: 'asked', attempts: 2 }]);

    // The place is taken, and not given back for the exchange that was only challenged.
    expect(await date(patient(operator), ALICE)).toBe('RATE_LIMITED');
    expect(operator.count('/bc-authorize')).toBe(2);
  });

  it.each([
    ['is repeated', 'before', 5000, true, 3],
    ['is not repeated', 'after', 6000, 'OPERATOR_TIMEOUT', 2],
  ])(
    'by two replies of a timeout each %s %s its one deadline',
    async (_, __, replyMs, answer, exchanges) => {
      const clock = leaping();
      const reply = ({ path }: Received) => {
        if (!path.endsWith('/bc-authorize') || operator.count('/bc-authorize') > 2)
          return undefined;
        clock.leap(replyMs);
        return { nonce: `n${operator.count('/bc-authorize')}` };
      };
      // An exchange and one retry have twice this time.
      const operator = await scripted('3-legged', reply, { clock, timeoutMs: 6000 });
      expect(await window(patient(operator), ALICE)).toBe(answer);
      expect(operator.count('/bc-authorize')).toBe(exchanges);
    },
  );
});
