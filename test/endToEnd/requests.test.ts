import { describe, expect, test } from 'vitest';
import { told } from './answers.ts';
import { startSimulated } from '../service.ts';

describe('the header Prefer, of a number whose owner grants after two seconds', () => {
  test.each([
    ['60', 'wait=30', { simSwappedWithin: false }],
    ['0', 'wait=0', { simSwappedWithin: 'CONSENT_PENDING' }],
  ])('sets how long the request waits: wait=%s', async (wait, applied, heard) => {
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
