import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuditLog } from '../../src/caller/audit/auditLog.ts';
import type { AuditEntry } from '../../src/caller/audit/entry.ts';
import { CallerAuthorizers } from '../../src/caller/callerAuthorizer.ts';
import { MemoryCounts } from '../../src/caller/quotas/memoryCounts.ts';
import { Quotas } from '../../src/caller/quotas/quotas.ts';
import type { Environment } from '../../src/config/environment.ts';
import { readConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/system/clock.ts';
import { COMMON_ERRORS, type ErrorMap } from '../../src/http/errorMap.ts';
import { answerJson, type Answer } from '../http/recordingServer.ts';
import { operatorNamed, SeveralOperators, date, window } from '../severalOperators.ts';
import { silentLog } from '../silentLog.ts';
import { WiredOperator, type OperatorScript } from '../wiredOperator.ts';
import { line } from './askedSimSwaps.ts';

let losing: WiredOperator;
let gaining: WiredOperator;
beforeEach(async () => {
  losing = await WiredOperator.start();
  gaining = await WiredOperator.start({
    lookUp: (received, response) => {
      const isCheck = received.path.endsWith('/check');
      answerJson(received, response, isCheck ? { swapped: true } : { latestSimChange: null });
    },
  });
});
afterEach(async () => {
  await losing[Symbol.asyncDispose]();
  await gaining[Symbol.asyncDispose]();
});

function refusing(status: number, body: object): Answer {
  return (received, response) => answerJson(received, response, body, status);
}

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
    ['does not find the identifier', { lookUp: refusing(404, { code: 'IDENTIFIER_NOT_FOUND' }) }],
    [
      'does not know the number, in the words of SIM Swap 0.4',
      { lookUp: refusing(404, { code: 'SIM_SWAP.UNKNOWN_PHONE_NUMBER' }) },
    ],
    ['issues no token for it', { token: refusing(400, { error: 'unknown_user_id' }) }],
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
    losing.script = { lookUp: refusing(status, { result: 17 }) };
    await using several = asking(['gaining'], {}, {}, { wordAt: [['result']], rules: [rule] });
    expect(String(await window(several.request(), line(1)))).toBe(told);
    expect(gaining.lookups).toHaveLength(told === 'true' ? 1 : 0);
  });

  it.each<[string, OperatorScript, string]>([
    [
      'answers 404 as any gateway may',
      { lookUp: refusing(404, { code: 'NOT_FOUND' }) },
      'NUMBER_NOT_SERVED',
    ],
    [
      'answers 404 in other words',
      { lookUp: refusing(404, { error: 'Not Found' }) },
      'OPERATOR_REFUSED',
    ],
    [
      'does not serve the line',
      { lookUp: refusing(422, { code: 'SERVICE_NOT_APPLICABLE' }) },
      'NUMBER_NOT_SERVED',
    ],
    ['fails', { lookUp: refusing(500, { code: 'IDENTIFIER_NOT_FOUND' }) }, 'OPERATOR_UNAVAILABLE'],
    [
      'breaks off',
      { lookUp: (_, response) => response.socket?.resetAndDestroy() },
      'OPERATOR_UNAVAILABLE',
    ],
    [
      'is at its limit',
      { lookUp: refusing(429, { code: 'IDENTIFIER_NOT_FOUND' }) },
      'OPERATOR_RATE_LIMITED',
    ],
    ['refuses us', { lookUp: refusing(403, { code: 'PERMISSION_DENIED' }) }, 'OPERATOR_REFUSED'],
    ['sends no answer', { lookUp: refusing(200, {}) }, 'OPERATOR_INVALID_REPLY'],
    ['knows it', {}, 'false'],
  ])('%s: no other one is asked', async (_, script, told) => {
    losing.script = script;
    await using several = asking();
    expect(String(await window(several.request(), line(1)))).toBe(told);
    expect(gaining.received).toEqual([]);
  });

  it('has said anything of the number: no other one is asked for what it does not know', async () => {
    losing.script = {
      lookUp: (received, response) => {
        if (received.path.endsWith('/check')) {
          answerJson(received, response, { code: 'IDENTIFIER_NOT_FOUND' }, 404);
        } else answerJson(received, response, { latestSimChange: null });
      },
    };
    await using several = asking();
    const loader = several.request();
    const told = await Promise.all([date(loader, line(1)), window(loader, line(1))]);
    expect(told).toEqual([null, 'NUMBER_NOT_SERVED']);
    expect(gaining.received).toEqual([]);
  });

  it('left a doubt about one question: no other one is asked for the other', async () => {
    losing.script = {
      lookUp: (received, response) => {
        if (received.path.endsWith('/check')) {
          answerJson(received, response, { code: 'IDENTIFIER_NOT_FOUND' }, 404);
        } else answerJson(received, response, { latestSimChange: 'yesterday' });
      },
    };
    await using several = asking();
    const loader = several.request();
    const told = await Promise.all([date(loader, line(1)), window(loader, line(1))]);
    expect(told).toEqual(['OPERATOR_INVALID_REPLY', 'NUMBER_NOT_SERVED']);
    expect(gaining.received).toEqual([]);
  });
});

