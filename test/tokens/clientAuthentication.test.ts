import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import type {
  AssertionSettings,
  ClientAuthenticationSettings,
} from '../../src/tokens/authorizationSettings.ts';
import { createClientAuthentication } from '../../src/tokens/clientAuthentication.ts';
import { START_MS, TestClock } from '../testClock.ts';

const CLIENT_ID = 'client';
const AUDIENCE = 'https://operator.example/oauth/v1/token';
const UNSIGNED = {
  lifetimeSeconds: 60,
  claims: (aud: string) => ({ iss: CLIENT_ID, sub: CLIENT_ID, aud }),
};
const START_SECONDS = START_MS / 1000;
const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

type Alg = AssertionSettings['alg'];

interface Keys {
  readonly privateKeyPem: string;
  readonly publicKey: KeyObject;
}

function asKeys({ privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject }): Keys {
  return {
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey,
  };
}

let keys: Record<Alg, Keys>;

beforeAll(() => {
  const rsa = asKeys(generateKeyPairSync('rsa', { modulusLength: 2048 }));
  keys = {
    ES256: asKeys(generateKeyPairSync('ec', { namedCurve: 'P-256' })),
    PS256: rsa,
    RS256: rsa,
  };
});

/** What an assertion says, once its signature is seen to be ours. */
function verified(form: Readonly<Record<string, string>>, alg: Alg, nowMs = START_MS) {
  return jwtVerify(form['client_assertion'] ?? '', keys[alg].publicKey, {
    algorithms: [alg],
    currentDate: new Date(nowMs),
  });
}

function assertion(alg: Alg, kid?: string): AssertionSettings {
  const settings = { ...UNSIGNED, privateKeyPem: keys[alg].privateKeyPem, alg };
  return kid === undefined ? settings : { ...settings, kid };
}

/** Makes a proof for an address; its form is read. */
function authenticate(
  settings: Partial<ClientAuthenticationSettings> & Pick<ClientAuthenticationSettings, 'method'>,
  clientId = CLIENT_ID,
  clock = new TestClock(),
) {
  const none = { secret: '', assertion: assertion('ES256'), headers: {} };
  const clientAuthentication = { ...none, ...settings };
  const made = createClientAuthentication({ clientId, clientAuthentication }, clock);
  return async (address: string) => {
    const { headers, form } = typeof made === 'function' ? await made(address) : made;
    return { headers, form: Object.fromEntries(new URLSearchParams(form)) };
  };
}

describe('basic', () => {
  it.each([
    ['plain ones', 'client', 'secret', 'client:secret'],
    ['what a form would encode', 'client id', 'p@ss+w%rd&=/', 'client id:p@ss+w%rd&=/'],
    ['a colon in the secret', 'client', 'a:b', 'client:a:b'],
    ['letters beyond ASCII, as UTF-8', 'client', 'señal', 'client:señal'],
    ['an empty secret', 'client', '', 'client:'],
  ])('is base64 of id:secret, not form-encoded: %s', async (_, clientId, secret, credentials) => {
    const proof = await authenticate({ method: 'basic', secret }, clientId)(AUDIENCE);
    expect(proof.form).toEqual({});
    expect(proof.headers[0]).toBe('authorization');
    const [scheme, encoded = ''] = (proof.headers[1] ?? '').split(' ');
    expect(scheme).toBe('Basic');
    expect(Buffer.from(encoded, 'base64').toString('utf8')).toBe(credentials);
    expect(proof.headers).toHaveLength(2);
  });
});

