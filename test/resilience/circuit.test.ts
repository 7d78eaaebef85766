import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { Circuit, SlidingCount, type Health, type Switched } from '../../src/resilience/circuit.ts';
import { TestClock } from '../support/testClock.ts';

function line(index: number): PhoneNumber {
  return `+447700900${String(index).padStart(3, '0')}` as PhoneNumber;
}

function repeat(times: number, health: Health): Health[] {
  return Array.from({ length: times }, () => health);
}

describe('the circuit', () => {
  let clock: TestClock;
  let circuit: Circuit;
  let made: number;

  beforeEach(() => {
    clock = new TestClock();
    circuit = new Circuit(clock);
    made = 0;
  });

  /** Makes an exchange about a number where the circuit allows it; returns what it switched. */
  function run(health: Health, about: PhoneNumber): Switched | 'rejected' | undefined {
    if (circuit.isClosed) {
      made += 1;
      return circuit.count(health, about);
    }
    if (!circuit.tries(about)) return 'rejected';
    made += 1;
    return circuit.tried(health, about);
  }

  /** One exchange after the other, about so many numbers in turn. */
  function runAll(healths: readonly Health[], numbers = 5): void {
    healths.forEach((health, index) => run(health, line(index % numbers)));
  }

  /** Whether an exchange about another number is rejected; a good one where it is not. */
  function isOpen(): boolean {
    return run('good', line(99)) === 'rejected';
  }

  it.each<[string, Health[], numbers: number, opens: boolean]>([
    ['20 failures', repeat(20, 'bad'), 5, true],
    ['50 % failures over 20', [...repeat(10, 'good'), ...repeat(10, 'bad')], 5, true],
    ['less than 50 % over 21', [...repeat(11, 'good'), ...repeat(10, 'bad')], 5, false],
    ['100 exchanges that were cut', repeat(100, 'neither'), 5, false],
    ['1000 failures about four', repeat(1000, 'bad'), 4, false],
    ['1000 failures about 500', repeat(1000, 'bad'), 500, true],
  ])('after %s', (_, healths, numbers, opens) => {
    runAll(healths, numbers);
    expect(isOpen()).toBe(opens);
  });

  it('counts the last 10 s only, of exchanges as of numbers', async () => {
    runAll(repeat(19, 'bad'));
    await clock.advance(10_000);
    run('bad', line(0));
    expect(isOpen()).toBe(false);
    await clock.advance(10_000);
    runAll(repeat(4, 'bad'), 4);
    await clock.advance(10_000);
    for (let count = 0; count < 100; count += 1) run('bad', line(4));
    expect(isOpen()).toBe(false);
    runAll(repeat(4, 'bad'), 4);
    expect(isOpen()).toBe(true);
  });

  it('tries one exchange after 5 s, closes when it is good and stays open when it is not', async () => {
    runAll(repeat(20, 'bad'));
    await clock.advance(4999);
    expect(isOpen()).toBe(true);
    await clock.advance(1);
    run('bad', line(1));
    expect(made).toBe(21);
    expect(isOpen()).toBe(true);
    await clock.advance(5000);
    run('good', line(0));
    // The count starts again.
    runAll(repeat(19, 'bad'));
    expect(isOpen()).toBe(false);
  });

  it('stays open when the trial is cut', async () => {
    runAll(repeat(20, 'bad'));
    await clock.advance(5000);
    run('neither', line(0));
    expect(isOpen()).toBe(true);
    await clock.advance(5000);
    expect(isOpen()).toBe(false);
  });

  it('rejects other exchanges during a trial', async () => {
    runAll(repeat(20, 'bad'));
    await clock.advance(5000);
    expect(circuit.tries(line(0))).toBe(true);
    expect(circuit.tries(line(1))).toBe(false);
    expect(circuit.tried('good', line(0))).toBe('closed');
    expect(isOpen()).toBe(false);
  });

  it('is not kept open by one number that always fails: another is tried before it', async () => {
    runAll(repeat(20, 'bad'));
    await clock.advance(5000);
    run('bad', line(7));
    await clock.advance(5000);
    expect(run('bad', line(7))).toBe('rejected');
    expect(run('bad', line(8))).toBeUndefined();
    // Without another number, the same one is tried after twice the time.
    await clock.advance(9999);
    expect(run('bad', line(8))).toBe('rejected');
    await clock.advance(1);
    expect(run('good', line(8))).toBe('closed');
  });
});

it('SlidingCount counts what was added in the last ten seconds', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 25 })), (steps) => {
      const count = new SlidingCount(10);
      const added: number[] = [];
      let nowSeconds = 0;
      for (const step of steps) {
        nowSeconds += step;
        added.push(nowSeconds);
        const counted = added.filter((one) => one > nowSeconds - 10).length;
        expect([count.add(nowSeconds), count.add(nowSeconds, 0)]).toEqual([counted, counted]);
      }
    }),
  );
});
