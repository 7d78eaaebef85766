import { generateKeyPairSync } from 'node:crypto';
import { jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { createRequest } from '../../src/tokens/tokenRequest.ts';
import { START_MS, TestClock } from '../testClock.ts';
import { ALICE } from '../values.ts';
import { settingsFor } from './testTokens.ts';

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
const SETTINGS = settingsFor('http://127.0.0.1:9', { flow: '3-legged' });

async function formOf(signedRequest: 'off' | 'on' | 'strict'): Promise<Record<string, string>> {
  const authentication = { ...SETTINGS.authentication, signedRequest };
  const clientAuthentication = { ...SETTINGS.clientAuthentication, assertion: ASSERTION };
  const settings = { ...SETTINGS, authentication, clientAuthentication };
  const write = createRequest(settings, new TestClock());
  const { form } = await write({ number: ALICE, operation: 'check' }, ADDRESS);
  return Object.fromEntries(new URLSearchParams(form));
}

describe('the request of bc-authorize', () => {
  it('is a plain form unless it is to be signed', async () => {
    expect(await formOf('off')).toEqual(REQUEST);
  });

  it('is signed with everything that OpenID CIBA Core 7.1.1 wants', async () => {
    const { request = '' } = await formOf('strict');
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
    ['on', ['request', 'scope']],
    ['strict', ['request']],
  ] as const)('has these members beside it when %s', async (signedRequest, members) => {
    expect(Object.keys(await formOf(signedRequest)).toSorted()).toEqual(members);
  });

  it('has another jti each time', async () => {
    const [one, other] = [await formOf('strict'), await formOf('strict')];
    expect(one['request']).not.toBe(other['request']);
  });
});
