import { beforeEach, describe, expect, it } from 'vitest';
import { tokenIdentity, type Identity } from '../../../src/domain/identity.ts';
import { ANONYMOUS } from '../../../src/caller/caller.ts';
import { MemoryCounts } from '../../../src/caller/quotas/memoryCounts.ts';
import { Quotas, type QuotaSettings } from '../../../src/caller/quotas/quotas.ts';
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

  /** How many lookups of a scan over so many numbers may be made. */
  async scan(caller: string, numbers: number): Promise<number> {
    let made = 0;
    for (let n = 0; n < numbers; n += 1) {
      if ((await this.lookup(caller, line(n))) === 'counted') made += 1;
    }
    return made;
  }
}

describe('the quota of numbers', () => {
  it('counts a number once, however often it is asked about', async () => {
    const counting = new Counting({ numbersPerHour: 1 });
    for (let n = 0; n < 50; n += 1) expect(await counting.lookup('a', ALICE)).toBe('counted');
    expect(await counting.lookup('a', BOB)).toBe(`numbers: ${HOUR_SECONDS}`);
  });

  it('is one for each caller', async () => {
    const counting = new Counting({ numbersPerHour: 2 });
    expect(await counting.scan('a', 10)).toBe(2);
    expect(await counting.scan('b', 10)).toBe(2);
  });

  it('still answers about numbers that count already', async () => {
    const counting = new Counting({ numbersPerHour: 2 });
    await counting.scan('a', 10);
    expect(await counting.lookup('a', line(0))).toBe('counted');
  });

  it('starts again after the hour, and says how long that is', async () => {
    const counting = new Counting({ numbersPerHour: 1 });
    await counting.lookup('a', ALICE);
    await clock.advance(600_000);
    expect(await counting.lookup('a', BOB)).toBe(`numbers: ${HOUR_SECONDS - 600}`);
    await clock.advance((HOUR_SECONDS - 600) * 1000);
    expect(await counting.lookup('a', BOB)).toBe('counted');
    expect(await counting.lookup('a', ALICE)).toBe(`numbers: ${HOUR_SECONDS}`);
  });

  it('counts a number that is asked about without a lookup', async () => {
    const counting = new Counting({ numbersPerHour: 1, lookupsPerHour: 1 });
    for (let n = 0; n < 5; n += 1) expect(await counting.number('a', ALICE)).toBe('counted');
    expect(await counting.lookup('a', BOB)).toContain('numbers');
    expect(await counting.lookup('a', ALICE)).toBe('counted');
  });
});

describe('the quota of lookups', () => {
  it('ends, whatever the number', async () => {
    const counting = new Counting({ lookupsPerHour: 3 });
    const words = [];
    for (let n = 0; n < 5; n += 1) words.push(await counting.lookup('a', ALICE));
    const over = `lookups: ${HOUR_SECONDS}`;
    expect(words).toEqual(['counted', 'counted', 'counted', over, over]);
  });

  it('is not spent on numbers that are refused, nor numbers on lookups that are', async () => {
    const counting = new Counting({ numbersPerHour: 1, lookupsPerHour: 2 });
    await counting.scan('a', 10);
    expect(await counting.lookup('a', line(0))).toBe('counted');
    expect(await counting.lookup('a', line(0))).toContain('lookups');

    const other = new Counting({ numbersPerHour: 2, lookupsPerHour: 1 });
    await other.scan('a', 10);
    expect(await other.quotas.standingOf(callerNamed('a'), Infinity)).toMatchObject([
      { left: 1 },
      { left: 0 },
    ]);
  });
});

describe('the quota of prompts', () => {
  it('is for one caller and one number, and for one number and all callers', async () => {
    const counting = new Counting({ promptsPerHour: 2, promptsPerHourAllCallers: 3 });
    const over = `prompts: ${HOUR_SECONDS}`;
    const words = [];
    for (const caller of ['a', 'a', 'a', 'b', 'b', ANONYMOUS.identity]) {
      words.push(await counting.prompt(caller, ALICE));
    }
    expect(words).toEqual(['counted', 'counted', over, 'counted', over, over]);
    expect(await counting.prompt('a', BOB)).toBe('counted');
    await clock.advance(HOUR_SECONDS * 1000);
    expect(await counting.prompt('a', ALICE)).toBe('counted');
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
    const clients = new Map([['app', { numbersPerHour: 3 }]]);
    const counting = new Counting({ ...ANY, lookupsPerHour: 100, clients });
    expect([await counting.scan('a', 10), await counting.scan('b', 10)]).toEqual([3, 3]);
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
  it('is reported with its limit and the time until it is whole again', async () => {
    const counting = new Counting({ numbersPerHour: 5, lookupsPerHour: 7 });
    await counting.lookup('a', ALICE);
    await counting.lookup('a', ALICE);
    await clock.advance(1_500);
    const resetSeconds = HOUR_SECONDS - 1;
    expect(await counting.quotas.standingOf(callerNamed('a'), Infinity)).toEqual([
      { quota: 'numbers', limit: 5, left: 4, resetSeconds },
      { quota: 'lookups', limit: 7, left: 5, resetSeconds },
    ]);
    expect(await counting.quotas.standingOf(ANONYMOUS.identity, Infinity)).toEqual([]);
  });
});

describe('several operators', () => {
  it('have lookups of their own, and share what counts numbers', async () => {
    const counting = new Counting({ numbersPerHour: 1, lookupsPerHour: 2 });
    for (const told of ['counted', 'counted']) {
      expect(await counting.lookup('a', ALICE, 'first')).toBe(told);
    }
    expect(await counting.lookup('a', ALICE, 'first')).toContain('lookups');
    expect(await counting.lookup('a', ALICE, 'second')).toBe('counted');
    expect(await counting.lookup('a', BOB, 'second')).toContain('numbers');
    expect(await counting.quotas.standingOf(callerNamed('a'), Infinity)).toMatchObject([
      { quota: 'numbers', left: 0 },
      { quota: 'lookups', left: 0 },
    ]);
  });
});
