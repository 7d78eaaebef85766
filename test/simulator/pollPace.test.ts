import { afterEach, describe, expect, test } from 'vitest';
import {
  startSimulator,
  type Simulator,
  type SimulatorSettings,
} from '../../simulator/simulator.ts';
import { poll, read, requestConsent } from './client.ts';

const GRANTED_AFTER_8_S = '+447700900051';
const NEVER_ANSWERED = '+447700900055';
const SLOWED_DOWN_ONCE = '+447700900056';
const WITHOUT_INTERVAL = '+447700900059';

let simulator: Simulator | undefined;
let nowMs = 0;

afterEach(async () => {
  await simulator?.close();
  nowMs = 0;
});

async function start(settings: Partial<SimulatorSettings> = {}): Promise<Simulator> {
  simulator = await startSimulator({ port: 0, nowMs: () => nowMs, ...settings });
  return simulator;
}

/** The outcome of each poll, made at these milliseconds after bc-authorize. */
async function outcomes(number: string, pollsAtMs: readonly number[]): Promise<string[]> {
  const operator = simulator ?? (await start());
  const authReqId = await read(await requestConsent(operator, number), 'auth_req_id');
  const seen: string[] = [];
  for (const atMs of pollsAtMs) {
    nowMs = atMs;
    const reply = await poll(operator, authReqId);
    seen.push(reply.ok ? 'granted' : await read(reply, 'error'));
  }
  return seen;
}

describe('the pace of polls, with an interval of 2 s', () => {
  const [WAIT, SLOW] = ['authorization_pending', 'slow_down'];
  const [AFTER_8_S, ONCE] = [GRANTED_AFTER_8_S, SLOWED_DOWN_ONCE];

  test.each([
    ['the first may come at once', AFTER_8_S, [0], [WAIT], 0],
    ['one an interval later that arrives sooner', AFTER_8_S, [0, 1900], [WAIT, WAIT], 0],
    ['one that is sent too early', AFTER_8_S, [0, 1899], [WAIT, SLOW], 1],
    ['5 s longer, for good', AFTER_8_S, [0, 1000, 7000, 14_000], [WAIT, SLOW, SLOW, SLOW], 3],
    ['patience', AFTER_8_S, [0, 2000, 4000, 6000, 8000], [WAIT, WAIT, WAIT, WAIT, 'granted'], 0],
    ['being slowed down without having been early', ONCE, [0, 7000], [SLOW, 'granted'], 0],
    ['a redeemed id is dead', WITHOUT_INTERVAL, [0, 5000], ['granted', 'invalid_grant'], 0],
    ['an expired id', NEVER_ANSWERED, [0, 6000], [WAIT, 'expired_token'], 0],
  ])('%s', async (_name, number, pollsAtMs, expected, earlyPolls) => {
    const operator = await start();

    expect(await outcomes(number, pollsAtMs)).toEqual(expected);
    expect(operator.stats()).toMatchObject({ polls: pollsAtMs.length, earlyPolls, prompts: 1 });
  });

  test('an id that was never issued', async () => {
    const operator = await start();

    expect(await read(await poll(operator, 'never-issued'), 'error')).toBe('invalid_grant');
  });
});

describe('polls of one id at the same time', () => {
  test('the second is counted while the first is unanswered', async () => {
    const operator = await start({ pollDelayMs: 1000 });
    const authReqId = await read(await requestConsent(operator, GRANTED_AFTER_8_S), 'auth_req_id');

    await Promise.all([poll(operator, authReqId), poll(operator, authReqId)]);

    expect(operator.stats()).toMatchObject({ polls: 2, overlappingPolls: 1 });
  });

  test('one after the other, or of two ids, are not at the same time', async () => {
    const operator = await start({ pollDelayMs: 100 });
    const one = await read(await requestConsent(operator, GRANTED_AFTER_8_S), 'auth_req_id');
    const other = await read(await requestConsent(operator, NEVER_ANSWERED), 'auth_req_id');

    await Promise.all([poll(operator, one), poll(operator, other)]);
    await poll(operator, one);

    expect(operator.stats()).toMatchObject({ polls: 3, overlappingPolls: 0 });
  });
});
