import { beforeAll, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../../simulator/simulator.ts';
import { NEVER_SWAPPED_RANGE } from '../../simulator/testNumbers.ts';
import { CHECK_SCOPE, DATE_SCOPE, lookUp, read, requestToken } from './client.ts';

const START_MS = Date.UTC(2026, 0, 31);
const CHECK_HOURS = 240;

const UNSWAPPED = ['200 latestSimChange 2016-02-03T00:00:00.000Z', '200 swapped false'] as const;
const UNKNOWN = ['404 IDENTIFIER_NOT_FOUND', '404 IDENTIFIER_NOT_FOUND'] as const;

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, nowMs: () => START_MS });
  return () => simulator.close();
});

// The test numbers themselves: test/endToEnd/testNumbers.test.ts.
describe('lookups about a line', () => {
  test.each([
    [NEVER_SWAPPED_RANGE.first, ...UNSWAPPED],
    ['+447700900742', ...UNSWAPPED],
    [NEVER_SWAPPED_RANGE.last, ...UNSWAPPED],
    ['+447700900499', ...UNKNOWN],
    ['+447700901000', ...UNKNOWN],
    ['+4477009005000', ...UNKNOWN],
    // Of the ten thousand lines for lists.
    ['+12005550100', ...UNSWAPPED],
    ['+12995550189', ...UNSWAPPED],
    ['+12345550190', '200 latestSimChange null', '200 swapped false'],
    ['+12345550194', ...UNKNOWN],
    ['+12345550195', '200 latestSimChange 2026-01-30T22:00:00.000Z', '200 swapped true'],
    ['+12345550196', '200 latestSimChange 2026-01-30T04:00:00.000Z', '200 swapped true'],
    ['+12345550197', '200 latestSimChange 2026-01-28T12:00:00.000Z', '200 swapped true'],
    ['+12345550198', '200 latestSimChange 2026-01-26T00:00:00.000Z', '200 swapped true'],
    ['+12995550199', '200 latestSimChange 2026-01-11T00:00:00.000Z', '200 swapped false'],
    ['+13005550195', ...UNKNOWN],
    ['+12345550295', ...UNKNOWN],
  ])('%s: %s, %s', async (number, date, check) => {
    expect(await lookUpWithNewToken('retrieve-date', number)).toBe(date);
    expect(await lookUpWithNewToken('check', number)).toBe(check);
  });
});

async function lookUpWithNewToken(
  operation: 'retrieve-date' | 'check',
  number: string,
): Promise<string> {
  const isCheck = operation === 'check';
  const issued = await requestToken(simulator, number, isCheck ? CHECK_SCOPE : DATE_SCOPE);
  const token = await read(issued, 'access_token');
  const body = { phoneNumber: number, ...(isCheck ? { maxAge: CHECK_HOURS } : {}) };
  const reply = await lookUp(simulator, operation, token, body);
  const { code, ...fields } = (await reply.json()) as Readonly<Record<string, unknown>>;
  const said = Object.entries(fields).map(([name, value]) => `${name} ${String(value)}`);
  return `${reply.status} ${typeof code === 'string' ? code : said.join(' ')}`;
}
