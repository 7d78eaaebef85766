import { expect, it } from 'vitest';
import { Bulkhead } from '../../src/resilience/bulkhead.ts';
import { DirectLookups } from '../../src/lookups/directLookups.ts';
import { AccessToken } from '../../src/tokens/accessToken.ts';
import { TestClock } from '../support/testClock.ts';
import { ALICE, hours } from '../support/values.ts';
import { requestAt } from './requests.ts';
import { ScriptedOperator } from './scriptedOperator.ts';

it('returns the permit of a lookup whose audit line fails', async () => {
  const clock = new TestClock();
  const bulkhead = new Bulkhead({ permits: 1, queue: 1 }, clock);
  const lookups = new DirectLookups({
    tokens: {
      acquire: (subject) => ({
        kind: 'acquired',
        token: new AccessToken(subject, 'token', undefined),
      }),
    },
    operator: new ScriptedOperator(clock),
    identity: 'operator',
    admission: {
      admit: () => ({ kind: 'admitted', ended: () => Promise.reject(new Error('A defect.')) }),
    },
    bulkheads: { 'retrieve-date': bulkhead, check: bulkhead },
    clock,
  });
  const request = requestAt(clock);
  const session = {
    number: ALICE,
    request,
    questions: [],
    facts: [],
    unrequested: [],
    failures: [],
  };
  const looking = lookups.lookUp({ operation: 'check', maxAgeHours: hours(240) }, session);
  await expect(looking).rejects.toThrow('A defect.');
  expect(bulkhead.load).toEqual({ underWay: 0, waiting: 0 });
});
