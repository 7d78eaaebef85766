import { beforeEach, describe, expect, it } from 'vitest';
import type { Identity } from '../../src/domain/identity.ts';
import { AuditLog } from '../../src/caller/audit/auditLog.ts';
import type { AuditEntry } from '../../src/caller/audit/entry.ts';
import { ANONYMOUS } from '../../src/caller/caller.ts';
import { callerAuthorizers } from '../../src/caller/callerAuthorizer.ts';
import { MemoryCounts } from '../../src/caller/quotas/memoryCounts.ts';
import { Quotas, type QuotaSettings } from '../../src/caller/quotas/quotas.ts';
import { createCorrelator } from '../../src/system/correlator.ts';
import type { AuthorizerRequest, LookupAuthorizer } from '../../src/lookups/lookupAuthorizer.ts';
import { silentLog } from '../support/silentLog.ts';
import { TestClock, withoutPauses } from '../support/testClock.ts';
import { ALICE, BOB, hours, callerNamed, purposeNamed } from '../support/values.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';

const CHECK = { operation: 'check', maxAgeHours: hours(24) } as const;

class Admitting {
  readonly lines: AuditEntry[] = [];
  readonly clock = new TestClock();
  readonly admission: LookupAuthorizer;
  isDiskFull = false;
  /** Of a write. */
  returns: Promise<void> = Promise.resolve();

  constructor(limits: Partial<QuotaSettings> = {}) {
    const quotas = {
      numbersPerHour: 100,
      lookupsPerHour: 100,
      promptsPerHour: 100,
      promptsPerHourAllCallers: 100,
      clients: new Map(),
      ...limits,
    };
    const append = async (text: string): Promise<void> => {
      if (this.isDiskFull) throw new Error('ENOSPC');
      await this.returns;
      for (const line of text.trim().split('\n')) this.lines.push(JSON.parse(line) as AuditEntry);
    };
    const counted = new Quotas(quotas, new MemoryCounts(this.clock), ['first-operator']);
    const admissions = callerAuthorizers({
      quotas: counted,
      audit: { auditLog: new AuditLog({ append }, withoutPauses(this.clock)), key: 'a-key' },
      purposeGoesTo: new Set(),
      clock: this.clock,
      log: silentLog,
    });
    this.admission = admissions.of('first-operator');
  }

  /** `admitted`, or the code of the failure. */
  async admit(asked: AuthorizerRequest): Promise<string> {
    const admitted = await this.admission.admit(asked);
    return admitted.kind === 'denied' ? admitted.failure.code : 'admitted';
  }
}

let test: Admitting;
beforeEach(() => {
  test = new Admitting();
});

function requestOf(
  others: Partial<AuthorizerRequest['request']> = {},
): Pick<AuthorizerRequest, 'number' | 'request'> {
  const request = {
    caller: callerNamed('risk'),
    purpose: purposeNamed('fraud-prevention'),
    correlator: createCorrelator('trace'),
    deadlineMs: Infinity,
    signal: new LightAbortSignal(),
    ...others,
  };
  return { number: ALICE, request };
}

function status(number = ALICE, caller: Identity = callerNamed('risk')): AuthorizerRequest {
  return { event: 'consent-status', ...requestOf({ caller }), number };
}

function lookup(others: Partial<AuthorizerRequest['request']> = {}): AuthorizerRequest {
  return { event: 'lookup', lookup: CHECK, ...requestOf(others) };
}

function prompt(caller: Identity = callerNamed('risk')): AuthorizerRequest {
  return { event: 'consent-request', lookup: CHECK, consentId: 'id', ...requestOf({ caller }) };
}

it('each line names the caller of its own request', async () => {
  const callers = ['risk', 'fraud', 'risk'].map((name) => callerNamed(name));
  for (const caller of [...callers, ...callers]) await test.admit(lookup({ caller }));
  const subjects = test.lines.map(({ caller }) => caller.subject);
  const [risk, fraud] = subjects;
  expect(risk).not.toBe(fraud);
  expect(subjects).toEqual([risk, fraud, risk, risk, fraud, risk]);
});

describe('a request that did not leave', () => {
  it.each<[string, () => AuthorizerRequest, Partial<QuotaSettings>, string]>([
    ['a lookup', () => lookup(), { lookupsPerHour: 1 }, 'lookups'],
    ['a prompt', () => prompt(), { promptsPerHour: 1 }, 'prompts'],
  ])('spends no quota, as %s', async (_what, asked, limits, quota) => {
    test = new Admitting(limits);
    for (const attempts of [0, 0, 1]) {
      const admitted = await test.admission.admit(asked());
      if (admitted.kind === 'denied') throw new Error(admitted.failure.code);
      await admitted.ended({ outcome: 'OPERATOR_UNAVAILABLE', attempts });
    }
    expect(await test.admission.admit(asked())).toEqual({
      kind: 'denied',
      failure: { code: 'RATE_LIMITED', reach: 'number', quota, retryAfterSeconds: 3600 },
    });
  });

  it('spends no quota where it could not be recorded', async () => {
    test = new Admitting({ lookupsPerHour: 1, promptsPerHour: 1 });
    test.isDiskFull = true;
    expect(await test.admit(prompt())).toBe('AUDIT_UNAVAILABLE');
    test.isDiskFull = false;
    expect(await test.admit(prompt())).toBe('admitted');
  });

  it('spends no lookup where the prompt is over its quota', async () => {
    test = new Admitting({ lookupsPerHour: 2, promptsPerHourAllCallers: 1 });
    expect(await test.admit(prompt(ANONYMOUS.identity))).toBe('admitted');
    for (let n = 0; n < 5; n += 1) expect(await test.admit(prompt())).toBe('RATE_LIMITED');
    expect(await test.admit(lookup())).toBe('admitted');
  });
});

