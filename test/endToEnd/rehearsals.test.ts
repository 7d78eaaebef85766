import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { REHEARSALS } from '../../src/graphql/rehearsals.ts';
import { startServer } from '../../src/app/server.ts';
import { simulatorAt } from '../../simulator/address.ts';
import { startSimulator } from '../../simulator/simulator.ts';
import { systemClock } from '../../src/system/clock.ts';
import { silentLog } from '../silentLog.ts';
import { askAt, startSimulated } from '../service.ts';

const QUERY =
  'query ($number: ID!) { phoneNumber(e164: $number) { simSwappedWithin simSwapCheck { reason } } }';

/** As `npm start` without an operator. */
async function startRehearsal() {
  const simulator = await startSimulator({ port: 0 });
  const config = readConfig({ PORT: '0' });
  if (config.simulator === undefined) throw new Error('Without an operator there is a simulator.');
  const operators = [config.simulator(simulatorAt(simulator.authUrl))];
  const server = await startServer({ config, operators, clock: systemClock, log: silentLog });
  onTestFinished(async () => {
    await server.stop();
    await simulator.close();
  });
  return { url: server.url, simulator };
}

test.each(REHEARSALS)('$number: $does', async ({ number, answer }) => {
  const code = answer === 'FORBIDDEN' ? answer : answer.code;
  const { url, simulator } = await startRehearsal();

  const { data, errors } = await askAt(url, QUERY, { number });

  expect(data.phoneNumber).toEqual({
    simSwappedWithin: null,
    simSwapCheck: code === 'FORBIDDEN' ? null : { reason: code },
  });
  expect(errors[0]?.extensions).toMatchObject({ code });
  expect(simulator.stats()).toMatchObject({ tokens: 0, lookups: 0 });
});

test.each(REHEARSALS)(
  '$number is a number as any other beside a real operator',
  async ({ number }) => {
    await using service = await startSimulated();
    const { codes } = await service.ask(QUERY, { number });
    // The operator was asked, and does not know it.
    expect(codes).toEqual(['NUMBER_NOT_SERVED']);
    expect(service.stats().refusedLookups).toBe(1);
  },
);
