import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../src/config.ts';
import type { Environment } from '../src/config/environment.ts';
import type { PhoneNumber } from '../src/domain/phoneNumber.ts';
import type { Generation, Generations } from '../src/generations.ts';
import { createCorrelator } from '../src/http/correlator.ts';
import type { OperatorSettings } from '../src/operator/operatorSettings.ts';
import { createGenerations } from '../src/simSwaps.ts';
import { answerJson, type Answer } from './http/recordingServer.ts';
import { operatorNamed, window, type OperatorChanges } from './severalOperators.ts';
import { silentLog } from './silentLog.ts';
import { TestClock } from './testClock.ts';
import { ALICE, BOB, callerNamed } from './values.ts';
import { acknowledge, answerNever, grant, pend, WiredOperator } from './wiredOperator.ts';

let operator: WiredOperator;
let other: WiredOperator;
let clock: TestClock;
let generations: Generations;

beforeEach(async () => {
  clock = new TestClock();
  operator = await WiredOperator.start();
  other = await WiredOperator.start();
  generations = createGenerations({ clock, log: silentLog });
});

afterEach(async () => {
  await generations.close();
  await operator[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

function begin(...operators: readonly OperatorSettings[]): Generation {
  return generations.begin({
    operators: operators.map((settings) => ({ settings })),
    consent: readConfig({}).consent,
  });
}

/** The operator under its one name. */
function named(changes: OperatorChanges = {}, environment: Environment = {}): OperatorSettings {
  return operatorNamed('alpha', operator.url, { prefixes: ['default'], ...changes }, environment);
}

function asking(changes: OperatorChanges = {}): OperatorSettings {
  return named(changes, { OPERATOR_FLOW: '3-legged' });
}

/** In a request of its own that waits no longer than it has to. */
function ask(generation: Generation, number: PhoneNumber, waitMs = 0): Promise<boolean | string> {
  const cameInAtMs = clock.monotonicMs();
  const loader = generation.forRequest({
    caller: callerNamed('caller'),
    purpose: 'fraud-prevention',
    correlator: createCorrelator(undefined),
    cameInAtMs,
    signal: new AbortController().signal,
    deadlineMs: cameInAtMs + 60_000,
    waitMs,
  });
  return window(loader, number);
}

/** An answer that is held back until it is let go. */
function held(answer: Answer): { readonly answer: Answer; readonly letGo: () => void } {
  const gone = Promise.withResolvers<void>();
  return {
    answer: (received, response) => void gone.promise.then(() => answer(received, response)),
    letGo: gone.resolve,
  };
}

const deny: Answer = (received, response) =>
  answerJson(received, response, { error: 'access_denied' }, 400);

function basic(clientId: string, secret: string): string {
  return `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
}

const LIMITS = { timeoutMs: 50_000, connections: 8, permits: 8 };

describe('an operator whose settings', () => {
  it.each<[string, OperatorChanges, readonly string[]]>([
    ['stay', {}, []],
    ['give it other numbers', { prefixes: ['+44', '+4477'] }, []],
    [
      'have another price',
      { price: { currency: 'EUR', microsPerLookup: { 'retrieve-date': 1, check: 1 } } },
      [],
    ],
    ['have another secret', { clientAuthentication: { method: 'basic', secret: 'new' } }, []],
    ['have other limits', { limits: LIMITS }, ['alpha']],
    ['have another protocol', { http2: 'never' }, ['alpha']],
  ])('%s is made anew only where it must be', async (_name, changes, made) => {
    const first = begin(named());
    await ask(first, ALICE);
    await ask(first, ALICE);
    const connections = operator.connections.length;
    const second = begin(named(changes));
    expect(second.made).toEqual(made);
    await first.retire();
    expect(await ask(second, ALICE)).toBe(false);
    expect(operator.connections.length === connections).toBe(made.length === 0);
  });

  it('have another secret is shown the new one, on the connections that it has', async () => {
    const first = begin(named());
    await ask(first, ALICE);
    begin(named({ clientAuthentication: { method: 'basic', secret: 'new' } }));
    // A request that is under way takes it as well: the old one may count no more.
    await ask(first, BOB);
    expect(operator.tokens.map(({ headers }) => headers.authorization)).toEqual([
      basic('test-client', 'test-secret'),
      basic('test-client', 'new'),
    ]);
  });

  it('are wrong leaves the generation before as it is', async () => {
    const first = begin(named());
    expect(() => begin(named({ others: ['nowhere'], limits: LIMITS }))).toThrow('others');
    expect(await ask(first, ALICE)).toBe(false);
    expect(generations.load()).toHaveLength(first.load().length);
  });
});

describe('while settings change, a question', () => {
  it('that is under way is not asked a second time', async () => {
    const { answer, letGo } = held(answerNever);
    operator.script = { lookUp: answer };
    const first = begin(named());
    const before = ask(first, ALICE);
    await expect.poll(() => operator.lookups.length).toBe(1);
    const second = begin(named({ limits: LIMITS }));
    const retired = first.retire();
    const after = ask(second, ALICE);
    letGo();
    expect(await Promise.all([before, after])).toEqual([false, false]);
    await retired;
    expect(operator.lookups).toHaveLength(1);
  });

  it('goes to whom the settings name by then', async () => {
    begin(named());
    const second = begin(operatorNamed('beta', other.url, { prefixes: ['default'] }));
    expect(await ask(second, ALICE)).toBe(false);
    expect([operator.lookups.length, other.lookups.length]).toEqual([0, 1]);
  });
});

describe('a consent that is under way when the settings change', () => {
  /** What the settings become. */
  const CHANGES: readonly (readonly [string, () => OperatorSettings])[] = [
    ['the limits', () => asking({ limits: LIMITS })],
    ['the secret', () => asking({ clientAuthentication: { method: 'basic', secret: 'new' } })],
    ['the client', () => asking({ clientId: 'new-client' })],
    ['the name', () => ({ ...asking(), name: 'omega' })],
    ['the flow', () => named()],
    [
      'the operator',
      () =>
        operatorNamed('beta', other.url, { prefixes: ['default'] }, { OPERATOR_FLOW: '3-legged' }),
    ],
  ];

  it.each(CHANGES)('%s goes on where it began: no second prompt', async (_name, settings) => {
    operator.script = { token: pend };
    const first = begin(asking());
    expect(await ask(first, ALICE)).toBe('CONSENT_PENDING');
    const second = begin(settings());
    const retired = first.retire();

    expect(await ask(second, ALICE)).toBe('CONSENT_PENDING');
    operator.script = { token: grant, lookUp: answerNever };
    await clock.advance(5_000);
    const answer = ask(second, ALICE, 10_000);
    await clock.advance(1_000);
    expect(await answer).toBe(false);
    expect(operator.prompts).toHaveLength(1);
    expect(other.received).toEqual([]);
    await generations.close();
    await retired;
  });

  it('the operator is denied there: the owner is not prompted by the next one either', async () => {
    operator.script = { token: deny };
    const first = begin(asking());
    expect(await ask(first, ALICE, 5_000)).toBe('CONSENT_DENIED');
    const second = begin(
      operatorNamed('beta', other.url, { prefixes: ['default'] }, { OPERATOR_FLOW: '3-legged' }),
    );
    expect(await ask(second, ALICE)).toBe('CONSENT_DENIED');
    expect(await ask(second, BOB)).toBe('CONSENT_PENDING');
    await expect.poll(() => other.prompts.length).toBe(1);
    expect(operator.prompts).toHaveLength(1);
    await first.close();
  });

  it('its request is on the wire: no request of the new settings prompts beside it', async () => {
    const { answer, letGo } = held(acknowledge);
    operator.script = { authorize: answer, token: pend };
    const first = begin(asking());
    const before = ask(first, ALICE);
    await expect.poll(() => operator.prompts.length).toBe(1);
    const second = begin(asking({ clientId: 'new-client' }));
    const after = ask(second, ALICE);
    letGo();
    expect(await Promise.all([before, after])).toEqual(['CONSENT_PENDING', 'CONSENT_PENDING']);
    expect(operator.prompts).toHaveLength(1);
  });
});

describe('numbers that move to an operator that is there as before', () => {
  const FLOW = { OPERATOR_FLOW: '3-legged' };
  type Members = Pick<OperatorChanges, 'prefixes' | 'others'>;
  const both = (alpha: Members, beta: Members): Generation =>
    begin(
      operatorNamed('alpha', operator.url, alpha, FLOW),
      operatorNamed('beta', other.url, beta, FLOW),
    );

  it.each<[string, Members, Members]>([
    ['a prefix', { prefixes: ['+33'] }, { prefixes: ['+44'] }],
    ['a longer prefix', { prefixes: ['+44'] }, { prefixes: ['+44770090'] }],
    ['the default', {}, { prefixes: ['default'] }],
    ['a prefix, and the loser is asked next', {}, { prefixes: ['+44'], others: ['alpha'] }],
  ])('by %s: a consent under way goes on where it began', async (_name, alpha, beta) => {
    operator.script = { token: pend };
    const first = both({ prefixes: ['+44'] }, { prefixes: ['+33'] });
    expect(await ask(first, ALICE)).toBe('CONSENT_PENDING');
    await expect.poll(() => operator.prompts.length).toBe(1);
    const second = both(alpha, beta);
    await first.retire();

    expect(await ask(second, ALICE)).toBe('CONSENT_PENDING');
    expect(other.prompts).toHaveLength(0);
    expect(await ask(second, BOB)).toBe('CONSENT_PENDING');
    await expect.poll(() => other.prompts.length).toBe(1);
    // Others may be moved meanwhile, and the operator be made anew.
    const third = begin(
      operatorNamed('alpha', operator.url, { ...alpha, limits: LIMITS }, FLOW),
      operatorNamed('beta', other.url, { ...beta, price: undefined }, FLOW),
      operatorNamed('gamma', other.url, { prefixes: ['+1'] }, FLOW),
    );
    await second.retire();
    operator.script = { token: grant, lookUp: answerNever };
    await clock.advance(5_000);
    const answer = ask(third, ALICE, 10_000);
    await clock.advance(1_000);
    expect(await answer).toBe(false);
    expect([operator.prompts.length, other.prompts.length]).toEqual([1, 1]);
  });

  it('are asked about there once no consent can live where they were', async () => {
    operator.script = { token: pend };
    const first = both({ prefixes: ['+44'] }, { prefixes: ['+33'] });
    await ask(first, ALICE);
    const second = both({ prefixes: ['+33'] }, { prefixes: ['+44'] });
    await first.retire();
    await clock.advance(660_000);
    expect(await ask(second, ALICE)).toBe('CONSENT_PENDING');
    await expect.poll(() => other.prompts.length).toBe(1);
    expect(operator.prompts).toHaveLength(1);
  });
});

describe('an operator that is gone', () => {
  it('ends with its last request: its connections close', async () => {
    const first = begin(named());
    await ask(first, ALICE);
    begin(operatorNamed('beta', other.url, { prefixes: ['default'] }));
    await first.retire();
    await Promise.all(operator.connections.map(({ closed }) => closed));
    expect(generations.load().map((load) => load.operator)).toEqual(['beta', 'beta']);
  });

  it('and had asked owners ends when no consent can live there any more', async () => {
    operator.script = { token: pend };
    const first = begin(asking());
    await ask(first, ALICE);
    const second = begin(operatorNamed('beta', other.url, { prefixes: ['default'] }));
    let isOver = false;
    const retired = first.retire().then(() => (isOver = true));
    await clock.advance(600_000);
    expect(isOver).toBe(false);
    await clock.advance(60_000);
    await retired;
    await Promise.all(operator.connections.map(({ closed }) => closed));
    expect(await ask(second, ALICE)).toBe(false);
    expect(clock.sleepers).toBe(0);
  });

  it('and comes back is the same, with what it knows', async () => {
    operator.script = { token: pend };
    const first = begin(asking());
    await ask(first, ALICE);
    begin(operatorNamed('beta', other.url, { prefixes: ['default'] }));
    const retired = first.retire();
    const third = begin(asking());
    expect(third.made).toEqual([]);
    await expect.poll(() => operator.prompts.length).toBe(1);
    expect(await ask(third, ALICE)).toBe('CONSENT_PENDING');
    expect(operator.prompts).toHaveLength(1);
    await generations.close();
    await retired;
  });

  it('among many makes room: no more than a bounded number is kept for consents', async () => {
    const retirements: Promise<void>[] = [];
    for (let index = 0; index < 40; index += 1) {
      const generation = begin(asking({ clientId: `client-${index}` }));
      if (index > 0) await clock.advance(1);
      retirements.push(generation.retire());
    }
    await clock.advance(1);
    expect(clock.sleepers).toBeLessThanOrEqual(17);
    await generations.close();
    await Promise.all(retirements);
  });
});
