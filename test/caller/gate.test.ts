import { describe, expect, it } from 'vitest';
import { ANONYMOUS } from '../../src/caller/caller.ts';
import { Gate, purposeOf } from '../../src/caller/gate.ts';

const ALLOWED = ['fraud-prevention', 'account-recovery'] as const;

describe('the purpose of a request', () => {
  it.each([
    ['nothing said: the first', undefined, undefined, 'fraud-prevention'],
    ['the header', undefined, 'account-recovery', 'account-recovery'],
    ['the token', 'account-recovery', undefined, 'account-recovery'],
    [
      'the token, whatever the header says',
      'account-recovery',
      'fraud-prevention',
      'account-recovery',
    ],
    ['a header that is not allowed', undefined, 'marketing', undefined],
    [
      'a token that is not allowed, whatever the header says',
      'marketing',
      'fraud-prevention',
      undefined,
    ],
    ['two headers', undefined, 'fraud-prevention, account-recovery', undefined],
    ['an empty header', undefined, '', undefined],
  ])('%s', (_what, claim, header, purpose) => {
    const caller = claim === undefined ? ANONYMOUS : { ...ANONYMOUS, purpose: claim };
    expect(purposeOf(caller, header, ALLOWED)).toBe(purpose);
  });
});

describe('the gate', () => {
  const gate = new Gate({ routerSecrets: [], tokens: undefined, purposes: ALLOWED });

  it('lets everyone in as the anonymous caller without an issuer', async () => {
    expect(await gate.admit({ authorization: 'Bearer whatever' })).toEqual({
      kind: 'admitted',
      caller: ANONYMOUS,
      purpose: 'fraud-prevention',
    });
  });

  it('turns a purpose away that is not allowed', async () => {
    expect(await gate.admit({ 'x-purpose': 'marketing' })).toMatchObject({
      status: 400,
      code: 'BAD_USER_INPUT',
    });
  });
});

describe('the proof of a router', () => {
  it.each([
    ['the secret', ['new', 'old'], 'new', true],
    ['the one whose place it takes', ['new', 'old'], 'old', true],
    ['another one', ['new', 'old'], 'none', false],
    ['none, whatever the secret', [''], undefined, false],
  ])('%s', async (_, routerSecrets, presented, isAccepted) => {
    const gate = new Gate({ routerSecrets, tokens: undefined, purposes: ALLOWED });
    const headers = presented === undefined ? {} : { 'x-router-secret': presented };
    const admitted = await gate.admit(headers);
    expect(admitted).toMatchObject(
      isAccepted ? { kind: 'admitted' } : { status: 403, code: 'FORBIDDEN' },
    );
  });
});
