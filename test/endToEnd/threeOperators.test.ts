import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { launchSimulator, type LaunchedSimulator } from '../../simulator/launch.ts';
import { swappedWithin } from '../../simulator/line.ts';
import type { Counts } from '../../simulator/stats.ts';
import { findTestNumber } from '../../simulator/testNumbers.ts';
import { startServiceOf } from '../operatorsFile.ts';
import { filledIn, PROFILE_SECRETS } from '../../scripts/simulatedProfiles.ts';

/** Two flows, and three rules for tokens: each number's own, one for each lookup, one for all. */
const OPERATORS = ['vodafone', 'claro', 'aggregator'] as const;
type Operator = (typeof OPERATORS)[number];

/** A window of a day costs one lookup more where a SIM was swapped within ten days. */
const NUMBERS: Readonly<Record<Operator, readonly string[]>> = {
  vodafone: ['+447700900001', '+447700900004', '+447700900500'],
  claro: ['+12005550195', '+12005550100', '+12005550101'],
  aggregator: ['+12995550197', '+12995550100', '+12995550101', '+12995550199'],
};

const PREFIXES: Readonly<Record<Operator, readonly string[]>> = {
  vodafone: ['+44'],
  claro: ['default'],
  aggregator: ['+1299'],
};

const ASK = `query ($e164s: [ID!]!) {
  phoneNumbers(e164s: $e164s) {
    e164
    day: simSwappedWithin(maxAgeHours: 24)
    tenDays: simSwappedWithin(maxAgeHours: 240)
  }
}`;

/** In an order in which no operator's numbers stand together. */
const E164S = [0, 1, 2, 3].flatMap((index) =>
  OPERATORS.flatMap((operator) => NUMBERS[operator][index] ?? []),
);

const simulators = new Map<Operator, LaunchedSimulator>();
const entries = await Promise.all(
  OPERATORS.map(async (operator) => {
    const simulator = await launchSimulator({ dialect: operator });
    simulators.set(operator, simulator);
    return { ...filledIn(operator, simulator), prefixes: PREFIXES[operator] };
  }),
);
const service = await startServiceOf(entries, {
  ...PROFILE_SECRETS,
  CONSENT_WAIT_MS: '20000',
  REQUEST_TIMEOUT_MS: '30000',
});
afterAll(async () => {
  await service.stop();
  await Promise.all([...simulators.values()].map((simulator) => simulator.stop()));
});

beforeEach(async () => {
  await Promise.all(OPERATORS.map((operator) => stats(operator, 'DELETE')));
});

describe('one query over the customers of three operators', () => {
  it('is answered rightly, with the fewest lookups, and prompts where consent is needed', async () => {
    const { data, errors } = await service.ask(ASK, { e164s: E164S });

    expect(errors).toEqual([]);
    expect(data).toEqual({ phoneNumbers: E164S.map((e164) => truthOf(e164)) });
    expect(await seen('vodafone')).toEqual({ lookups: 4, tokens: 3, prompts: 3 });
    expect(await seen('claro')).toEqual({ lookups: 4, tokens: 4, prompts: 0 });
    expect(await seen('aggregator')).toEqual({ lookups: 5, tokens: 1, prompts: 0 });
  });

  it('asked again prompts no owner, and takes a token only where each lookup needs one', async () => {
    const { data, errors } = await service.ask(ASK, { e164s: E164S });

    expect(errors).toEqual([]);
    expect(data).toEqual({ phoneNumbers: E164S.map((e164) => truthOf(e164)) });
    // Facts of the 3-legged flow are kept for a minute; those of the 2-legged for their request.
    expect(await seen('vodafone')).toEqual({ lookups: 0, tokens: 0, prompts: 0 });
    expect(await seen('claro')).toEqual({ lookups: 4, tokens: 4, prompts: 0 });
    expect(await seen('aggregator')).toEqual({ lookups: 5, tokens: 0, prompts: 0 });
  });

  it.each(OPERATORS)('reaches no other operator with the numbers of %s alone', async (operator) => {
    await service.ask(ASK, { e164s: NUMBERS[operator] });

    const others = OPERATORS.filter((other) => other !== operator);
    const requests = await Promise.all(others.map(async (other) => (await stats(other)).requests));
    expect(requests).toEqual([0, 0]);
  });

  it('fails for the numbers of an operator that is gone, and for no others', async () => {
    await simulators.get('claro')?.stop();

    const { data, errors, text, headers } = await service.ask(ASK, { e164s: E164S });

    const gone = new Set(NUMBERS.claro);
    expect(data).toEqual({
      phoneNumbers: E164S.map((e164) =>
        gone.has(e164) ? { e164, day: null, tenDays: null } : truthOf(e164),
      ),
    });
    expect(errors.map(({ extensions }) => extensions?.code)).toEqual(
      NUMBERS.claro.flatMap(() => ['OPERATOR_UNAVAILABLE', 'OPERATOR_UNAVAILABLE']),
    );
    expect(text + JSON.stringify([...headers])).not.toContain('claro');
    const failures = service.logged.filter((line) => line.startsWith('warn'));
    expect(failures).not.toEqual([]);
    for (const line of failures) expect(line).toContain('"operator":"claro"');
  });
});

function truthOf(e164: string): object {
  const { line } = findTestNumber(e164) ?? {};
  if (line === undefined) throw new Error(`${e164} is no test number.`);
  return { e164, day: swappedWithin(line, 24), tenDays: swappedWithin(line, 240) };
}

async function stats(operator: Operator, method = 'GET'): Promise<Counts> {
  const reply = await fetch(`${simulators.get(operator)?.authUrl}/stats`, { method });
  return (await reply.json()) as Counts;
}

/** What an operator bills, or asks of people. None of it was refused. */
async function seen(operator: Operator): Promise<Partial<Counts>> {
  const { lookups, tokens, prompts, ...others } = await stats(operator);
  expect(others).toMatchObject({
    refusedLookups: 0,
    refusedClients: 0,
    reusedTokens: 0,
    misusedTokens: 0,
    doublePrompts: 0,
    earlyPolls: 0,
  });
  return { lookups, tokens, prompts };
}
