import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DEMO_CLIENT, startSimulator, type Simulator } from '../../simulator/simulator.ts';
import { CHECK_SCOPE } from './client.ts';

const { clientId, clientSecret } = DEMO_CLIENT;
const RIGHT_SECRET = `${clientId}:${clientSecret}`;
const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const NOW_SECONDS = 1_800_000_000;

const CLAIMS = { iss: clientId, sub: clientId, exp: NOW_SECONDS + 60 };

const own = await generateKeyPair('ES256');
const jwks = { keys: [await exportJWK(own.publicKey)] };
const nowMs = () => NOW_SECONDS * 1000;

let simulator: Simulator;

async function start(clientAuthentication: 'basic' | 'private_key_jwt' | 'both'): Promise<void> {
  simulator = await startSimulator({ port: 0, clientAuthentication, jwks, nowMs });
  onTestFinished(() => simulator.close());
}

async function assertion(claims: object = {}, signingKey = own.privateKey): Promise<string> {
  return new SignJWT({ ...CLAIMS, aud: simulator.authUrl, jti: crypto.randomUUID(), ...claims })
    .setProtectedHeader({ alg: 'ES256' })
    .sign(signingKey);
}

async function requestToken({ basic, jwt }: { basic?: string; jwt?: string }): Promise<Response> {
  return fetch(`${simulator.authUrl}/oauth/v1/token`, {
    method: 'POST',
    headers: basic === undefined ? {} : { authorization: `Basic ${btoa(basic)}` },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      username: 'tel:+447700900004',
      scope: CHECK_SCOPE,
      ...(jwt === undefined ? {} : { client_assertion_type: TYPE, client_assertion: jwt }),
    }),
  });
}

describe('credentials', () => {
  const basic = RIGHT_SECRET;
  test.each([
    ['basic', { basic }, 200],
    ['basic', {}, 401],
    ['basic', { basic: `${clientId}:wrong` }, 401],
    ['basic', { basic: `stranger:${clientSecret}` }, 401],
    ['private_key_jwt', { jwt: true }, 200],
    ['private_key_jwt', { basic }, 401],
    ['private_key_jwt', { basic, jwt: true }, 401],
    ['both', { basic, jwt: true }, 200],
    ['both', { basic }, 401],
    ['both', { jwt: true }, 401],
    ['both', { basic: `${clientId}:wrong`, jwt: true }, 401],
  ] as const)('%s, given %j: %d', async (method, given, status) => {
    await start(method);
    const reply = await requestToken({
      ...('basic' in given ? { basic: given.basic } : {}),
      ...('jwt' in given ? { jwt: await assertion() } : {}),
    });

    expect(reply.status).toBe(status);
    const isGood = status === 200;
    expect(simulator.stats()).toMatchObject({
      tokens: isGood ? 1 : 0,
      refusedClients: isGood ? 0 : 1,
    });
    const challenge = isGood ? null : 'Basic realm="simulator"';
    expect(reply.headers.get('www-authenticate')).toBe(challenge);
    expect(await reply.text()).toContain(isGood ? '"access_token"' : '"invalid_client"');
  });
});

describe('an assertion', () => {
  test.each<[string, object, number]>([
    ['that lives 60 s', {}, 200],
    ['that lives 300 s', { exp: NOW_SECONDS + 300 }, 200],
    ['that lives longer', { exp: NOW_SECONDS + 301 }, 401],
    ['that has expired', { exp: NOW_SECONDS - 1 }, 401],
    ['without an end', { exp: undefined }, 401],
    ['without an id', { jti: undefined }, 401],
    ['of another issuer', { iss: 'stranger' }, 401],
    ['about another client', { sub: 'stranger' }, 401],
    ['for another audience', { aud: 'http://127.0.0.1' }, 401],
  ])('%s', async (_name, claims, status) => {
    await start('private_key_jwt');

    expect((await requestToken({ jwt: await assertion(claims) })).status).toBe(status);
  });

  test('works once, and only under the registered key', async () => {
    await start('private_key_jwt');
    const jwt = await assertion();
    const { privateKey } = await generateKeyPair('ES256');
    const forged = await assertion({}, privateKey);
    const replies = [
      await requestToken({ jwt }),
      await requestToken({ jwt }),
      await requestToken({ jwt: forged }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 401, 401]);
  });
});
