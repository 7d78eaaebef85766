import { expect, it } from 'vitest';
import { createReadiness, type Need } from '../src/app/readiness.ts';
import { RecordedLog } from './support/recordedLog.ts';
import { settled, TestClock } from './support/testClock.ts';

class Switch implements Need {
  readonly name: string;
  works = false;
  probes = 0;

  constructor(name: string) {
    this.name = name;
  }

  async probe(): Promise<void> {
    this.probes += 1;
    if (!this.works) throw new Error('away');
  }
}

function start(...needs: Need[]) {
  const clock = new TestClock();
  const log = new RecordedLog();
  const readiness = createReadiness({ needs, clock, log, random: () => 1 });
  const begun = readiness.begin();
  return { clock, lines: log.lines, readiness, begun };
}

it('waits until each need has worked once, and the log names those that have not', async () => {
  const [keys, redis] = [new Switch('keys'), new Switch('redis')];
  const { clock, lines, readiness, begun } = start(keys, redis);
  await settled();
  expect(readiness.waitingFor()).toEqual(['keys', 'redis']);
  const message = 'Not ready: a dependency does not work yet.';
  expect(lines).toMatchObject([
    { message, need: 'keys' },
    { message, need: 'redis' },
  ]);

  keys.works = true;
  await clock.advance(250);
  expect(readiness.waitingFor()).toEqual(['redis']);

  keys.works = false;
  redis.works = true;
  await clock.advance(10_000);
  expect(readiness.waitingFor()).toEqual([]);
  expect(await begun).toBe(true);
  expect(keys.probes).toBe(2);
  expect(clock.sleepers).toBe(0);
});

it('probes less and less often, at least every ten seconds', async () => {
  const away = new Switch('keys');
  const { clock } = start(away);
  const probes: number[] = [];
  for (const untilMs of [0, 250, 750, 1750, 3750, 7750, 15_750, 25_750, 35_750]) {
    await clock.advance(untilMs - (clock.monotonicMs() - 1000));
    probes.push(away.probes);
  }
  expect(probes).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

it('ends with the server, and leaves no timer', async () => {
  const { clock, readiness, begun } = start(new Switch('keys'));
  await settled();
  readiness.stop();
  expect(await begun).toBe(false);
  expect(clock.sleepers).toBe(0);
});
