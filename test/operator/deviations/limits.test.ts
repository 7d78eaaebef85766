import { expect, it } from 'vitest';
import { line } from '../../endToEnd/askedSimSwaps.ts';
import { settled, TestClock } from '../../support/testClock.ts';
import { DeviatingOperator, type Deviation } from './deviatingOperator.ts';

const perSecond =
  (requestsPerSecond: number): Deviation =>
  (settings) => ({ ...settings, limits: { ...settings.limits, requestsPerSecond } });

it('requestsPerSecond holds over all endpoints, and each lookup follows its token', async () => {
  const clock = new TestClock();
  await using operator = await DeviatingOperator.start({ clock, deviation: perSecond(2) });
  const { wire } = operator;
  const answers = [0, 1, 2, 3].map((index) =>
    operator.ask({ number: line(index), maxAgeHours: 240 }),
  );

  const reached: [number, number][] = [];
  for (let second = 1; second <= 4; second += 1) {
    await expect.poll(() => wire.received.length).toBe(2 * second);
    reached.push([wire.count('tokens'), wire.count('lookups')]);
    // The reply has arrived before the clock moves: what follows it waits for the next second.
    await expect.poll(() => clock.sleepers).toBe(second < 4 ? 1 : 0);
    await clock.advance(1000);
  }
  expect(reached).toEqual([
    [2, 0],
    [2, 2],
    [4, 2],
    [4, 4],
  ]);
  expect(await Promise.all(answers)).toEqual(Array(4).fill(false));
});

it('a prompt that cannot leave in time is not sent, and each prompt that was sent gets its lookup', async () => {
  const clock = new TestClock();
  await using operator = await DeviatingOperator.start({
    clock,
    flow: '3-legged',
    deviation: perSecond(1),
  });
  const numbers = Array.from({ length: 12 }, (_, index) => line(index));
  const asked = numbers.map((number) =>
    operator.failureOf({ number, maxAgeHours: 240, waitMs: 60_000 }),
  );
  const state = { isOver: false };
  const told = Promise.all(asked).finally(() => {
    state.isOver = true;
  });
  // Both ends of the wire are in this process: an exchange takes turns of its event loop, and no time.
  while (!state.isOver) {
    await clock.advance(50);
    await settled();
  }
  const codes = (await told).map(({ code }) => code);
  expect(new Set(codes)).toEqual(new Set([false, 'OPERATOR_RATE_LIMITED']));
  // One prompt for each answer, none for a refusal.
  expect(operator.wire.prompts).toHaveLength(codes.filter((code) => code === false).length);
});
