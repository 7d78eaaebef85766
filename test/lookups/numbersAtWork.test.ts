import { beforeEach, describe, expect, it } from 'vitest';
import { loadLimits } from '../../src/config/loadLimits.ts';
import type { QuestionField } from '../../src/domain/fields.ts';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { Executor } from '../../src/lookups/executor.ts';
import type { ConsentReading, LookupRoute } from '../../src/lookups/lookupRoute.ts';
import { NumbersAtWork, type Place } from '../../src/lookups/numbersAtWork.ts';
import { NOT_SERVED, type Routing } from '../../src/lookups/operators.ts';
import { askField } from '../support/askedFields.ts';
import { settled, TestClock } from '../support/testClock.ts';
import { ALICE, BOB } from '../support/values.ts';
import { OFFER, requestAt, servedBy } from './requests.ts';

let clock: TestClock;
let atWork: NumbersAtWork;
beforeEach(() => {
  clock = new TestClock();
  taken = [];
  atWork = new NumbersAtWork({ atWork: 10, held: 40 }, clock);
});

let taken: Place[] = [];

/** How many of `count` numbers get a place. */
function take(caller: string, count: number): number {
  const got = Array.from({ length: count }, () => atWork.take(caller)).filter(
    (place) => 'sinceMs' in place,
  );
  taken.push(...got);
  return got.length;
}

function giveBack(caller: string, count: number): void {
  for (let n = 0; n < count; n += 1) {
    const place = taken.find((one) => one.caller === caller && !one.isWaiting);
    if (place === undefined) throw new Error('None is left.');
    taken = taken.filter((one) => one !== place);
    atWork.giveBack(place);
  }
}

function wait(caller: string, count: number, isWaiting: boolean): void {
  const some = taken.filter((one) => one.caller === caller && one.isWaiting !== isWaiting);
  for (const place of some.slice(0, count)) atWork.wait(place, isWaiting);
}

/** How many places are free. */
function places(): number {
  const free = take('risk', 100);
  giveBack('risk', free);
  return free;
}

describe('numbers at work', () => {
  it('are as many as there are places', () => {
    expect(take('risk', 7)).toBe(7);
    expect(take('risk', 7)).toBe(3);
    giveBack('risk', 7);
    expect(take('risk', 8)).toBe(7);
  });

  it('are half of the places for one caller while another one waits', async () => {
    expect(take('risk', 20)).toBe(10);
    expect(take('app', 5)).toBe(0);
    giveBack('risk', 6);
    // Four of its places are left; it gets a fifth, and the rest is for the refused caller.
    expect(take('risk', 20)).toBe(1);
    expect(take('app', 5)).toBe(5);
    // A caller that does not retry reserves nothing.
    giveBack('risk', 5);
    await clock.advance(2000);
    expect(take('risk', 20)).toBeGreaterThanOrEqual(4);
  });

  it('do not include those that wait for their owners, until these answer', () => {
    take('app', 10);
    wait('app', 10, true);
    expect(take('risk', 20)).toBe(10);
    wait('app', 10, false);
    expect(take('other', 1)).toBe(0);
  });

  it('beyond them may be asked again when those at work are done, by the pace of the latest', async () => {
    take('risk', 10);
    expect(atWork.take('app')).toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1 });
    await clock.advance(4200);
    giveBack('risk', 5);
    // An owner takes long, and no place.
    take('risk', 5);
    wait('risk', 5, true);
    await clock.advance(60_000);
    wait('risk', 5, false);
    take('risk', 5);
    expect(atWork.take('app')).toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 5 });
    // Until it has had time to return, others do not get its place.
    giveBack('risk', 5);
    await clock.advance(5000);
    expect(take('risk', 5)).toBe(0);
    await clock.advance(1000);
    expect(take('risk', 5)).toBe(5);
  });

  it('beyond them are not told the time of one slow number among the latest', async () => {
    take('risk', 1);
    await clock.advance(10_000);
    giveBack('risk', 1);
    for (let list = 0; list < 10; list += 1) {
      take('risk', 10);
      await clock.advance(50);
      giveBack('risk', 10);
    }
    take('risk', 10);
    expect(atWork.take('app')).toMatchObject({ retryAfterSeconds: 1 });
  });

  it('that wait for their owners have a bound as well, of which a caller has half', () => {
    for (let held = 0; held < 20; held += 10) {
      expect(take('app', 10)).toBe(10);
      wait('app', 10, true);
    }
    expect(take('app', 1)).toBe(0);
    expect(take('risk', 1)).toBe(1);
    wait('app', 1, false);
    giveBack('app', 1);
    expect(take('app', 2)).toBe(1);
  });
});

