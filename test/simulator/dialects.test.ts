import { SignJWT } from 'jose';
import { createPrivateKey, randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PROFILE_SECRETS, profileKeys } from '../../scripts/simulatedProfiles.ts';
import type { DialectName } from '../../simulator/dialects.ts';
import { DEMO_CLIENT, startSimulator, type Simulator } from '../../simulator/simulator.ts';
import { lookUp, postForm, read, summary } from './client.ts';

const NUMBER = '+447700900004';
const TEL = `tel:${NUMBER}`;
const SCOPE = 'dpv:FraudPreventionAndDetection sim-swap:check';
const KEYCLOAK = '/realms/simulated/protocol/openid-connect/token';
const CIBA = 'urn:openid:params:grant-type:ciba';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

async function start(dialect: DialectName): Promise<Simulator> {
  const simulator = await startSimulator({ port: 0, dialect, jwks: await profileKeys() });
  onTestFinished(() => simulator.close());
  return simulator;
}

async function assertion(
  simulator: Simulator,
  claims: object = {},
  audience = `${simulator.authUrl}/oauth/v1/token`,
): Promise<string> {
  return new SignJWT({ scope: SCOPE, sub: TEL, ...claims })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer(DEMO_CLIENT.clientId)
    .setAudience(audience)
    .setJti(randomUUID())
    .setExpirationTime('60 s')
    .sign(createPrivateKey(PROFILE_SECRETS.PROFILE_KEY));
}

const CREDENTIALS = { grant_type: 'client_credentials' };
const HINT = { login_hint: TEL };
const PROMPT = '/openIDConnectCIBA/v1/bc-authorize';
const APIGEE = '/oauth/client_credential/accesstoken';

// Requests that each accepts: test/endToEnd/profiles.test.ts.
describe('a token request in another manner', () => {
  test.each<[DialectName, string, Record<string, string>, string]>([
    ['kpn', APIGEE, CREDENTIALS, '400 {"error":"unsupported_grant_type"}'],
    ['kpn', `${APIGEE}?grant_type=client_credentials`, { scope: 'x' }, 'invalid_scope'],
    ['kpn', `${APIGEE}?grant_type=client_credentials`, { username: TEL }, 'invalid_request'],
    ['claro', '/oauth/v1/token?grant_type=client_credentials', {}, '404'],
    ['claro', '/oauth/v1/token', { ...CREDENTIALS, username: TEL }, 'invalid_request'],
    ['claro', '/oauth/v1/token', CREDENTIALS, 'invalid_scope'],
    ['aggregator', '/oauth/v1/token', CREDENTIALS, '404'],
    ['aggregator', KEYCLOAK, { ...CREDENTIALS, scope: 'check-sim-swap' }, 'invalid_scope'],
    ['vodafone', '/oauth/v1/token', CREDENTIALS, '404'],
    ['vodafone', PROMPT, { ...HINT, scope: 'openid check-sim-swap' }, '400 {"error":"invalid_req'],
    ['orange', PROMPT, { ...HINT, scope: `openid ${SCOPE}` }, '401 {"error":"invalid_client"}'],
    ['telefonica', '/apigateway/bc-authorize', HINT, '400 {"code":400,"message":"invalid_scope"}'],
    ['jwt-bearer', '/oauth/v1/token', CREDENTIALS, '400 {"error":"unsupported_grant_type"}'],
  ])('%s: %s with %j is %s', async (dialect, path, form, expected) => {
    const simulator = await start(dialect);

    expect(await summary(postForm(simulator.authUrl + path, form))).toContain(expected);
    expect(simulator.stats()).toMatchObject({ tokens: 0, prompts: 0 });
  });
});

test('telefonica: a second lookup about a number is a conflict while the first is under way', async () => {
  const simulator = await start('telefonica');
  const slow = '+447700900015';
  const scope = 'dpv:FraudPreventionAndDetection sim-swap';
  const tokenFor = async (number: string): Promise<string> => {
    const { authUrl } = simulator;
    const hint = { login_hint: `tel:${number}`, scope };
    const asked = await postForm(`${authUrl}/apigateway/bc-authorize`, hint);
    const authReqId = await read(asked, 'auth_req_id');
    const form = { grant_type: CIBA, auth_req_id: authReqId };
    return read(await postForm(`${authUrl}/apigateway/token`, form), 'access_token');
  };
  const tokens = [await tokenFor(slow), await tokenFor(slow), await tokenFor(NUMBER)];
  const replies = await Promise.all(
    tokens.map((token) => summary(lookUp(simulator, 'check', token, {}))),
  );

  expect(replies.map((reply) => reply.slice(0, 3)).toSorted()).toEqual(['200', '200', '409']);
  expect(simulator.stats()).toMatchObject({ lookups: 2, conflicts: 1 });
});

