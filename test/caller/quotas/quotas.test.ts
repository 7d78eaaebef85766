import { beforeEach, describe, expect, it } from 'vitest';
import { tokenIdentity, type Identity } from '../../../src/domain/identity.ts';
import { ANONYMOUS } from '../../../src/caller/caller.ts';
import { MemoryCounts } from '../../../src/caller/quotas/memoryCounts.ts';
import {
  Quotas,
  type Counting as Counted,
  type QuotaSettings,
} from '../../../src/caller/quotas/quotas.ts';
import type { PhoneNumber } from '../../../src/domain/phoneNumber.ts';
import { TestClock } from '../../testClock.ts';
import { ALICE, BOB, callerNamed } from '../../values.ts';

const HOUR_SECONDS = 3600;

let clock: TestClock;
beforeEach(() => {
  clock = new TestClock();
});

function line(n: number): PhoneNumber {
  return `+4477009${String(n).padStart(7, '0')}` as PhoneNumber;
}

/** A caller whose token names this client, or none. */
function ofClient(client: string | null): Identity {
  return tokenIdentity('https://issuer.example', 'a', client);
}

/** Quotas, with what came of a count in one word. */
class Counting {
  readonly quotas: Quotas;

  constructor(settings: Partial<QuotaSettings>) {
    const limits = { numbersPerHour: 100, lookupsPerHour: 100, promptsPerHour: 100 };
    this.quotas = new Quotas(
      { ...limits, promptsPerHourAllCallers: 100, clients: new Map(), ...settings },
      new MemoryCounts(clock),
      ['first', 'second'],
    );
  }

  lookup(caller: string | Identity, number: PhoneNumber, operator = 'first'): Promise<string> {
    return this.#count('lookup', caller, number, operator);
  }

  number(caller: string | Identity, number: PhoneNumber): Promise<string> {
    return this.#count('number', caller, number);
  }

  prompt(caller: string | Identity, number: PhoneNumber): Promise<string> {
    return this.#count('prompt', caller, number);
  }

  async #count(
    counting: 'number' | 'lookup' | 'prompt',
    who: string | Identity,
    number: PhoneNumber,
    operator = 'first',
  ): Promise<string> {
    const caller = typeof who === 'string' ? callerNamed(who) : who;
    const counted = await this.quotas.count([counting], { caller, number, operator }, Infinity);
    return counted.kind === 'over' ? `${counted.over}: ${counted.retryAfterSeconds}` : 'counted';
  }

  /** Counts a lookup that is not made; the returned function gives it back. */
  async unsent(name: string, number: PhoneNumber): Promise<() => Promise<void>> {
    const whose = { caller: callerNamed(name), number, operator: 'first' };
    const counted = await this.quotas.count(['lookup'], whose, Infinity);
    if (counted.kind === 'over') throw new Error(counted.over);
    return counted.giveBack;
  }
}

/** In turn: who asks for what about which number, and whether it is counted, or over which quota it is. */
const HOURS: readonly [what: string, settings: Partial<QuotaSettings>, steps: string][] = [
  [
    'a number counts once for each caller, however often it is asked about',
    { numbersPerHour: 2 },
    `a lookup 1 counted, a lookup 1 counted, a lookup 2 counted, a lookup 3 numbers, a lookup 1 counted,
      b lookup 3 counted, b lookup 4 counted, b lookup 5 numbers`,
  ],
  [
    'a number counts that is asked about without a lookup',
    { numbersPerHour: 1, lookupsPerHour: 1 },
    'a number 1 counted, a number 1 counted, a lookup 2 numbers, a lookup 1 counted',
  ],
  [
    'lookups end, whatever the number',
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
    'operators have lookups of their own, and share what counts numbers',
    { numbersPerHour: 1, lookupsPerHour: 1 },
    'a lookup 1 counted, a lookup 1 lookups, a elsewhere 1 counted, a elsewhere 2 numbers',
  ],
  [
    'prompts end for one caller and one number, and for one number and all callers',
    { promptsPerHour: 2, promptsPerHourAllCallers: 3 },
    `a prompt 1 counted, a prompt 1 counted, a prompt 1 prompts, b prompt 1 counted, b prompt 1 prompts,
      anonymous prompt 1 prompts, a prompt 2 counted`,
  ],
];

describe('within an hour', () => {
  it.each(HOURS)('%s', async (_what, settings, steps) => {
    const counting = new Counting(settings);
    const told: string[] = [];
    for (const step of steps.split(/,\s+/)) {
      const [name = '', what, n] = step.split(' ');
      const caller = name === 'anonymous' ? ANONYMOUS.identity : name;
      const number = line(Number(n));
      const word =
        what === 'elsewhere'
          ? await counting.lookup(caller, number, 'second')
          : await counting[what as Counted](caller, number);
      told.push(`${name} ${what} ${n} ${word.split(':')[0]}`);
    }
    expect(told).toEqual(steps.split(/,\s+/));
  });
});

