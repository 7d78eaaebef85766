import { describe, expect, test } from 'vitest';
import { told } from './answers.ts';
import { lookingUp, replying } from '../wiredOperator.ts';
import { startSimulated, startWired } from '../service.ts';

const BOTH = '{ phoneNumber(e164: "+447700900004") { lastSimSwap simSwappedWithin } }';

/** Dates are withheld and checks `false`, so that both operations are used. */
const SCRIPT = { lookUp: lookingUp(replying({ swapped: false })) };

describe('settings of how an operator is asked', () => {
  test.each(['2-legged', '3-legged'])('%s: its scopes and headers go out', async (flow) => {
    await using service = await startWired(SCRIPT, {
      OPERATOR_FLOW: flow,
      OPERATOR_SCOPE_RETRIEVE_DATE: 'scope-of-date',
      OPERATOR_SCOPE_CHECK: 'scope-of-check',
      OPERATOR_HEADERS: '{"x-channel":"graph"}',
    });

    const heard = told(await service.ask(BOTH));
    expect(heard).toEqual({ lastSimSwap: null, simSwappedWithin: false });

    const scopes = service.operator.received.map(({ body }) =>
      new URLSearchParams(body).get('scope'),
    );
    expect(scopes.filter((scope) => scope !== null)).toEqual(['scope-of-date', 'scope-of-check']);
    expect(service.operator.received.map(({ headers }) => headers['x-channel'])).toEqual(
      service.operator.received.map(() => 'graph'),
    );
  });
});

describe('the header Prefer, of a number whose owner grants after two seconds', () => {
  test.each([
    ['60', 'wait=30', { simSwappedWithin: false }],
    ['0', 'wait=0', { simSwappedWithin: 'CONSENT_PENDING' }],
  ])('waits as long as the request prefers: wait=%s', async (wait, applied, heard) => {
    await using service = await startSimulated({
      OPERATOR_FLOW: '3-legged',
      CONSENT_WAIT_MS: '1000',
      REQUEST_TIMEOUT_MS: '30000',
    });
    const query = '{ phoneNumber(e164: "+447700900050") { simSwappedWithin } }';
    const reply = await service.ask(query, {}, { prefer: `wait=${wait}` });
    expect(reply.headers.get('preference-applied')).toBe(applied);
    expect(told(reply)).toEqual(heard);
  });
});
