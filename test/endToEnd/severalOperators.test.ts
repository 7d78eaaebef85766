import { beforeEach, describe, expect, it } from 'vitest';
import type { PhoneNumber } from '../../src/domain/phoneNumber.ts';
import { deadUrl, type Answer } from '../wire/recordingServer.ts';
import { logInto } from '../support/service.ts';
import { TOKENS, WITHOUT_NUMBER } from '../operator/camara.ts';
import { operatorNamed, SeveralOperators, window } from '../support/severalOperators.ts';
import { TestClock } from '../support/testClock.ts';
import { grant, lookingUp, replying, WiredOperator } from '../support/wiredOperator.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';

/** Numbers of the three operators; those of the bad one begin with +447700901. */
const BAD = '+447700901';
const WELL = '+447700902';
const OTHER = '+447700903';

function numbersOf(prefix: string, count: number): PhoneNumber[] {
  return Array.from(
    { length: count },
    (_, index) => `${prefix}${String(index).padStart(2, '0')}` as PhoneNumber,
  );
}

let bad: WiredOperator;
let well: WiredOperator;
let other: WiredOperator;
beforeEach(async () => {
  [bad, well, other] = await Promise.all([
    WiredOperator.start(),
    WiredOperator.start({ forgives: ['tokensUsedTwice'] }),
    WiredOperator.start({
      forgives: ['tokensUsedTwice'],
      lookUp: lookingUp(replying({ swapped: true })),
    }),
  ]);
  return async () => {
    await Promise.all([bad, well, other].map((one) => one[Symbol.asyncDispose]()));
  };
});

function settings(badUrl = bad.url) {
  return [
    operatorNamed('bad', badUrl, { prefixes: [BAD] }),
    operatorNamed('well', well.url, {
      prefixes: [WELL],
      flow: '2-legged',
      grant: WITHOUT_NUMBER,
      tokens: { ...TOKENS, use: 'any-number' },
    }),
    operatorNamed(
      'other',
      other.url,
      { prefixes: [OTHER], tokens: { ...TOKENS, use: 'per-number' } },
      { OPERATOR_FLOW: '3-legged' },
    ),
  ];
}

describe('with one operator of three that', () => {
  it.each<[string, Answer]>([
    ['hangs, and has all its permits taken', () => undefined],
    ['is at its limit', replying({ code: 'TOO_MANY_REQUESTS' }, 429)],
    ['fails', replying({}, 503)],
  ])('%s, the others answer a batch as without it', async (_, script) => {
    bad.script = { token: script };
    // It does not advance: what waits for the bad one waits for ever.
    const clock = new TestClock();
    const limits = { timeoutMs: 60_000, connections: 2 };
    const narrow = settings().map((one) => ({ ...one, limits }));
    await using several = new SeveralOperators(narrow, { clock });
    const hangingUp = new LightAbortSignal();
    const loader = several.request('caller', hangingUp);
    const waiting = numbersOf(BAD, 30).map((number) => window(loader, number));
    const answers = await Promise.all([
      ...numbersOf(WELL, 30).map((number) => window(loader, number)),
      ...numbersOf(OTHER, 30).map((number) => window(loader, number)),
    ]);
    expect(answers).toEqual([...Array<boolean>(30).fill(false), ...Array<boolean>(30).fill(true)]);
    expect([well.lookups.length, other.lookups.length]).toEqual([30, 30]);
    expect([well.count('tokens'), other.count('prompts')]).toEqual([1, 30]);

    hangingUp.abort();
    const failures = await Promise.all(waiting);
    // What waited in our own queue was never sent to it.
    for (const code of failures) expect(code).toMatch(/^OPERATOR_|^UNAVAILABLE$/);
  });

  it('is down, its circuit opens and theirs do not; the others have their own retries', async () => {
    const clock = new TestClock();
    const logged: string[] = [];
    await using several = new SeveralOperators(settings(await deadUrl()), {
      clock,
      log: logInto(logged),
    });
    for (const number of numbersOf(BAD, 30)) {
      const asked = window(several.request(), number);
      await clock.advance(1_000);
      expect(await asked).toBe('OPERATOR_UNAVAILABLE');
    }
    const circuits = logged.filter((one) => one.includes('circuit is open'));
    expect(circuits).toHaveLength(1);
    expect(circuits[0]).toContain('"operator":"bad"');

    // One 503 each, which the retry budget of each operator of its own smooths over.
    let isFirst = true;
    well.script = {
      token: (received, response) => {
        (isFirst ? replying({}, 503) : grant)(received, response);
        isFirst = false;
      },
    };
    const asked = window(several.request(), numbersOf(WELL, 1)[0] ?? (WELL as PhoneNumber));
    while (well.count('tokens') < 2) await clock.advance(10);
    expect(await asked).toBe(false);
  });
});

it('a number that no operator serves reaches none of them', async () => {
  await using several = new SeveralOperators(settings());
  expect(await window(several.request(), '+10000000' as PhoneNumber)).toBe('NUMBER_NOT_SERVED');
  expect([...bad.received, ...well.received, ...other.received]).toEqual([]);
});