describe('the numbers of a request', () => {
  /** A request of the caller `risk`, whose numbers are answered when the test ends it. */
  class Requesting {
    readonly codes: string[] = [];
    readonly request = requestAt(clock, { caller: 'risk' });
    readonly #routing = Promise.withResolvers<Routing>();
    readonly #executor = new Executor(
      { of: () => undefined, find: () => this.#routing.promise },
      this.request,
      atWork,
    );

    async ask(number: PhoneNumber, fields: readonly QuestionField[]): Promise<void> {
      for (const field of fields) void this.#hear(number, field);
      await settled();
    }

    async #hear(number: PhoneNumber, field: QuestionField): Promise<void> {
      const answer = await askField(this.#executor, number, field, { maxAgeHours: 24 });
      if (answer.kind !== 'failure') return;
      const { code, retryAfterSeconds } = answer.failure;
      this.codes.push(`${code} ${retryAfterSeconds}`);
    }

    async end(): Promise<void> {
      this.#routing.resolve(NOT_SERVED);
      await settled();
    }
  }

  it('have one place each, until all of their answers have arrived', async () => {
    const requesting = new Requesting();
    await requesting.ask(ALICE, ['lastSimSwap', 'simSwappedWithin', 'simSwapConsent']);
    await requesting.ask(BOB, ['lastSimSwap']);
    expect(places()).toBe(8);
    await requesting.end();
    expect(places()).toBe(10);
    expect(new Set(requesting.codes)).toEqual(new Set(['NUMBER_NOT_SERVED undefined']));
  });

  it('have a place while the status of a consent is read', async () => {
    const reading = Promise.withResolvers<ConsentReading>();
    const route: LookupRoute = {
      lookUp: () => Promise.reject(new Error('Nothing is looked up.')),
      consent: () => reading.promise,
      close: () => Promise.resolve(),
    };
    const operators = servedBy({ name: 'operator', offer: OFFER, route });
    const executor = new Executor(operators, requestAt(clock, { caller: 'risk' }), atWork);
    const asked = [ALICE, BOB].map((number) => askField(executor, number, 'simSwapConsent'));
    await settled();
    expect(places()).toBe(8);
    reading.resolve({ kind: 'read', status: { state: 'PENDING' } });
    const read = { kind: 'consent', consent: { state: 'PENDING' } };
    expect(await Promise.all(asked)).toEqual([read, read]);
    expect(places()).toBe(10);
  });

  it('return their place once each while they wait for their owners', async () => {
    const requesting = new Requesting();
    await requesting.ask(ALICE, ['lastSimSwap', 'simSwappedWithin']);
    for (const isWaiting of [true, true]) requesting.request.onOwnerWait?.(ALICE, isWaiting);
    expect(places()).toBe(10);
    requesting.request.onOwnerWait?.(ALICE, false);
    expect(places()).toBe(9);
    requesting.request.onOwnerWait?.(ALICE, true);
    await requesting.end();
    expect(places()).toBe(10);
  });

  it('that were refused are refused in all of their fields, even if places become free', async () => {
    take('risk', 10);
    const requesting = new Requesting();
    await requesting.ask(ALICE, ['lastSimSwap']);
    giveBack('risk', 10);
    await requesting.ask(ALICE, ['simSwappedWithin']);
    expect(requesting.codes).toEqual(['UNAVAILABLE 1', 'UNAVAILABLE 1']);
  });
});

describe('the bound', () => {
  const MIB = 1024 * 1024;

  const BODY = 360 * 1024 - 2400;
  const LONG_BODY = 260 * 1024 + 1_000_000;

  it.each([
    ['a small heap', undefined, 100, 128, [2048, 4096, 128, 16, 16], BODY],
    ['a large one', undefined, 100, 4096, [5000, 65_536, 4096, 512, 128], BODY],
    ['a setting', 500, 100, 4096, [500, 65_536, 4096, 512, 128], BODY],
    ['operations that are larger', 500, 1000, 4096, [2000, 65_536, 4096, 512, 128], LONG_BODY],
  ])(
    'follows %s',
    (
      _what,
      setting,
      perOperation,
      heapMib,
      [working, held, heldMib = 0, bodyMib = 0, unreadMib = 0],
      maxBodyBytes,
    ) => {
      expect(loadLimits(setting, perOperation, true, heapMib * MIB)).toEqual({
        numbers: { atWork: working, held },
        requests: {
          placeBytes: 96 * 1024,
          heldBytes: heldMib * MIB,
          bodyBytes: bodyMib * MIB,
          unreadBytes: unreadMib * MIB,
          idleConnections: Math.max(1024, heldMib * 16),
          maxBodyBytes,
          maxBodyValues: 512 + 30 * perOperation,
        },
        storeBytes: (heldMib * MIB) / 8,
      });
    },
  );
});