describe('after an hour', () => {
  it('all quotas start again, and say before how long that is', async () => {
    const counting = new Counting({ numbersPerHour: 1, promptsPerHour: 1 });
    await counting.lookup('a', ALICE);
    await counting.prompt('a', ALICE);
    await clock.advance(600_000);
    expect(await counting.lookup('a', BOB)).toBe(`numbers: ${HOUR_SECONDS - 600}`);
    expect(await counting.prompt('a', ALICE)).toBe(`prompts: ${HOUR_SECONDS - 600}`);
    await clock.advance((HOUR_SECONDS - 600) * 1000);
    expect(await counting.lookup('a', BOB)).toBe('counted');
    expect(await counting.prompt('a', ALICE)).toBe('counted');
    expect(await counting.lookup('a', ALICE)).toBe(`numbers: ${HOUR_SECONDS}`);
  });
});

describe('a client with quotas of its own', () => {
  const ANY = { numbersPerHour: 2, lookupsPerHour: 3, promptsPerHour: 1 };

  it.each([
    ['more of all', { numbersPerHour: 4, lookupsPerHour: 6, promptsPerHour: 2 }, [4, 6, 2]],
    ['less of one', { numbersPerHour: 1 }, [1, 3, 1]],
  ])('has %s, and what is not set as any other', async (_, quotas, [numbers, lookups, prompts]) => {
    const clients = new Map([['desk', quotas]]);
    const counting = new Counting({ ...ANY, clients });
    const words = { numbers: 0, lookups: 0, prompts: 0 };
    for (let n = 0; n < 10; n += 1) {
      if ((await counting.number(ofClient('desk'), line(n))) === 'counted') words.numbers += 1;
      if ((await counting.lookup(ofClient('desk'), line(0))) === 'counted') words.lookups += 1;
      if ((await counting.prompt(ofClient('desk'), ALICE)) === 'counted') words.prompts += 1;
    }
    expect(words).toEqual({ numbers, lookups, prompts });
    expect(await counting.quotas.standingOf(ofClient('desk'), Infinity)).toMatchObject([
      { quota: 'numbers', limit: numbers, left: 0 },
      { quota: 'lookups', limit: lookups, left: 0 },
    ]);
  });

  it('changes nothing for other clients, nor for tokens that name none', async () => {
    const counting = new Counting({ ...ANY, clients: new Map([['desk', { lookupsPerHour: 9 }]]) });
    for (const client of ['des', 'desk ', '', null]) {
      const standing = await counting.quotas.standingOf(ofClient(client), Infinity);
      expect(standing).toMatchObject([{ limit: 2 }, { limit: 3 }]);
    }
  });

  it('counts each of its callers separately', async () => {
    const clients = new Map([['app', { numbersPerHour: 1 }]]);
    const counting = new Counting({ ...ANY, clients });
    for (const caller of ['a', 'b']) {
      expect(await counting.lookup(caller, ALICE)).toBe('counted');
      expect(await counting.lookup(caller, BOB)).toContain('numbers');
    }
  });

  it('rings no phone more often than all callers together may', async () => {
    const clients = new Map([['desk', { promptsPerHour: 9 }]]);
    const counting = new Counting({ ...ANY, promptsPerHourAllCallers: 1, clients });
    expect(await counting.prompt(ofClient('desk'), ALICE)).toBe('counted');
    expect(await counting.prompt(ofClient('desk'), ALICE)).toContain('prompts');
  });
});

describe('what is given back', () => {
  it('counts no more, nor does its number', async () => {
    const counting = new Counting({ numbersPerHour: 1, lookupsPerHour: 1 });
    const giveBack = await counting.unsent('a', ALICE);
    await giveBack();
    expect(await counting.lookup('a', BOB)).toBe('counted');
  });

  it('leaves a number counted that another lookup is about', async () => {
    const counting = new Counting({ numbersPerHour: 1 });
    const giveBack = await counting.unsent('a', ALICE);
    expect(await counting.lookup('a', ALICE)).toBe('counted');
    await giveBack();
    expect(await counting.lookup('a', BOB)).toContain('numbers');
  });

  it('is nothing in the next hour', async () => {
    const counting = new Counting({ lookupsPerHour: 1 });
    const giveBack = await counting.unsent('a', ALICE);
    await clock.advance(HOUR_SECONDS * 1000);
    expect(await counting.lookup('a', ALICE)).toBe('counted');
    await giveBack();
    expect(await counting.lookup('a', ALICE)).toContain('lookups');
  });
});

describe('what is left', () => {
  it('is reported with its limit and the time until it is whole again, of the operator with the least left', async () => {
    const counting = new Counting({ numbersPerHour: 5, lookupsPerHour: 7 });
    await counting.lookup('a', ALICE);
    await counting.lookup('a', ALICE, 'second');
    await counting.lookup('a', ALICE, 'second');
    await clock.advance(1_500);
    const resetSeconds = HOUR_SECONDS - 1;
    expect(await counting.quotas.standingOf(callerNamed('a'), Infinity)).toEqual([
      { quota: 'numbers', limit: 5, left: 4, resetSeconds },
      { quota: 'lookups', limit: 7, left: 5, resetSeconds },
    ]);
    expect(await counting.quotas.standingOf(ANONYMOUS.identity, Infinity)).toEqual([]);
  });
});
