import { describe, expect, it } from 'vitest';
import { ANONYMOUS } from '../../src/caller/caller.ts';
import { Gate } from '../../src/caller/gate.ts';
import { purposeNamed } from '../support/values.ts';

type Name = string | undefined;

const purposes = [purposeNamed('fraud-prevention'), purposeNamed('account-recovery')] as const;

describe('the purpose of a request', () => {
  it.each<[what: string, claim?: Name, header?: Name, purpose?: string]>([
    ['the first where none is named', undefined, undefined, 'fraud-prevention'],
    ['the header', undefined, 'account-recovery', 'account-recovery'],
    ['the token', 'account-recovery', undefined, 'account-recovery'],
    ['the token, not the header', 'account-recovery', 'fraud-prevention', 'account-recovery'],
    ['a header that is not allowed', undefined, 'marketing'],
    ['a token that is not allowed, with a header that is', 'marketing', 'fraud-prevention'],
    ['two headers', undefined, 'fraud-prevention, account-recovery'],
    ['an empty header', undefined, ''],
  ])('%s', async (_what, claim, header, purpose) => {
    const caller = { ...ANONYMOUS, purpose: claim };
    const tokens = { verify: () => Promise.resolve(caller) };
    const gate = new Gate({ routerSecrets: [], tokens, purposes });
    const headers = header === undefined ? {} : { 'x-purpose': header };
    expect(await gate.admit({ ...headers, authorization: 'Bearer any' })).toMatchObject(
      purpose === undefined
        ? { status: 400, code: 'BAD_USER_INPUT' }
        : { kind: 'admitted', caller, purpose: { name: purpose } },
    );
  });
});

it('treats every caller as anonymous where no issuer is set, whatever token it sends', async () => {
  const gate = new Gate({ routerSecrets: [], tokens: undefined, purposes });
  const [purpose] = purposes;
  const admitted = await gate.admit({ authorization: 'Bearer whatever' });
  expect(admitted).toEqual({ kind: 'admitted', caller: ANONYMOUS, purpose });
});

// Other proofs of a router: whoMayAsk.test.ts.
it('refuses a request without a secret, even where an empty secret is set', async () => {
  const gate = new Gate({ routerSecrets: [''], tokens: undefined, purposes });
  expect(await gate.admit({})).toMatchObject({ status: 403, code: 'FORBIDDEN' });
});
