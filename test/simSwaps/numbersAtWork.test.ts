import { beforeEach, describe, expect, it } from 'vitest';
import { loadLimits } from '../../src/config/loadLimits.ts';
import type { FieldAsk } from '../../src/domain/fields.ts';
import { FIELDS } from '../../src/domain/fields.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { createCorrelator } from '../../src/http/correlator.ts';
import { NumbersAtWork } from '../../src/simSwaps/numbersAtWork.ts';
import type { FieldAnswer } from '../../src/simSwaps/simSwapLoader.ts';
import type { LookupRequest } from '../../src/lookups/lookupRoute.ts';
import { TestClock } from '../testClock.ts';
import { callerNamed } from '../values.ts';

const ANSWER: FieldAnswer = { kind: 'consent', consent: undefined };
const WINDOW = askFor('simSwappedWithin');
const DATE = askFor('lastSimSwap');

function askFor(field: 'simSwappedWithin' | 'lastSimSwap'): FieldAsk {
  const ask = FIELDS[field]({ maxAgeHours: 24 });
  if (ask.kind === 'refused') throw new Error(ask.reason);
  return ask.value;
}

let clock: TestClock;
let atWork: NumbersAtWork;
beforeEach(() => {
  clock = new TestClock();
  atWork = new NumbersAtWork({ atWork: 10, held: 40 }, clock);
});

/** A request of a caller whose lookups end when the test says so. */
class Asking {
  readonly heard: string[] = [];
  readonly #loader;
  readonly #caller: string;
  #numbers = 0;
  #ends: (() => void)[] = [];
  readonly #request: LookupRequest;

  constructor(caller: string) {
    this.#caller = caller;
    this.#request = {
      caller: callerNamed(caller),
      purpose: 'fraud-prevention',
      correlator: createCorrelator('trace'),
      cameInAtMs: 0,
      deadlineMs: Infinity,
      signal: new AbortController().signal,
    };
    this.#loader = atWork.bound(this.#request, {
      answer: () => new Promise((resolve) => this.#ends.push(() => resolve(ANSWER))),
      told: () => undefined,
    });
  }

  /** How many of so many numbers were taken in. */
  async ask(count: number, asks: readonly FieldAsk[] = [WINDOW]): Promise<number> {
    const before = this.#ends.length;
    for (let n = 0; n < count; n += 1) {
      const number = this.#number(this.#numbers);
      this.#numbers += 1;
      for (const ask of asks) void this.#hear(this.#loader.answer(number, ask));
    }
    await clock.advance(0);
    return (this.#ends.length - before) / asks.length;
  }

  async end(count = this.#ends.length): Promise<void> {
    for (const end of this.#ends.splice(0, count)) end();
    await clock.advance(0);
  }

  waitForOwners(count: number, isWaiting: boolean): void {
    for (let n = 0; n < count; n += 1) this.#request.onOwnerWait?.(this.#number(n), isWaiting);
  }

  #number(n: number): PhoneNumber {
    return `+4477009${this.#caller.length}${String(n).padStart(4, '0')}` as PhoneNumber;
  }

  async #hear(answering: Promise<FieldAnswer>): Promise<void> {
    const answer = await answering;
    if (answer.kind !== 'failure') return;
    const { code, retryAfterSeconds } = answer.failure;
    this.heard.push(`${code} ${retryAfterSeconds}`);
  }
}

describe('numbers at work', () => {
  it('are as many as there are places, for all requests together; the rest hears when to ask again', async () => {
    const [one, other] = [new Asking('risk'), new Asking('risk')];
    expect(await one.ask(7)).toBe(7);
    expect(await other.ask(7)).toBe(3);
    expect(other.heard).toEqual(Array.from({ length: 4 }, () => 'UNAVAILABLE 1'));
    await one.end();
    expect(await new Asking('risk').ask(8)).toBe(7);
  });

  it('keep their place until all of their answers are there', async () => {
    const request = new Asking('risk');
    expect(await request.ask(10, [WINDOW, DATE])).toBe(10);
    await request.end(10);
    expect(await new Asking('risk').ask(10)).toBe(5);
  });

  it('that were refused are refused in all of their fields, whatever ends meanwhile', async () => {
    await new Asking('risk').ask(10);
    const request = new Asking('risk');
    await request.ask(1, [WINDOW, DATE]);
    expect(request.heard).toHaveLength(2);
  });

  it('are half of the places for one caller while another one waits', async () => {
    const [flood, later] = [new Asking('risk'), new Asking('app')];
    expect(await flood.ask(20)).toBe(10);
    expect(await later.ask(5)).toBe(0);
    await flood.end(6);
    // Four are left of it; it gets a fifth, and the rest is for whoever was refused.
    expect(await new Asking('risk').ask(20)).toBe(1);
    expect(await new Asking('app').ask(5)).toBe(5);
    // Who waits no more holds nothing up.
    await flood.end();
    await clock.advance(2000);
    expect(await new Asking('risk').ask(20)).toBeGreaterThanOrEqual(4);
  });

  it('are not those that wait for their owners, and they are again when these answer', async () => {
    const consented = new Asking('app');
    await consented.ask(10);
    consented.waitForOwners(10, true);
    expect(await new Asking('risk').ask(20)).toBe(10);
    consented.waitForOwners(10, false);
    expect(await new Asking('other').ask(1)).toBe(0);
  });

  it('and those that wait for their owners have a bound as well, of which a caller has half', async () => {
    for (let held = 0; held < 20; held += 10) {
      const request = new Asking('app');
      expect(await request.ask(10)).toBe(10);
      request.waitForOwners(10, true);
    }
    expect(await new Asking('app').ask(1)).toBe(0);
    expect(await new Asking('risk').ask(1)).toBe(1);
  });
});

describe('the bound', () => {
  const MIB = 1024 * 1024;

  it.each([
    // --max-old-space-size=128, and what V8 adds to it.
    ['a small heap', undefined, 100, 320 * MIB, 2048, 4096, 1365],
    ['a large one', undefined, 100, 4288 * MIB, 5000, 65_536, 43_690],
    ['a setting', 500, 100, 4288 * MIB, 500, 65_536, 43_690],
    ['operations that are larger', 500, 1000, 4288 * MIB, 2000, 65_536, 43_690],
  ])('follows %s', (_what, setting, perOperation, heapBytes, working, held, requests) => {
    expect(loadLimits(setting, perOperation, heapBytes)).toEqual({
      numbers: { atWork: working, held },
      requests,
    });
  });
});
