import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../src/caller/audit/entry.ts';
import type { LookupAuthorizers } from '../../src/lookups/lookupAuthorizer.ts';
import { systemClock } from '../../src/system/clock.ts';
import { COMMON_ERRORS, type ErrorMap } from '../../src/judging/errorMap.ts';
import {
  auditedInto,
  operatorNamed,
  SeveralOperators,
  date,
  window,
} from '../support/severalOperators.ts';
import {
  lookingUp,
  replying,
  WiredOperator,
  type OperatorScript,
} from '../support/wiredOperator.ts';
import { line } from './askedSimSwaps.ts';

/** A number has left the first of two operators for the second, which says that its SIM changed. */
let losing: WiredOperator;
let gaining: WiredOperator;
beforeEach(async () => {
  losing = await WiredOperator.start();
  gaining = await WiredOperator.start({ lookUp: lookingUp(replying({ swapped: true })) });
  return async () => {
    await losing[Symbol.asyncDispose]();
    await gaining[Symbol.asyncDispose]();
  };
});

const lookUp = (status: number, body: object): OperatorScript => ({
  lookUp: replying(body, status),
});
const UNKNOWN = lookUp(404, { code: 'IDENTIFIER_NOT_FOUND' });
const NO_USER = replying({ error: 'unknown_user_id' }, 400);

interface Changes {
  readonly others?: readonly string[];
  readonly flow?: '2-legged' | '3-legged';
  readonly errors?: ErrorMap;
  readonly admissions?: LookupAuthorizers;
}

function serving({ others = ['gaining'], flow = '2-legged', errors, admissions }: Changes = {}) {
  const first = { prefixes: ['default'], others, errors: errors ?? COMMON_ERRORS } as const;
  return new SeveralOperators(
    [
      operatorNamed('losing', losing.url, first, { OPERATOR_FLOW: flow }),
      operatorNamed('gaining', gaining.url, { others: ['losing'] }),
    ],
    admissions === undefined ? {} : { admissions },
  );
}

/** The answer about a number, and how many lookups the second operator got. */
async function endOf(script: OperatorScript, changes?: Changes) {
  losing.script = script;
  await using several = serving(changes);
  const told = await window(several.request(), line(1));
  return [told, gaining.lookups.length];
}

describe('where an operator', () => {
  const NOT_SERVED = 'NUMBER_NOT_SERVED';
  it.each<[string, OperatorScript, told: string | boolean]>([
    ['does not find the identifier', UNKNOWN, true],
    ['does not know the number, 0.4', lookUp(404, { code: 'SIM_SWAP.UNKNOWN_PHONE_NUMBER' }), true],
    ['issues no token for it', { token: NO_USER }, true],
    ['answers 404 as any gateway may', lookUp(404, { code: 'NOT_FOUND' }), NOT_SERVED],
    ['answers 404 in other words', lookUp(404, { error: 'Not Found' }), 'OPERATOR_REFUSED'],
    ['does not serve the line', lookUp(422, { code: 'SERVICE_NOT_APPLICABLE' }), NOT_SERVED],
    ['fails', lookUp(500, { code: 'IDENTIFIER_NOT_FOUND' }), 'OPERATOR_UNAVAILABLE'],
    ['sends no answer', lookUp(200, {}), 'OPERATOR_INVALID_REPLY'],
    ['knows it', {}, false],
  ])('%s: the other one is called only where its answer is returned', async (_, script, told) => {
    expect(await endOf(script)).toEqual([told, told === true ? 1 : 0]);
  });

  it.each<[string, true | undefined, number, told: string | boolean]>([
    ['that mean that it does not know the number', true, 404, true],
    ['that mean so at a status of success', true, 200, true],
    ['that do not', undefined, 404, NOT_SERVED],
    ['that mean so at a status of doubt', true, 503, NOT_SERVED],
  ])('refuses in words of its profile %s', async (_, isUnknownNumber, status, told) => {
    const rule = { status, word: '17', code: NOT_SERVED, reach: 'number' } as const;
    const marked = isUnknownNumber === undefined ? rule : { ...rule, isUnknownNumber };
    const errors = { wordAt: [['result']], rules: [marked] };
    const script = lookUp(status, { result: 17 });
    expect(await endOf(script, { errors })).toEqual([told, told === true ? 1 : 0]);
  });

  it.each([
    ['has said anything of the number', null, null],
    ['left a doubt about one question', 'yesterday', 'OPERATOR_INVALID_REPLY'],
  ])('%s the other one is not called', async (_, latestSimChange, told) => {
    losing.script = {
      lookUp: lookingUp(
        replying({ code: 'IDENTIFIER_NOT_FOUND' }, 404),
        replying({ latestSimChange }),
      ),
    };
    await using several = serving();
    const loader = several.request();
    const answers = await Promise.all([date(loader, line(1)), window(loader, line(1))]);
    expect(answers).toEqual([told, NOT_SERVED]);
    expect(gaining.received).toEqual([]);
  });

  it.each<[string, OperatorScript, told: string | boolean]>([
    ['does not know the owner at the prompt', { authorize: NO_USER }, true],
    ['does not know the number at the lookup', UNKNOWN, NOT_SERVED],
    ['does not know the owner at the poll', { token: NO_USER }, NOT_SERVED],
    [
      'may have prompted',
      { authorize: replying({ error: 'unknown_user_id' }, 503) },
      'OPERATOR_UNAVAILABLE',
    ],
  ])('%s, 3-legged: the owner is prompted once', async (_, script, told) => {
    const expected = [told, told === true ? 1 : 0];
    expect(await endOf(script, { flow: '3-legged' })).toEqual(expected);
    expect(losing.count('prompts')).toBe(1);
  });
});

describe('the list of others', () => {
  it('calls each operator once: not the others of the others, nor one that is listed twice', async () => {
    gaining.script = UNKNOWN;
    const others = ['gaining', 'losing', 'gaining'];
    expect(await endOf(UNKNOWN, { others })).toEqual(['NUMBER_NOT_SERVED', 1]);
    expect(losing.lookups).toHaveLength(1);
  });

  it('is refused at the start with an operator that does not exist', () => {
    expect(() => serving({ others: ['nowhere'] })).toThrow(
      '`others` of the operator losing names one that does not exist.',
    );
  });

  it('returns the failure of the next operator, which gets all further questions', async () => {
    losing.script = UNKNOWN;
    gaining.script = { lookUp: replying({ code: 'TOO_MANY_REQUESTS' }, 429) };
    await using several = serving();
    const loader = several.request();
    expect(await window(loader, line(1))).toBe('OPERATOR_RATE_LIMITED');
    gaining.script = {};
    expect(await window(loader, line(1), 24)).toBe('OPERATOR_RATE_LIMITED');
    expect(losing.lookups).toHaveLength(1);
    expect(await window(several.request(), line(1), 24)).toBe(false);
  });

  it('counts each try at its operator, and audits it under its name', async () => {
    const lines: AuditEntry[] = [];
    const admissions = auditedInto(lines, systemClock, { lookupsPerHour: 1 });
    await endOf(UNKNOWN, { admissions });
    expect(lines.map(({ audit, operator, outcome }) => [audit, operator, outcome])).toEqual([
      ['before', 'losing', undefined],
      ['after', 'losing', 'NUMBER_NOT_SERVED'],
      ['before', 'gaining', undefined],
      ['after', 'gaining', 'answered'],
    ]);
  });
});
