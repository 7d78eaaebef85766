import { expect, it } from 'vitest';
import { line } from '../../endToEnd/askedSimSwaps.ts';
import { settled, TestClock } from '../../testClock.ts';
import { DeviatingOperator, type Deviation } from './deviatingOperator.ts';
import { LightAbortSignal } from '../../../src/http/urgency.ts';

const perSecond =
  (requestsPerSecond: number): Deviation =>
  (settings) => ({ ...settings, limits: { ...settings.limits, requestsPerSecond } });

/** A question about each of so many numbers, at a time. */
function askAll(operator: DeviatingOperator, count: number, timeLeftMs: number) {
  return Array.from({ length: count }, (_, index) =>
    operator.failureOf({ number: line(index), maxAgeHours: 240, timeLeftMs }),
  );
}

it('so many exchanges begin in a second, over all endpoints, and each lookup follows its token', async () => {
  const clock = new TestClock();
  await using operator = await DeviatingOperator.start({ clock, deviation: perSecond(2) });
  const { wire } = operator;
  const answers = askAll(operator, 4, 60_000);

  const reached: [number, number][] = [];
  for (let second = 1; second <= 4; second += 1) {
    await expect.poll(() => wire.received.length).toBe(2 * second);
    reached.push([wire.count('tokens'), wire.count('lookups')]);
    // Its reply is here before the clock moves: what it brings takes the next turn.
    await expect.poll(() => clock.sleepers).toBe(second < 4 ? 1 : 0);
    await clock.advance(1000);
  }
  expect(reached).toEqual([
    [2, 0],
    [2, 2],
    [4, 2],
    [4, 4],
  ]);
  expect((await Promise.all(answers)).map(({ code }) => code)).toEqual(Array(4).fill(false));
});

it('what cannot be sent in time is refused, with the time of the next try', async () => {
  const clock = new TestClock();
  await using operator = await DeviatingOperator.start({ clock, deviation: perSecond(1) });
  const [first, ...others] = askAll(operator, 3, 1500);
  for (const other of others) {
    expect(await other).toEqual({
      code: 'OPERATOR_RATE_LIMITED',
      reach: 'number',
      retryAfterSeconds: 1,
    });
  }
  await expect.poll(() => operator.wire.received.length).toBe(1);
  // Its lookup cannot leave with enough time for a reply: its token is given up, and nothing is billed.
  expect(await first).toMatchObject({ code: 'OPERATOR_RATE_LIMITED' });
  expect(operator.wire.lookups).toEqual([]);
  expect(operator.logged.filter((text) => text.includes('contract'))).toHaveLength(3);
});

it('a request that ends while it waits leaves no line, and takes no turn', async () => {
  const clock = new TestClock();
  await using operator = await DeviatingOperator.start({ clock, deviation: perSecond(1) });
  const [first] = askAll(operator, 1, 60_000);
  await expect.poll(() => operator.wire.lookups.length + clock.sleepers).toBe(1);
  const request = new LightAbortSignal();
  const gone = operator.ask({ number: line(7), maxAgeHours: 240, signal: request });
  await settled();
  request.abort();
  expect(await gone).toBe('OPERATOR_TIMEOUT');
  await clock.advance(1000);
  expect(await first).toMatchObject({ code: false });
  expect(operator.wire.received).toHaveLength(2);
  expect(operator.logged).toEqual([]);
});

it('a prompt that cannot go out in time rings no phone, and one that has rung is not left without its lookup', async () => {
  const clock = new TestClock();
  await using operator = await DeviatingOperator.start({
    clock,
    flow: '3-legged',
    deviation: perSecond(1),
  });
  const numbers = Array.from({ length: 12 }, (_, index) => line(index));
  const asked = numbers.map((number) =>
    operator.failureOf({ number, maxAgeHours: 240, timeLeftMs: 60_000, waitMs: 60_000 }),
  );
  const state = { isOver: false };
  const told = Promise.all(asked).finally(() => {
    state.isOver = true;
  });
  // Both ends of the wire are in this process: an exchange takes some turns of its loop, and no time.
  while (!state.isOver) {
    await clock.advance(50);
    await settled();
  }
  const codes = (await told).map(({ code }) => code);
  expect(new Set(codes)).toEqual(new Set([false, 'OPERATOR_RATE_LIMITED']));
  // A phone rings once for each answer, and for no refusal.
  expect(operator.wire.prompts).toHaveLength(codes.filter((code) => code === false).length);
});
