import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../src/caller/audit/entry.ts';
import type { Tokens } from '../../src/domain/profile.ts';
import { TOKENS } from '../operator/camara.ts';
import {
  auditedInto,
  date,
  operatorNamed,
  SeveralOperators,
  window,
} from '../support/severalOperators.ts';
import { TestClock } from '../support/testClock.ts';
import { replying, WiredOperator, WITHHOLDS_DATES } from '../support/wiredOperator.ts';
import { line } from './askedSimSwaps.ts';

const ONE_SCOPE = {
  operations: { 'retrieve-date': 'sim-swap', check: 'sim-swap' },
  openid: false,
  joinedBy: ' ',
} as const;

let clock: TestClock;
let operator: WiredOperator;
let lines: AuditEntry[];
beforeEach(async () => {
  clock = new TestClock();
  lines = [];
  operator = await WiredOperator.start(WITHHOLDS_DATES);
  return () => operator[Symbol.asyncDispose]();
});

function asking(
  use: Tokens['use'] = 'per-number',
  scopes: object = { scopes: ONE_SCOPE },
  lookupsPerHour = 100,
) {
  const admissions = auditedInto(lines, clock, { lookupsPerHour });
  const tokens = { ...TOKENS, use };
  const changes = { prefixes: ['default'], keepFactsSeconds: 0, tokens, ...scopes } as const;
  const settings = operatorNamed('one', operator.url, changes, { OPERATOR_FLOW: '3-legged' });
  return new SeveralOperators([settings], { clock, admissions });
}

/** What reached the operator: prompts, tokens, lookups. */
function reached(): readonly number[] {
  return [operator.count('prompts'), operator.count('tokens'), operator.count('lookups')];
}

describe('the token of a consent', () => {
  it.each<[Tokens['use'], readonly number[]]>([
    ['once', [3, 3, 3]],
    ['per-number', [1, 1, 3]],
    // A consent is about one number, with any settings.
    ['any-number', [1, 1, 3]],
  ])('%s: the date and three windows', async (use, prompts) => {
    await using several = asking(use);
    const loader = several.request();
    const answers = await Promise.all([
      date(loader, line(1)),
      window(loader, line(1), 24),
      window(loader, line(1), 72),
      window(loader, line(1), 240),
    ]);
    expect(answers).toEqual([null, false, false, true]);
    expect(reached()).toEqual(prompts);
  });

  it('serves one number', async () => {
    await using several = asking('any-number');
    await window(several.request(), line(1));
    await window(several.request(), line(2));
    expect(reached()).toEqual([2, 2, 2]);
  });

  it('serves one operation where each has a scope of its own', async () => {
    await using several = asking('per-number', {});
    const loader = several.request();
    await Promise.all([
      date(loader, line(1)),
      window(loader, line(1), 72),
      window(loader, line(1)),
    ]);
    expect(reached()).toEqual([2, 2, 3]);
  });

  it('serves only its caller: a request of another caller prompts the owner', async () => {
    await using several = asking();
    await window(several.request('one'), line(1));
    await window(several.request('two'), line(1));
    expect(reached()).toEqual([2, 2, 2]);
  });

  it('serves further requests until its margin, and no longer', async () => {
    await using several = asking();
    await window(several.request(), line(1), 240);
    await clock.advance(54_000);
    expect(await window(several.request(), line(1), 24)).toBe(false);
    expect(reached()).toEqual([1, 1, 2]);
    await clock.advance(1_000);
    expect(await window(several.request(), line(1), 12)).toBe(false);
    expect(reached()).toEqual([2, 2, 3]);
  });

  it('is counted and audited: each further lookup counts, under the same consent', async () => {
    await using several = asking('per-number', { scopes: ONE_SCOPE }, 2);
    const loader = several.request();
    await Promise.all([
      window(loader, line(1), 24),
      window(loader, line(1), 72),
      window(loader, line(1)),
    ]);
    expect(await window(several.request(), line(1), 48)).toBe('RATE_LIMITED');
    const asked = lines.filter(({ audit }) => audit === 'before');
    expect(asked.map(({ event }) => event)).toEqual(['consent-request', 'lookup', 'lookup']);
    expect(new Set(asked.map(({ consentId }) => consentId)).size).toBe(1);
  });
});

describe('a token of a consent that is refused with 401', () => {
  it('prompts no owner: the refusal is returned again until the operator may be queried', async () => {
    await using several = asking();
    await window(several.request(), line(1), 240);
    operator.script = { lookUp: replying({ code: 'UNAUTHENTICATED' }, 401) };
    expect(await window(several.request(), line(1), 24)).toBe('OPERATOR_REFUSED');
    expect(reached()).toEqual([1, 1, 2]);
    expect(await window(several.request(), line(1), 24)).toBe('OPERATOR_REFUSED');
    expect(reached()).toEqual([1, 1, 2]);

    operator.script = { forgives: ['tokensUsedTwice'] };
    await clock.advance(60_000);
    expect(await window(several.request(), line(1), 24)).toBe(false);
    expect(reached()).toEqual([2, 2, 3]);
  });

  it('at its first lookup is not kept', async () => {
    operator.script = { lookUp: replying({ code: 'UNAUTHENTICATED' }, 401) };
    await using several = asking();
    expect(await window(several.request(), line(1), 24)).toBe('OPERATOR_REFUSED');
    expect(await window(several.request(), line(1), 24)).toBe('OPERATOR_REFUSED');
    expect(reached()).toEqual([1, 1, 1]);
  });
});

it('a lookup that fails does not end the consent', async () => {
  await using several = asking();
  await window(several.request(), line(1), 240);
  operator.script = { lookUp: replying({}, 503) };
  expect(await window(several.request(), line(1), 24)).toBe('OPERATOR_UNAVAILABLE');
  operator.script = { forgives: ['tokensUsedTwice'] };
  expect(await window(several.request(), line(1), 24)).toBe(false);
  expect(reached()).toEqual([1, 1, 3]);
});
