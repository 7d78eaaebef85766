import { describe, expect, it } from 'vitest';
import { inForm } from '../support/forms.ts';
import { runCanary } from './canary.ts';

const REQUESTS = inForm({ short: 120, long: 5000 });

/** Codes that follow from the request, whatever the operator does. */
const REFUSALS = ['BAD_USER_INPUT', 'FORBIDDEN', 'UNAUTHENTICATED', 'GRAPHQL_VALIDATION_FAILED'];

const OPERATORS = [
  'NUMBER_NOT_SERVED',
  'OPERATOR_INVALID_REPLY',
  'OPERATOR_REFUSED',
  'OPERATOR_UNAVAILABLE',
];

describe('no number, secret or token leaves the service', () => {
  it.each([
    {
      role: 'bff',
      flow: '2-legged',
      ways: [...REFUSALS, ...OPERATORS, 'RATE_LIMITED', 'OPERATOR_RATE_LIMITED'],
    },
    {
      role: 'subgraph',
      flow: '3-legged',
      ways: [...REFUSALS, ...OPERATORS, 'CONSENT_PENDING', 'CONSENT_DENIED', 'CONSENT_EXPIRED'],
    },
  ] as const)(
    `in ${REQUESTS} requests: $role, $flow`,
    async ({ role, flow, ways }) => {
      const findings = await runCanary({ requests: REQUESTS, seed: 20, role, flow, until: ways });
      expect(findings.leaks.slice(0, 5)).toEqual([]);
      // It took the paths on which something could leak.
      expect(ways.filter((way) => !findings.codes.has(way))).toEqual([]);
      expect(findings.operatorRequests).toBeGreaterThan(REQUESTS / 10);
      expect(findings.auditLines).toBeGreaterThan(REQUESTS / 10);
      // Repeated lines are counted in one.
      expect(findings.logLines).toBeGreaterThan(20);
      expect(findings.spans).toBeGreaterThan(REQUESTS);
      expect(findings.usageLines).toBeGreaterThan(10);
    },
    300_000,
  );
});
