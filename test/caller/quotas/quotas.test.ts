import { beforeEach, describe, expect, it } from 'vitest';
import { tokenIdentity, type Identity } from '../../../src/domain/identity.ts';
import { ANONYMOUS } from '../../../src/caller/caller.ts';
import { MemoryCounts } from '../../../src/caller/quotas/memoryCounts.ts';
import { Quotas, type Counting, type QuotaSettings } from '../../../src/caller/quotas/quotas.ts';
import type { PhoneNumber } from '../../../src/domain/phoneNumber.ts';
import { TestClock } from '../../support/testClock.ts';
import { callerNamed } from '../../support/values.ts';

const HOUR_SECONDS = 3600;

let clock: TestClock;
beforeEach(() => {
  clock = new TestClock();
});

/** A caller whose token names this client, or none. */
function ofClient(client: string | null): Identity {
  return tokenIdentity('https://issuer.example', 'a', client);
}

/** Quotas whose counts have an outcome in one word. */
class Counted {
  readonly quotas: Quotas;
  readonly #givingBack: (() => unknown)[] = [];

  constructor(settings: Partial<QuotaSettings>) {
    const limits = { numbersPerHour: 100, lookupsPerHour: 100, promptsPerHour: 100 };
    this.quotas = new Quotas(
      { ...limits, promptsPerHourAllCallers: 100, clients: new Map(), ...settings },
      new MemoryCounts(clock),
      ['first', 'second'],
    );
  }

  /** `counted`, or the quota that it is over, and for how many seconds. */
  async count(who: string | Identity, counting: Counting, line: number, operator = 'first') {
    const caller = typeof who === 'string' ? callerNamed(who) : who;
    const number = `+4477009${String(line).padStart(7, '0')}` as PhoneNumber;
    const counted = await this.quotas.count([counting], { caller, number, operator }, Infinity);
    if (counted.kind === 'over') return `${counted.over}: ${counted.retryAfterSeconds}`;
    this.#givingBack.push(counted.giveBack);
    return 'counted';
  }

  /** The first count that is not yet given back. */
  async giveBack(): Promise<'given back'> {
    await this.#givingBack.shift()?.();
    return 'given back';
  }
}

/** Steps: caller, what is counted, number, and `counted` or the quota that it is over. */
const HOURS: readonly [what: string, settings: Partial<QuotaSettings>, steps: string][] = [
  [
    'a number counts once for each caller, however often it is queried',
    { numbersPerHour: 2 },
    `a lookup 1 counted, a lookup 1 counted, a lookup 2 counted, a lookup 3 numbers, a lookup 1 counted,
      b lookup 3 counted, b lookup 4 counted, b lookup 5 numbers`,
  ],
  [
    'a number counts without a lookup as well',
    { numbersPerHour: 1, lookupsPerHour: 1 },
    'a number 1 counted, a number 1 counted, a lookup 2 numbers, a lookup 1 counted',
  ],
  [
    'lookups are limited over all numbers',
    { lookupsPerHour: 2 },
    'a lookup 1 counted, a lookup 1 counted, a lookup 1 lookups, a lookup 2 lookups',
  ],
  [
    'lookups are not spent on numbers that are refused',
    { numbersPerHour: 1, lookupsPerHour: 2 },
    'a lookup 1 counted, a lookup 2 numbers, a lookup 3 numbers, a lookup 1 counted, a lookup 1 lookups',
  ],
  [
    'numbers are not spent on lookups that are refused',
    { numbersPerHour: 2, lookupsPerHour: 1 },
    'a lookup 1 counted, a lookup 2 lookups, a lookup 3 lookups, a number 4 counted, a number 5 numbers',
  ],
  [
    'each operator has its own lookups, and numbers are counted over all operators',
    { numbersPerHour: 1, lookupsPerHour: 1 },
    'a lookup 1 counted, a lookup 1 lookups, a elsewhere 1 counted, a elsewhere 2 numbers',
  ],
  [
    'prompts to one number are limited by one caller, and by all callers',
    { promptsPerHour: 2, promptsPerHourAllCallers: 3 },
    `a prompt 1 counted, a prompt 1 counted, a prompt 1 prompts, b prompt 1 counted, b prompt 1 prompts,
      anonymous prompt 1 prompts, a prompt 2 counted`,
  ],
  [
    'a lookup that is given back does not count, nor does its number',
    { numbersPerHour: 1, lookupsPerHour: 1 },
    'a lookup 1 counted, a back 1 given back, a lookup 2 counted',
  ],
  [
    'a number of another lookup stays counted',
    { numbersPerHour: 1 },
    'a lookup 1 counted, a lookup 1 counted, a back 1 given back, a lookup 2 numbers',
  ],
];

describe('within an hour', () => {
  it.each(HOURS)('%s', async (_what, settings, steps) => {
    const counted = new Counted(settings);
    const told: string[] = [];
    for (const step of steps.split(/,\s+/)) {
      const [name = '', what = '', line] = step.split(' ');
      const caller = name === 'anonymous' ? ANONYMOUS.identity : name;
      const isElsewhere = what === 'elsewhere';
      const counting = (isElsewhere ? 'lookup' : what) as Counting;
      const outcome =
        what === 'back'
          ? await counted.giveBack()
          : await counted.count(caller, counting, Number(line), isElsewhere ? 'second' : 'first');
      told.push(`${name} ${what} ${line} ${outcome.split(':')[0]}`);
    }
    expect(told).toEqual(steps.split(/,\s+/));
  });
});

