import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import type {
  AssertionSettings,
  ClientAuthenticationSettings,
} from '../../src/tokens/authorizationSettings.ts';
import { createClientAuthentication } from '../../src/tokens/clientAuthentication.ts';
import { START_MS, TestClock } from '../support/testClock.ts';

const AUDIENCE = 'https://operator.example/oauth/v1/token';
const START_SECONDS = START_MS / 1000;
const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

type Alg = AssertionSettings['alg'];

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const KEYS = { ES256: ec, PS256: rsa, RS256: rsa };

function assertion(alg: Alg, more: Partial<AssertionSettings> = {}): AssertionSettings {
  return {
    privateKeyPem: KEYS[alg].privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    alg,
    lifetimeSeconds: 60,
    claims: (aud: string) => ({ iss: 'client', sub: 'client', aud }),
    ...more,
  };
}

const ES256 = { method: 'private_key_jwt', assertion: assertion('ES256') } as const;

/** Makes a proof for an address, and reads its form. */
function authenticate(
  settings: Partial<ClientAuthenticationSettings> & Pick<ClientAuthenticationSettings, 'method'>,
  clientId = 'client',
  clock = new TestClock(),
) {
  const none = { secret: '', assertion: assertion('ES256'), headers: {} };
  const clientAuthentication = { ...none, ...settings };
  const made = createClientAuthentication({ clientId, clientAuthentication }, clock);
  return async (address = AUDIENCE) => {
    const { headers, form } = typeof made === 'function' ? await made(address) : made;
    const members = Object.fromEntries(new URLSearchParams(form));
    return { headers, form: members, jwt: members['client_assertion'] ?? '' };
  };
}

it.each([
  ['plain text', 'client', 'secret', 'client:secret'],
  ['what a form would encode', 'client id', 'p@ss+w%rd&=/', 'client id:p@ss+w%rd&=/'],
  ['letters beyond ASCII, as UTF-8', 'client', 'señal', 'client:señal'],
  ['an empty secret', 'client', '', 'client:'],
])('basic is base64 of id:secret, not form-encoded: %s', async (_, id, secret, credentials) => {
  const proof = await authenticate({ method: 'basic', secret }, id)();
  expect(proof.form).toEqual({});
  const encoded = Buffer.from(credentials, 'utf8').toString('base64');
  expect(proof.headers).toEqual(['authorization', `Basic ${encoded}`]);
});

describe('private_key_jwt', () => {
  it.each<Alg>(['ES256', 'PS256', 'RS256'])(
    'is an assertion of RFC 7523 signed with %s',
    async (alg) => {
      const signing = assertion(alg, { kid: 'key-1' });
      const prove = authenticate({ method: 'private_key_jwt', assertion: signing });
      const { headers, form, jwt } = await prove();
      expect(headers).toEqual([]);
      expect(form).toEqual({ client_assertion_type: JWT_BEARER, client_assertion: jwt });

      const { payload, protectedHeader } = await jwtVerify(jwt, KEYS[alg].publicKey, {
        algorithms: [alg],
        currentDate: new Date(START_MS),
      });
      expect(protectedHeader).toEqual({ alg, typ: 'JWT', kid: 'key-1' });
      expect(payload).toEqual({
        iss: 'client',
        sub: 'client',
        aud: AUDIENCE,
        jti: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        iat: START_SECONDS,
        exp: START_SECONDS + 60,
      });
    },
  );

  it('has its endpoint as audience, a jti of its own, and no kid where none is configured', async () => {
    const prove = authenticate(ES256);
    const proofs = await Promise.all(Array.from({ length: 50 }, () => prove('https://to.example')));
    const claims = proofs.map(({ jwt }) => decodeJwt(jwt));
    expect(new Set(claims.map(({ aud }) => aud))).toEqual(new Set(['https://to.example']));
    expect(new Set(claims.map(({ jti }) => jti)).size).toBe(50);
    expect(decodeProtectedHeader(proofs[0]?.jwt ?? '')).not.toHaveProperty('kid');
  });

  it('counts its life from its own exchange', async () => {
    const clock = new TestClock();
    const prove = authenticate(ES256, 'client', clock);
    await prove();
    await clock.advance(90_500);
    const times = { iat: START_SECONDS + 90, exp: START_SECONDS + 150 };
    expect(decodeJwt((await prove()).jwt)).toMatchObject(times);
  });

  it('with an invalid key is refused at the start, not at the first exchange', () => {
    const none = assertion('ES256', { privateKeyPem: 'not a key' });
    const make = () => authenticate({ method: 'private_key_jwt', assertion: none });
    expect(make).toThrow('DECODER routines::unsupported');
  });
});

it('both sends Basic beside an assertion; bearer_jwt sends only the assertion, as a bearer token', async () => {
  const both = await authenticate({ ...ES256, method: 'both', secret: 'secret' })();
  expect(both.headers).toEqual(['authorization', `Basic ${btoa('client:secret')}`]);
  expect(both.form['client_assertion_type']).toBe(JWT_BEARER);
  const { headers, form } = await authenticate({ ...ES256, method: 'bearer_jwt' })();
  expect(form).toEqual({});
  expect(headers).toEqual(['authorization', expect.stringMatching(/^Bearer ey/)]);
  const claims = { iss: 'client', aud: AUDIENCE };
  expect(decodeJwt(headers[1]?.split(' ')[1] ?? '')).toMatchObject(claims);
});

it('headers sends the configured headers', async () => {
  const headers = { 'X-Client-Id': 'us', 'X-Client-Secret': 's' };
  const sent = await authenticate({ method: 'headers', headers })();
  expect(sent).toMatchObject({ headers: Object.entries(headers).flat(), form: {} });
});

it('tls sends the client id alone: the certificate is the proof (RFC 8705 §2)', async () => {
  const sent = await authenticate({ method: 'tls', secret: 'secret' })();
  expect(sent).toMatchObject({ headers: [], form: { client_id: 'client' } });
});
