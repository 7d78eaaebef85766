import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/system/clock.ts';
import { startSimulated } from '../service.ts';

const FORTNIGHT_MS = 15 * 24 * 3_600_000;

/** This machine's, as if somebody had set it wrong. */
const AHEAD: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + FORTNIGHT_MS };

// Swapped three days ago.
const QUERY =
  '{ phoneNumber(e164: "+447700900002") { lastSimSwap simSwappedWithin(maxAgeHours: 240) } }';

it('a clock that is 15 days ahead makes no `false` of a swap of three days ago', async () => {
  await using service = await startSimulated({}, {}, { clock: AHEAD });
  const { data, errors } = await service.ask(QUERY);
  expect(errors).toEqual([]);
  expect(data.phoneNumber).toEqual({ lastSimSwap: expect.any(String), simSwappedWithin: true });
  expect(service.stats()).toMatchObject({ lookups: 2 });
  expect(service.logged.join('\n')).toContain('The clocks of this machine and of the operator');
});
