import { generateKeyPairSync } from 'node:crypto';
import { jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { createRequestForm } from '../../src/tokens/signedRequest.ts';
import { START_MS, TestClock } from '../testClock.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ASSERTION = {
  privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  alg: 'ES256',
  kid: 'key-1',
  lifetimeSeconds: 60,
  audience: 'https://operator.example',
  claims: (aud: string) => ({ iss: 'client', sub: 'client', aud }),
} as const;
const ADDRESS = 'https://operator.example/bc-authorize';
const REQUEST = { login_hint: 'tel:+447700900001', scope: 'check-sim-swap' };

function formOf(isStrict: boolean) {
  const signedRequest = { assertion: ASSERTION, isStrict };
  return createRequestForm({ signedRequest }, new TestClock());
}

describe('the request of bc-authorize', () => {
  it('is a plain form unless it is to be signed', async () => {
    const form = createRequestForm({}, new TestClock());
    expect(await form(REQUEST, ADDRESS)).toEqual(REQUEST);
  });

  it('is signed with everything that OpenID CIBA Core 7.1.1 wants', async () => {
    const { request = '' } = await formOf(true)(REQUEST, ADDRESS);
    const { payload, protectedHeader } = await jwtVerify(request, publicKey, {
      issuer: 'client',
      audience: ASSERTION.audience,
      currentDate: new Date(START_MS),
    });
    expect(protectedHeader).toMatchObject({ alg: 'ES256', kid: 'key-1' });
    const seconds = START_MS / 1000;
    expect(payload).toMatchObject({ ...REQUEST, iat: seconds, nbf: seconds, exp: seconds + 60 });
    expect(payload.jti).toBeTypeOf('string');
    expect(payload).not.toHaveProperty('sub');
  });

  it.each([
    ['on', false, ['request', 'scope']],
    ['strict', true, ['request']],
  ])('has these members beside it when %s', async (_name, isStrict, members) => {
    expect(Object.keys(await formOf(isStrict)(REQUEST, ADDRESS)).toSorted()).toEqual(members);
  });

  it('has another jti each time', async () => {
    const form = formOf(true);
    const [one, other] = [await form(REQUEST, ADDRESS), await form(REQUEST, ADDRESS)];
    expect(one['request']).not.toBe(other['request']);
  });
});