describe('private_key_jwt', () => {
  it.each<Alg>(['ES256', 'PS256', 'RS256'])(
    'is an assertion of RFC 7523 signed with %s',
    async (alg) => {
      const prove = authenticate({ method: 'private_key_jwt', assertion: assertion(alg, 'key-1') });
      const { headers, form } = await prove(AUDIENCE);
      expect(headers).toEqual([]);
      expect(Object.keys(form).toSorted()).toEqual(['client_assertion', 'client_assertion_type']);
      expect(form['client_assertion_type']).toBe(JWT_BEARER);

      const { payload, protectedHeader } = await verified(form, alg);
      expect(protectedHeader).toEqual({ alg, typ: 'JWT', kid: 'key-1' });
      expect(payload).toEqual({
        iss: CLIENT_ID,
        sub: CLIENT_ID,
        aud: AUDIENCE,
        jti: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        iat: START_SECONDS,
        exp: START_SECONDS + 60,
      });
    },
  );

  it('is for the endpoint that it goes to', async () => {
    const prove = authenticate({ method: 'private_key_jwt', assertion: assertion('ES256') });
    const { form } = await prove('https://operator.example/token');
    expect(decodeJwt(form['client_assertion'] ?? '').aud).toBe('https://operator.example/token');
  });

  it('has a fresh jti for each exchange', async () => {
    const prove = authenticate({ method: 'private_key_jwt', assertion: assertion('ES256') });
    const proofs = await Promise.all(Array.from({ length: 50 }, async () => prove(AUDIENCE)));
    const ids = proofs.map(({ form }) => decodeJwt(form['client_assertion'] ?? '').jti);
    expect(new Set(ids).size).toBe(50);
  });

  it('names no key where none is configured', async () => {
    const prove = authenticate({ method: 'private_key_jwt', assertion: assertion('ES256') });
    const { form } = await prove(AUDIENCE);
    expect(decodeProtectedHeader(form['client_assertion'] ?? '')).not.toHaveProperty('kid');
  });

  it('lives by the clock of its exchange', async () => {
    const clock = new TestClock();
    const settings = { method: 'private_key_jwt', assertion: assertion('ES256') } as const;
    const prove = authenticate(settings, CLIENT_ID, clock);
    await prove(AUDIENCE);
    await clock.advance(90_500);
    const { form } = await prove(AUDIENCE);
    const { payload } = await verified(form, 'ES256', clock.nowMs());
    expect(payload).toMatchObject({ iat: START_SECONDS + 90, exp: START_SECONDS + 150 });
  });
});

describe('both', () => {
  it('sends Basic beside an assertion', async () => {
    const both = { method: 'both', secret: 'secret', assertion: assertion('RS256') } as const;
    const { headers, form } = await authenticate(both)(AUDIENCE);
    expect(headers).toEqual(['authorization', `Basic ${btoa('client:secret')}`]);
    expect(form['client_assertion_type']).toBe(JWT_BEARER);
    expect(await verified(form, 'RS256')).toMatchObject({ payload: { sub: CLIENT_ID } });
  });
});

describe('bearer_jwt', () => {
  it('sends the assertion as a bearer token, and nothing in the form', async () => {
    const prove = authenticate({ method: 'bearer_jwt', assertion: assertion('RS256') });
    const { headers, form } = await prove(AUDIENCE);
    expect(form).toEqual({});
    expect(headers).toEqual(['authorization', expect.stringMatching(/^Bearer ey/)]);
    const claims = { iss: CLIENT_ID, aud: AUDIENCE };
    expect(decodeJwt(headers[1]?.split(' ')[1] ?? '')).toMatchObject(claims);
  });
});

describe('headers', () => {
  it('sends the headers that the operator has given out', async () => {
    const headers = { 'X-Client-Id': 'us', 'X-Client-Secret': 's' };
    const sent = await authenticate({ method: 'headers', headers })(AUDIENCE);
    expect(sent).toEqual({ headers: Object.entries(headers).flat(), form: {} });
  });
});

describe('a key that is none', () => {
  it('is refused at the start, not at the first exchange', () => {
    const none = { ...UNSIGNED, privateKeyPem: 'not a key', alg: 'ES256' } as const;
    const make = () => authenticate({ method: 'private_key_jwt', assertion: none });
    expect(make).toThrow('DECODER routines::unsupported');
  });
});
