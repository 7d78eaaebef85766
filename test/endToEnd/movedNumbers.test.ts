import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../src/caller/audit/entry.ts';
import type { Environment } from '../../src/config/environment.ts';
import { systemClock } from '../../src/system/clock.ts';
import { COMMON_ERRORS, type ErrorMap } from '../../src/http/errorMap.ts';
import { auditedInto, operatorNamed, SeveralOperators, date, window } from '../severalOperators.ts';
import { lookingUp, replying, WiredOperator, type OperatorScript } from '../wiredOperator.ts';
import { line } from './askedSimSwaps.ts';

let losing: WiredOperator;
let gaining: WiredOperator;
beforeEach(async () => {
  losing = await WiredOperator.start();
  gaining = await WiredOperator.start({ lookUp: lookingUp(replying({ swapped: true })) });
});
afterEach(async () => {
  await losing[Symbol.asyncDispose]();
  await gaining[Symbol.asyncDispose]();
});

const UNKNOWN = replying({ code: 'IDENTIFIER_NOT_FOUND' }, 404);

function asking(
  others: readonly string[] = ['gaining'],
  environment: Environment = {},
  parts: ConstructorParameters<typeof SeveralOperators>[1] = {},
  errors: ErrorMap = COMMON_ERRORS,
) {
  const first = { prefixes: ['default'], others, errors } as const;
  return new SeveralOperators(
    [
      operatorNamed('losing', losing.url, first, environment),
      operatorNamed('gaining', gaining.url, { others: ['losing'] }),
    ],
    parts,
  );
}

describe('an operator that', () => {
  it.each<[string, OperatorScript]>([
    ['does not find the identifier', { lookUp: UNKNOWN }],
    [
      'does not know the number, in the words of SIM Swap 0.4',
      { lookUp: replying({ code: 'SIM_SWAP.UNKNOWN_PHONE_NUMBER' }, 404) },
    ],
    ['issues no token for it', { token: replying({ error: 'unknown_user_id' }, 400) }],
  ])('%s: the other one is asked', async (_, script) => {
    losing.script = script;
    await using several = asking();
    const loader = several.request();
    expect(await Promise.all([window(loader, line(1)), date(loader, line(1))])).toEqual([
      true,
      null,
    ]);
    expect(gaining.lookups).toHaveLength(2);
  });

  it.each<[string, boolean, number, string]>([
    ['that mean that it does not know the number: the other one is asked', true, 404, 'true'],
    ['that mean so where a status of success has them', true, 200, 'true'],
    ['that do not: no other one is asked', false, 404, 'NUMBER_NOT_SERVED'],
    ['at a status of doubt: no other one is asked', true, 503, 'NUMBER_NOT_SERVED'],
  ])('refuses in words of its profile %s', async (_, isMarked, status, told) => {
    const marked = isMarked ? ({ isUnknownNumber: true } as const) : {};
    const rule = {
      status,
      word: '17',
      code: 'NUMBER_NOT_SERVED',
      reach: 'number',
      ...marked,
    } as const;
    losing.script = { lookUp: replying({ result: 17 }, status) };
    await using several = asking(['gaining'], {}, {}, { wordAt: [['result']], rules: [rule] });
    expect(String(await window(several.request(), line(1)))).toBe(told);
    expect(gaining.lookups).toHaveLength(told === 'true' ? 1 : 0);
  });

  it.each<[string, OperatorScript, string]>([
    [
      'answers 404 as any gateway may',
      { lookUp: replying({ code: 'NOT_FOUND' }, 404) },
      'NUMBER_NOT_SERVED',
    ],
    [
      'answers 404 in other words',
      { lookUp: replying({ error: 'Not Found' }, 404) },
      'OPERATOR_REFUSED',
    ],
    [
      'does not serve the line',
      { lookUp: replying({ code: 'SERVICE_NOT_APPLICABLE' }, 422) },
      'NUMBER_NOT_SERVED',
    ],
    ['fails', { lookUp: replying({ code: 'IDENTIFIER_NOT_FOUND' }, 500) }, 'OPERATOR_UNAVAILABLE'],
    ['sends no answer', { lookUp: replying({}) }, 'OPERATOR_INVALID_REPLY'],
    ['knows it', {}, 'false'],
  ])('%s: no other one is asked', async (_, script, told) => {
    losing.script = script;
    await using several = asking();
    expect(String(await window(several.request(), line(1)))).toBe(told);
    expect(gaining.received).toEqual([]);
  });

  it.each([
    ['has said anything of the number', null, null],
    ['left a doubt about one question', 'yesterday', 'OPERATOR_INVALID_REPLY'],
  ])('%s: no other one is asked for what it does not know', async (_, latestSimChange, told) => {
    losing.script = { lookUp: lookingUp(UNKNOWN, replying({ latestSimChange })) };
    await using several = asking();
    const loader = several.request();
    const answers = await Promise.all([date(loader, line(1)), window(loader, line(1))]);
    expect(answers).toEqual([told, 'NUMBER_NOT_SERVED']);
    expect(gaining.received).toEqual([]);
  });
});

