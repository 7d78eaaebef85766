import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Circuit, type Health } from '../../../src/http/resilience/circuit.ts';
import { TestClock } from '../../testClock.ts';

function repeat(times: number, health: Health): Health[] {
  return Array.from({ length: times }, () => health);
}

/** Makes an exchange of this health, as far as the circuit lets it. */
async function through(
  circuit: Circuit,
  exchange: () => Promise<Health>,
): Promise<Health | undefined> {
  if (!circuit.isClosed) {
    const tried = await circuit.try(async () => ({ health: await exchange() }));
    return tried?.health;
  }
  const health = await exchange();
  circuit.count(health);
  return health;
}

describe('the circuit', () => {
  let clock: TestClock;
  let circuit: Circuit;
  let made: number;

  beforeEach(() => {
    // cockatiel reads Date itself for the time until its next try.
    vi.useFakeTimers({ toFake: ['Date'] });
    clock = new TestClock();
    circuit = new Circuit(clock);
    made = 0;
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  function run(health: Health): Promise<Health | undefined> {
    return through(circuit, () => {
      made += 1;
      return Promise.resolve(health);
    });
  }

  async function runAll(healths: readonly Health[]): Promise<void> {
    for (const health of healths) await run(health);
  }

  async function isOpen(): Promise<boolean> {
    const before = made;
    await run('good');
    return made === before;
  }

  async function pass(ms: number): Promise<void> {
    vi.setSystemTime(Date.now() + ms);
    await clock.advance(ms);
  }

  it.each<{ healths: Health[]; opens: boolean; when: string }>([
    { when: '19 failures', healths: repeat(19, 'bad'), opens: false },
    { when: '20 failures', healths: repeat(20, 'bad'), opens: true },
    {
      when: '50 % failures over 20',
      healths: [...repeat(10, 'good'), ...repeat(10, 'bad')],
      opens: true,
    },
    {
      when: 'less than 50 % over 21',
      healths: [...repeat(11, 'good'), ...repeat(10, 'bad')],
      opens: false,
    },
    { when: '100 exchanges that were cut', healths: repeat(100, 'neither'), opens: false },
  ])('after $when: open is $opens', async ({ healths, opens }) => {
    await runAll(healths);
    expect(await isOpen()).toBe(opens);
  });

  it('counts the last 10 s only', async () => {
    await runAll(repeat(19, 'bad'));
    await pass(10_000);
    await run('bad');
    expect(await isOpen()).toBe(false);
  });

  it('lets one exchange through after 5 s, closes when it is good and stays open when not', async () => {
    await runAll(repeat(20, 'bad'));
    await pass(4999);
    expect(await isOpen()).toBe(true);
    await pass(1);
    await run('bad');
    expect(made).toBe(21);
    expect(await isOpen()).toBe(true);
    await pass(5000);
    expect(await isOpen()).toBe(false);
    expect(await isOpen()).toBe(false);
  });

  it('stays open when the exchange that tries is cut', async () => {
    await runAll(repeat(20, 'bad'));
    await pass(5000);
    expect(await run('neither')).toBe('neither');
    expect(await isOpen()).toBe(true);
    await pass(5000);
    expect(await isOpen()).toBe(false);
  });

  it('answers the others at once while one exchange tries', async () => {
    await runAll(repeat(20, 'bad'));
    await pass(5000);
    const { promise, resolve } = Promise.withResolvers<Health>();
    const trying = through(circuit, () => promise);
    expect(await run('good')).toBeUndefined();
    resolve('good');
    expect(await trying).toBe('good');
    expect(await run('good')).toBe('good');
  });
});