describe('jwt-bearer', () => {
  test('the assertion says all, once, and the lookup leaves the number out', async () => {
    const simulator = await start('jwt-bearer');
    const url = `${simulator.authUrl}/oauth/v1/token`;
    const jwt = await assertion(simulator);
    const ask = (form: Record<string, string>): Promise<Response> =>
      postForm(url, { grant_type: JWT_BEARER, ...form });

    expect(await summary(ask({ assertion: jwt, scope: 'x' }))).toContain('invalid_request');
    const token = await read(await ask({ assertion: jwt }), 'access_token');
    expect(await summary(ask({ assertion: jwt }))).toBe('400 {"error":"invalid_grant"}');

    expect(await summary(lookUp(simulator, 'check', token, { phoneNumber: NUMBER }))).toContain(
      'UNNECESSARY_IDENTIFIER',
    );
    expect(await summary(lookUp(simulator, 'check', token, {}))).toBe('200 {"swapped":false}');
  });

  test.each<[string, object, string | undefined, string]>([
    ['a number without tel:', { sub: NUMBER }, undefined, 'unknown_user_id'],
    ['another scope', { scope: 'check-sim-swap' }, undefined, 'invalid_scope'],
    ['another audience', {}, 'https://stranger.example', 'invalid_grant'],
  ])('%s is refused', async (_name, claims, audience, expected) => {
    const simulator = await start('jwt-bearer');

    const reply = postForm(`${simulator.authUrl}/oauth/v1/token`, {
      grant_type: JWT_BEARER,
      assertion: await assertion(simulator, claims, audience),
    });

    expect(await summary(reply)).toContain(expected);
  });
});

// CAMARA, Security and Interoperability Profile r4.2.
describe('camara', () => {
  const PURPOSE = 'dpv:FraudPreventionAndDetection';
  const ME = { sub: DEMO_CLIENT.clientId };

  test.each<[string, string, object, string, string]>([
    ['in any order', `sim-swap:check openid ${PURPOSE}`, {}, '/bc-authorize', '200'],
    [
      'for both operations',
      `${PURPOSE} sim-swap:check sim-swap:retrieve-date`,
      {},
      '/token',
      '200',
    ],
    ['without a purpose', 'openid sim-swap:check', {}, '/bc-authorize', 'invalid_scope'],
    ['with two', `${PURPOSE} dpv:Marketing sim-swap:check`, {}, '/token', 'invalid_scope'],
    ['without openid', `${PURPOSE} sim-swap:check`, {}, '/bc-authorize', 'invalid_scope'],
    ['for openid of nobody', `openid ${PURPOSE} sim-swap:check`, {}, '/token', 'invalid_scope'],
    ['for no operation', `openid ${PURPOSE}`, {}, '/bc-authorize', 'invalid_scope'],
    ['with a word of another', `${PURPOSE} sim-swap:check x`, {}, '/token', 'invalid_scope'],
    ['of another client', `${PURPOSE} sim-swap:check`, { sub: 'x' }, '/token', '401'],
    ['for the issuer', `${PURPOSE} sim-swap:check`, { aud: '' }, '/token', '401'],
    [
      'for longer',
      `${PURPOSE} sim-swap:check`,
      { iat: Math.floor(Date.now() / 1000) - 250 },
      '/token',
      '401',
    ],
  ])('a request %s', async (_name, scope, claims, path, expected) => {
    const simulator = await start('camara');
    const url = simulator.authUrl + path;
    const audience = 'aud' in claims ? simulator.authUrl : url;
    const form = {
      ...(path === '/token' ? CREDENTIALS : HINT),
      scope,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await assertion(simulator, { ...ME, ...claims }, audience),
    };
    const reply = fetch(url, { method: 'POST', body: new URLSearchParams(form) });
    expect(await summary(reply)).toContain(expected);
  });
});