describe('in the 3-legged flow', () => {
  const THREE_LEGGED = { OPERATOR_FLOW: '3-legged' };

  it('an operator that does not know the owner has prompted no owner: the other one is asked', async () => {
    losing.script = { authorize: replying({ error: 'unknown_user_id' }, 400) };
    await using several = asking(['gaining'], THREE_LEGGED);
    expect(await window(several.request(), line(1))).toBe(true);
    expect(losing.count('tokens')).toBe(0);
  });

  it.each<[string, OperatorScript]>([
    ['at the lookup', { lookUp: UNKNOWN }],
    ['at the poll', { token: replying({ error: 'unknown_user_id' }, 400) }],
    ['with a status of doubt', { authorize: replying({ error: 'unknown_user_id' }, 503) }],
  ])('one that says so after a prompt, %s: no other one is asked', async (_, script) => {
    losing.script = script;
    await using several = asking(['gaining'], THREE_LEGGED);
    expect(await window(several.request(), line(1))).not.toBe(true);
    expect(losing.count('prompts')).toBe(1);
    expect(gaining.received).toEqual([]);
  });
});

describe('the list', () => {
  it('is empty unless it is set', async () => {
    losing.script = { lookUp: UNKNOWN };
    await using several = asking([]);
    expect(await window(several.request(), line(1))).toBe('NUMBER_NOT_SERVED');
    expect(gaining.received).toEqual([]);
  });

  it('is all that is asked, each once: not the others of the others, nor one that is listed twice', async () => {
    losing.script = { lookUp: UNKNOWN };
    gaining.script = { lookUp: UNKNOWN };
    await using several = asking(['gaining', 'losing', 'gaining']);
    expect(await window(several.request(), line(1))).toBe('NUMBER_NOT_SERVED');
    expect([losing.lookups.length, gaining.lookups.length]).toEqual([1, 1]);
  });

  it('with an operator that is not there is refused at the start', () => {
    expect(() => asking(['nowhere'])).toThrow(
      '`others` of the operator losing names one that is not there.',
    );
  });

  it('what the next one fails at is the answer, and only it gets further questions', async () => {
    losing.script = { lookUp: UNKNOWN };
    gaining.script = { lookUp: replying({ code: 'TOO_MANY_REQUESTS' }, 429) };
    await using several = asking();
    const loader = several.request();
    expect(await window(loader, line(1))).toBe('OPERATOR_RATE_LIMITED');
    gaining.script = {};
    expect(await window(loader, line(1), 24)).toBe('OPERATOR_RATE_LIMITED');
    expect(losing.lookups).toHaveLength(1);
    expect(await window(several.request(), line(1), 24)).toBe(false);
  });

  it('each try is counted at its operator, and audited under its name', async () => {
    losing.script = { lookUp: UNKNOWN };
    const lines: AuditEntry[] = [];
    const admissions = auditedInto(lines, systemClock, { lookupsPerHour: 1 });
    await using several = asking(['gaining'], {}, { admissions });
    await window(several.request(), line(1));
    expect(lines.map(({ audit, operator, outcome }) => [audit, operator, outcome])).toEqual([
      ['before', 'losing', undefined],
      ['after', 'losing', 'NUMBER_NOT_SERVED'],
      ['before', 'gaining', undefined],
      ['after', 'gaining', 'answered'],
    ]);
  });
});
