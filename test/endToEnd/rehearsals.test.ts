import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { REHEARSALS } from '../../src/graphql/rehearsals.ts';
import { startServer } from '../../src/app/server.ts';
import { simulatorAt } from '../../simulator/address.ts';
import { startSimulator } from '../../simulator/simulator.ts';
import { systemClock } from '../../src/system/clock.ts';
import { silentLog } from '../support/silentLog.ts';
import { askAt, startSimulated } from '../support/service.ts';

const QUERY =
  'query ($numbers: [ID!]!) { phoneNumbers(e164s: $numbers) { simSwappedWithin simSwapCheck { reason } } }';
const NEVER_ANSWERED = '+447700900016';

test('with the simulator each has its answer, without a call to the operator', async () => {
  // As `npm start` without an operator.
  const simulator = await startSimulator({ port: 0 });
  const config = readConfig({ PORT: '0', REQUEST_TIMEOUT_MS: '1000' });
  if (config.simulator === undefined) throw new Error('Without an operator there is a simulator.');
  const operators = config.simulator(simulatorAt(simulator.authUrl));
  const server = await startServer({ config, operators, clock: systemClock, log: silentLog });
  onTestFinished(async () => {
    await server.stop();
    await simulator.close();
  });
  for (const { number, answer } of REHEARSALS) {
    const code = answer === 'FORBIDDEN' ? answer : answer.code;
    const { data, errors } = await askAt(server.url, QUERY, { numbers: [number] });
    expect(data.phoneNumbers).toEqual([
      { simSwappedWithin: null, simSwapCheck: code === 'FORBIDDEN' ? null : { reason: code } },
    ]);
    expect(errors[0]?.extensions).toMatchObject({ code });
  }
  expect(simulator.stats()).toMatchObject({ tokens: 0, lookups: 0 });

  const number = REHEARSALS[0]?.number;
  const beside = await askAt(server.url, QUERY, { numbers: [number, NEVER_ANSWERED] });
  expect(beside.data.phoneNumbers[0]).toMatchObject({ simSwapCheck: { reason: 'RATE_LIMITED' } });
});

test('with a real operator they are numbers like any other', async () => {
  await using service = await startSimulated();
  for (const { number } of REHEARSALS) {
    // The operator was called, and does not know it.
    expect((await service.ask(QUERY, { numbers: [number] })).codes).toEqual(['NUMBER_NOT_SERVED']);
  }
  expect(service.stats().refusedLookups).toBe(REHEARSALS.length);
});