it('a lookup is counted for its request, unless its quota gets it back', async () => {
  let counted = 0;
  const onLookupCounted = (by: 1 | -1): void => void (counted += by);
  const seen: number[] = [];
  for (const attempts of [0, 1]) {
    const admitted = await test.admission.admit(lookup({ onLookupCounted }));
    if (admitted.kind === 'denied') throw new Error(admitted.failure.code);
    seen.push(counted);
    await admitted.ended({ outcome: 'OPERATOR_UNAVAILABLE', attempts });
    seen.push(counted);
  }
  expect(seen).toEqual([1, 0, 1, 1]);
  const read = { event: 'consent-status', ...requestOf({ onLookupCounted }) } as const;
  expect(await test.admit(read)).toBe('admitted');
  test.isDiskFull = true;
  expect(await test.admit(lookup({ onLookupCounted }))).toBe('AUDIT_UNAVAILABLE');
  expect(counted).toBe(1);
});

const hurried = () => ({ deadlineMs: test.clock.monotonicMs() + 300 });

describe('a request at its deadline', () => {
  it('does not wait longer for its line, and does not report a log that had no time', async () => {
    test.returns = new Promise(() => undefined);
    const admitted = test.admit(lookup(hurried()));
    const kept = { how: 'kept', lookup: CHECK, ...requestOf(hurried()) } as const;
    const heard = test.admission.delivered(kept);
    await test.clock.advance(300);
    expect(await admitted).toBe('UNAVAILABLE');
    expect(await heard).toMatchObject({ code: 'UNAVAILABLE' });
    // The log is known to hang.
    await test.clock.advance(2000);
    expect(await test.admit(lookup(hurried()))).toBe('AUDIT_UNAVAILABLE');
  });

  it('still has its line after', async () => {
    const admitted = await test.admission.admit(lookup(hurried()));
    if (admitted.kind === 'denied') throw new Error(admitted.failure.code);
    await test.clock.advance(300);
    await admitted.ended({ outcome: 'OPERATOR_TIMEOUT', attempts: 1 });
    await expect.poll(() => test.lines).toMatchObject([{ audit: 'before' }, { audit: 'after' }]);
  });
});

it('a lookup whose line came too late has its line after: nothing left', async () => {
  const write = Promise.withResolvers<void>();
  test.returns = write.promise;
  const admitted = test.admit(lookup(hurried()));
  await test.clock.advance(300);
  expect(await admitted).toBe('UNAVAILABLE');
  write.resolve();
  const after = { audit: 'after', outcome: 'UNAVAILABLE', attempts: 0 };
  await expect.poll(() => test.lines).toMatchObject([{ audit: 'before' }, after]);
});

describe('an answer without a lookup', () => {
  it.each(['shared', 'kept'] as const)('is recorded as %s, and never billed', async (how) => {
    const asked = requestOf({ purpose: purposeNamed('account-recovery') });
    const heard = { how, lookup: CHECK, consentId: 'id', ...asked };
    expect(await test.admission.delivered(heard)).toBeUndefined();
    const { purpose, correlator } = asked.request;
    expect(test.lines).toMatchObject([
      {
        audit: how,
        event: 'lookup',
        purpose: purpose.name,
        consentId: 'id',
        correlator: correlator.name,
      },
    ]);
    expect(test.lines[0]).not.toHaveProperty('attempts');
  });

  it('is not returned when it cannot be recorded', async () => {
    test.isDiskFull = true;
    const heard = { how: 'kept', lookup: CHECK, ...requestOf() } as const;
    expect(await test.admission.delivered(heard)).toMatchObject({ code: 'AUDIT_UNAVAILABLE' });
  });
});

describe('a lookup that a consent bought', () => {
  it.each([
    ['is counted with the consent', {}, ['admitted', 'admitted']],
    ['is counted where it is a further one', { isFurther: true }, ['admitted', 'RATE_LIMITED']],
  ] as const)('%s', async (_, further, told) => {
    test = new Admitting({ lookupsPerHour: 1 });
    const bought = { event: 'lookup', lookup: CHECK, consentId: 'id', ...requestOf() } as const;
    const codes = [0, 0].map(() => test.admit({ ...bought, ...further }));
    expect(await Promise.all(codes)).toEqual(told);
  });
});

describe('the status of a consent', () => {
  it('has one line before it is returned, and is not returned without', async () => {
    expect(await test.admit(status())).toBe('admitted');
    expect(test.lines).toMatchObject([{ audit: 'before', event: 'consent-status' }]);
    expect(test.lines[0]).not.toHaveProperty('operation');
    test.isDiskFull = true;
    expect(await test.admit(status())).toBe('AUDIT_UNAVAILABLE');
  });

  it('counts as a number, and not as a lookup', async () => {
    test = new Admitting({ numbersPerHour: 1, lookupsPerHour: 1 });
    expect(await test.admit(status())).toBe('admitted');
    expect(await test.admit(status())).toBe('admitted');
    expect(await test.admit(status(BOB))).toBe('RATE_LIMITED');
    expect(await test.admit(status(BOB, ANONYMOUS.identity))).toBe('admitted');
    expect(test.lines).toHaveLength(3);
  });
});
