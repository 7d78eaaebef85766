import { jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import type { Authentication, Scopes } from '../../src/domain/profile.ts';
import type { Flow } from '../../src/tokens/authorizationSettings.ts';
import type { TokenSettings } from '../../src/tokens/tokenManager.ts';
import { createRequest } from '../../src/tokens/tokenRequest.ts';
import { START_MS, TestClock } from '../support/testClock.ts';
import { ALICE } from '../support/values.ts';
import { ASSERTION, PUBLIC_KEY, settingsFor } from './testTokens.ts';

const SUBJECT = {
  number: ALICE,
  operation: 'check',
  purpose: 'dpv:FraudPreventionAndDetection',
} as const;
const ADDRESS = 'https://operator.example/bc-authorize';

interface Changes {
  readonly grant?: object;
  readonly scopes?: Partial<Scopes>;
  readonly signedRequest?: Authentication['signedRequest'];
}

/** The form and the query of a request for one check. */
async function written(flow: Flow, { grant, scopes, signedRequest = 'off' }: Changes = {}) {
  const own = settingsFor('http://127.0.0.1:9', { flow });
  const settings = {
    ...own,
    grant: { ...own.grant, ...grant },
    scopes: { ...own.scopes, ...scopes },
    authentication: { ...own.authentication, signedRequest },
    clientAuthentication: { ...own.clientAuthentication, assertion: ASSERTION },
  } as TokenSettings;
  const write = createRequest(settings, new TestClock());
  const { form, query = '' } = await write(SUBJECT, ADDRESS);
  return { form: Object.fromEntries(new URLSearchParams(form)), query };
}

/** The claims of a JWT that our key has signed. */
async function verified(jwt: string) {
  const { payload, protectedHeader } = await jwtVerify(jwt, PUBLIC_KEY, {
    issuer: 'client',
    audience: 'https://operator.example',
    currentDate: new Date(START_MS),
  });
  expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'JWT', kid: 'key-1' });
  return payload;
}

const NO_SCOPES = { operations: { 'retrieve-date': '', check: '' } };
const PURPOSE = { openid: true, purpose: true };
const CHECK = { scope: 'check-sim-swap' };
const CREDENTIALS = { grant_type: 'client_credentials' };
const USERNAME = { username: 'tel:+447700900001' };
const HINT = { login_hint: 'tel:+447700900001' };

describe('a token request', () => {
  const inQuery = ['grant_type', 'scope'];
  const digits = { username: 'msisdn:{digits}@sim' };
  const joined = { scope: 'openid dpv:FraudPreventionAndDetection#check-sim-swap' };

  it.each<[string, Changes, Readonly<Record<string, string>>, string?]>([
    ['as documented', {}, { ...CREDENTIALS, ...CHECK, ...USERNAME }],
    ['without username', { grant: { username: undefined } }, { ...CREDENTIALS, ...CHECK }],
    [
      'digits',
      { grant: digits },
      { ...CREDENTIALS, ...CHECK, username: 'msisdn:447700900001@sim' },
    ],
    ['no scope', { scopes: NO_SCOPES }, { ...CREDENTIALS, ...USERNAME }],
    [
      'all but the number in the query',
      { grant: { inQuery } },
      USERNAME,
      'grant_type=client_credentials&scope=check-sim-swap',
    ],
    [
      'openid and a purpose, joined with #',
      { scopes: { ...PURPOSE, joinedBy: '#' } },
      { ...CREDENTIALS, ...joined, ...USERNAME },
    ],
  ])('%s', async (_, changes, form, query = '') => {
    expect(await written('2-legged', changes)).toEqual({ form, query });
  });
});

it('a JWT as the grant names the number and the scope in the assertion', async () => {
  const grant = { type: 'jwt-bearer', subject: 'tel:{number}', parameters: {} };
  const { form } = await written('2-legged', { grant, scopes: PURPOSE });
  const { assertion = '', ...others } = form;
  expect(others).toEqual({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer' });
  const { sub, scope } = await verified(assertion);
  expect(sub).toBe('tel:+447700900001');
  expect(scope).toBe('openid dpv:FraudPreventionAndDetection check-sim-swap');
});

describe('the request of a consent', () => {
  const purposed = { scope: 'openid dpv:FraudPreventionAndDetection check-sim-swap' };

  it.each<[string, Changes, Readonly<Record<string, string>>]>([
    ['as documented', {}, { ...HINT, ...CHECK }],
    [
      'a hint in digits',
      { grant: { loginHint: '{digits}' } },
      { login_hint: '447700900001', ...CHECK },
    ],
    ['a purpose', { scopes: PURPOSE }, { ...HINT, ...purposed }],
    ['no scope', { scopes: NO_SCOPES }, HINT],
  ])('%s', async (_, changes, form) => {
    expect(await written('3-legged', changes)).toEqual({ form, query: '' });
  });

  it.each([
    ['on', CHECK],
    ['strict', {}],
  ] as const)('is signed as OpenID CIBA Core 7.1.1 requires: %s', async (how, beside) => {
    const { form } = await written('3-legged', { signedRequest: how });
    const { request = '', ...others } = form;
    expect(others).toEqual(beside);
    const payload = await verified(request);
    const seconds = START_MS / 1000;
    const times = { iat: seconds, nbf: seconds, exp: seconds + 60 };
    expect(payload).toMatchObject({ ...HINT, ...CHECK, ...times });
    expect(payload.jti).toBeTypeOf('string');
    expect(payload).not.toHaveProperty('sub');
  });
});
