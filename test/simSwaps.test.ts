import { describe, expect, it } from 'vitest';
import { readConfig } from '../src/config/config.ts';
import type { Environment } from '../src/config/environment.ts';
import type { NumberPrefix } from '../src/domain/numberPrefix.ts';
import type { PhoneNumber } from '../src/domain/phoneNumber.ts';
import { createCorrelator } from '../src/http/correlator.ts';
import type { OperatorSettings } from '../src/operator/operatorSettings.ts';
import { createSimSwaps, type SimSwaps } from '../src/simSwaps/simSwaps.ts';
import { systemClock } from '../src/system/clock.ts';
import { askField } from './askedFields.ts';
import { line } from './endToEnd/askedSimSwaps.ts';
import { WiredOperator } from './wiredOperator.ts';
import { answerJson } from './http/recordingServer.ts';
import { silentLog } from './silentLog.ts';
import { callerNamed } from './values.ts';
import { withEntry } from './operatorEntry.ts';
import { LightAbortSignal } from '../src/http/lightAbortSignal.ts';

function settingsFor(operator: WiredOperator, settings: Environment = {}) {
  return readConfig(
    withEntry({
      OPERATOR_AUTH_URL: operator.url,
      OPERATOR_SIM_SWAP_URL: operator.url,
      OPERATOR_CLIENT_ID: 'test-client',
      OPERATOR_CLIENT_SECRET: 'test-secret',
      ...settings,
    }),
  );
}

/** The operator of these settings, asked about the numbers with this prefix. */
function part(
  operator: WiredOperator,
  prefix: NumberPrefix,
  settings: Environment = {},
): OperatorSettings[] {
  return settingsFor(operator, settings).operators.map((one) => ({
    ...one,
    name: `operator of ${prefix}`,
    prefixes: [prefix],
  }));
}

function create(operator: WiredOperator, operators: readonly OperatorSettings[]): SimSwaps {
  const { consent } = settingsFor(operator);
  return createSimSwaps({ operators, consent, clock: systemClock, log: silentLog });
}

function loaderOf(simSwaps: SimSwaps) {
  const cameInAtMs = systemClock.monotonicMs();
  return simSwaps.forRequest({
    caller: callerNamed('caller'),
    purpose: 'fraud-prevention',
    correlator: createCorrelator(undefined),
    cameInAtMs,
    signal: new LightAbortSignal(),
    deadlineMs: cameInAtMs + 60_000,
  });
}

/** In a request of its own: an answer, or the code of why there is none. */
async function ask(simSwaps: SimSwaps, number: PhoneNumber): Promise<boolean | string> {
  const answer = await askField(loaderOf(simSwaps), number, 'simSwappedWithin', {
    maxAgeHours: 240,
  });
  if (answer.kind === 'failure') return answer.failure.code;
  return answer.kind === 'window' ? answer.swapped : 'another answer';
}

describe('a number', () => {
  it('is asked about at the operator that serves it, and nowhere else', async () => {
    await using special = await WiredOperator.start({
      lookUp: (received, response) => answerJson(received, response, { swapped: true }),
    });
    await using other = await WiredOperator.start();
    const simSwaps = create(special, [
      ...part(other, '+44'),
      ...part(special, '+4477009005', { OPERATOR_OPERATIONS: 'check' }),
    ]);

    expect(await ask(simSwaps, line(500))).toBe(true);
    expect(await ask(simSwaps, line(1))).toBe(false);

    expect(special.lookups).toHaveLength(1);
    expect(other.lookups).toHaveLength(1);
    await simSwaps.close();
  });

  it('that no operator serves is NUMBER_NOT_SERVED without a call, its consent as well', async () => {
    await using operator = await WiredOperator.start();
    const simSwaps = create(operator, part(operator, '+33', { OPERATOR_FLOW: '3-legged' }));

    expect(await ask(simSwaps, line(1))).toBe('NUMBER_NOT_SERVED');
    const consent = await askField(loaderOf(simSwaps), line(1), 'simSwapConsent');
    expect(consent).toEqual({
      kind: 'failure',
      failure: { code: 'NUMBER_NOT_SERVED', reach: 'number' },
    });

    expect(operator.received).toEqual([]);
    await simSwaps.close();
  });

  it('is the only operator’s where there is one', async () => {
    await using operator = await WiredOperator.start();
    const simSwaps = create(operator, settingsFor(operator).operators);
    expect(await ask(simSwaps, line(1))).toBe(false);
    await simSwaps.close();
  });
});

it('an operator that fails gets no further requests, and the other one does', async () => {
  await using broken = await WiredOperator.start({
    token: (received, response) => answerJson(received, response, {}, 503),
  });
  await using well = await WiredOperator.start();
  const simSwaps = create(well, [...part(broken, '+4477009'), ...part(well, '+4477009005')]);

  // One after the other: the circuit opens after twenty exchanges about five numbers or more.
  for (let index = 0; index < 30; index += 1) await ask(simSwaps, line(index));
  const reached = broken.received.length;
  expect(await ask(simSwaps, line(1))).toBe('OPERATOR_UNAVAILABLE');

  expect(broken.received).toHaveLength(reached);
  expect(reached).toBeLessThan(30);
  expect(await ask(simSwaps, line(500))).toBe(false);
  await simSwaps.close();
});