it('a caller whose prompts are used up does not learn when another caller prompted the owner', async () => {
  const counted = new Counted({ promptsPerHour: 1, promptsPerHourAllCallers: 2 });
  await counted.count('a', 'prompt', 1);
  await clock.advance(600_000);
  await counted.count('b', 'prompt', 1);
  await clock.advance(60_000);
  expect(await counted.count('b', 'prompt', 1)).toBe(`prompts: ${HOUR_SECONDS}`);
  expect(await counted.count('c', 'prompt', 1)).toBe(`prompts: ${HOUR_SECONDS}`);
});

it('all quotas start again after an hour, and say how long that is', async () => {
  const counted = new Counted({ numbersPerHour: 1, promptsPerHour: 1 });
  await counted.count('a', 'lookup', 1);
  await counted.count('a', 'prompt', 1);
  await clock.advance(600_000);
  expect(await counted.count('a', 'lookup', 2)).toBe(`numbers: ${HOUR_SECONDS - 600}`);
  expect(await counted.count('a', 'prompt', 1)).toBe(`prompts: ${HOUR_SECONDS}`);
  await clock.advance((HOUR_SECONDS - 600) * 1000);
  expect(await counted.count('a', 'lookup', 2)).toBe('counted');
  expect(await counted.count('a', 'prompt', 1)).toBe('counted');
  expect(await counted.count('a', 'lookup', 1)).toBe(`numbers: ${HOUR_SECONDS}`);
});

describe('a client with its own quotas', () => {
  const ANY = { numbersPerHour: 2, lookupsPerHour: 3, promptsPerHour: 1 };
  const DESK = ofClient('desk');

  it.each([
    ['more of all', { numbersPerHour: 4, lookupsPerHour: 6, promptsPerHour: 2 }, [4, 6, 2]],
    ['less of one', { numbersPerHour: 1 }, [1, 3, 1]],
  ])('has %s, and the others by default', async (_, quotas, [numbers, lookups, prompts]) => {
    const counted = new Counted({ ...ANY, clients: new Map([['desk', quotas]]) });
    const words = { number: 0, lookup: 0, prompt: 0 };
    for (let n = 0; n < 10; n += 1) {
      for (const counting of ['number', 'lookup', 'prompt'] as const) {
        const outcome = await counted.count(DESK, counting, counting === 'number' ? n : 0);
        if (outcome === 'counted') words[counting] += 1;
      }
    }
    expect(words).toEqual({ number: numbers, lookup: lookups, prompt: prompts });
    expect(await counted.quotas.standingOf(DESK, Infinity)).toMatchObject([
      { quota: 'numbers', limit: numbers, left: 0 },
      { quota: 'lookups', limit: lookups, left: 0 },
    ]);
  });

  it('changes nothing for other clients, or tokens without a client', async () => {
    const counted = new Counted({ ...ANY, clients: new Map([['desk', { lookupsPerHour: 9 }]]) });
    for (const client of ['des', 'desk ', '', null]) {
      const standing = await counted.quotas.standingOf(ofClient(client), Infinity);
      expect(standing).toMatchObject([{ limit: 2 }, { limit: 3 }]);
    }
  });

  it('counts each of its callers separately', async () => {
    const counted = new Counted({ ...ANY, clients: new Map([['app', { numbersPerHour: 1 }]]) });
    for (const caller of ['a', 'b']) {
      expect(await counted.count(caller, 'lookup', 1)).toBe('counted');
      expect(await counted.count(caller, 'lookup', 2)).toContain('numbers');
    }
  });

  it('prompts a number no more often than all callers together may', async () => {
    const clients = new Map([['desk', { promptsPerHour: 9 }]]);
    const counted = new Counted({ ...ANY, promptsPerHourAllCallers: 1, clients });
    expect(await counted.count(DESK, 'prompt', 1)).toBe('counted');
    expect(await counted.count(DESK, 'prompt', 1)).toContain('prompts');
  });
});

it('the standing has what is left, its limit and when it starts again, of the operator with the least left', async () => {
  const counted = new Counted({ numbersPerHour: 5, lookupsPerHour: 7 });
  await counted.count('a', 'lookup', 1);
  for (let n = 0; n < 2; n += 1) await counted.count('a', 'lookup', 1, 'second');
  await clock.advance(1_500);
  const resetSeconds = HOUR_SECONDS - 1;
  expect(await counted.quotas.standingOf(callerNamed('a'), Infinity)).toEqual([
    { quota: 'numbers', limit: 5, left: 4, resetSeconds },
    { quota: 'lookups', limit: 7, left: 5, resetSeconds },
  ]);
  expect(await counted.quotas.standingOf(ANONYMOUS.identity, Infinity)).toEqual([]);
});