describe('in the 3-legged flow', () => {
  const THREE_LEGGED = { OPERATOR_FLOW: '3-legged' };

  it('an operator that does not know the owner has prompted no owner: the other one is asked', async () => {
    losing.script = { authorize: refusing(400, { error: 'unknown_user_id' }) };
    await using several = asking(['gaining'], THREE_LEGGED);
    expect(await window(several.request(), line(1))).toBe(true);
    expect(losing.count('tokens')).toBe(0);
  });

  it.each<[string, OperatorScript]>([
    ['at the lookup', { lookUp: refusing(404, { code: 'IDENTIFIER_NOT_FOUND' }) }],
    ['at the poll', { token: refusing(400, { error: 'unknown_user_id' }) }],
    ['with a status of doubt', { authorize: refusing(503, { error: 'unknown_user_id' }) }],
  ])('one that says so after a prompt, %s: no other one is asked', async (_, script) => {
    losing.script = script;
    await using several = asking(['gaining'], THREE_LEGGED);
    expect(await window(several.request(), line(1))).not.toBe(true);
    expect(losing.count('prompts')).toBe(1);
    expect(gaining.received).toEqual([]);
  });
});

describe('the list', () => {
  const unknown: OperatorScript = { lookUp: refusing(404, { code: 'IDENTIFIER_NOT_FOUND' }) };

  it('is empty unless it is set', async () => {
    losing.script = unknown;
    await using several = asking([]);
    expect(await window(several.request(), line(1))).toBe('NUMBER_NOT_SERVED');
    expect(gaining.received).toEqual([]);
  });

  it('is all that is asked, each once: not the others of the others, nor one that is listed twice', async () => {
    losing.script = unknown;
    gaining.script = unknown;
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
    losing.script = unknown;
    gaining.script = { lookUp: refusing(429, { code: 'TOO_MANY_REQUESTS' }) };
    await using several = asking();
    const loader = several.request();
    expect(await window(loader, line(1))).toBe('OPERATOR_RATE_LIMITED');
    gaining.script = {};
    expect(await window(loader, line(1), 24)).toBe('OPERATOR_RATE_LIMITED');
    expect(losing.lookups).toHaveLength(1);
    expect(await window(several.request(), line(1), 24)).toBe(false);
  });

  it('each try is counted at its operator, and audited under its name', async () => {
    losing.script = unknown;
    const lines: AuditEntry[] = [];
    const append = (text: string): Promise<void> => {
      for (const one of text.trim().split('\n')) lines.push(JSON.parse(one) as AuditEntry);
      return Promise.resolve();
    };
    const limits = { ...readConfig({}).quotas, lookupsPerHour: 1 };
    const admissions = new CallerAuthorizers({
      quotas: new Quotas(limits, new MemoryCounts(systemClock), ['losing', 'gaining']),
      audit: { auditLog: new AuditLog({ append }, systemClock), key: 'a-key' },
      clock: systemClock,
      log: silentLog,
    });
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
