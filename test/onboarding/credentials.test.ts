import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { answerJson, RecordingServer, type Answer } from '../wire/recordingServer.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { check, failed, rowsOf, settingsAt, simulator, simulatorSettings } from './checked.ts';

const NOTHING_ASKED = { lookups: 0, refusedLookups: 0, prompts: 0 };

describe('a refusal has a red row that says what to do', () => {
  const SECRET = { OPERATOR_CLIENT_SECRET: 'wrong' };
  const CIBA = { OPERATOR_FLOW: '3-legged' };
  const GRANT = { ...CIBA, OPERATOR_CIBA_GRANT_TYPE: 'urn:openid:params:grant-type:ciba' };
  it.each([
    ['a wrong secret', SECRET, 'credentials', /file of client\.secret/],
    ['a wrong secret, 3-legged', { ...SECRET, ...CIBA }, 'credentials', /file of client\.secret/],
    ['an unknown client', { OPERATOR_CLIENT_ID: 'wrong' }, 'credentials', /client\.id/],
    ['another name of the grant type', GRANT, 'credentials', /grantType of the profile/],
    ['a scope not enabled', { OPERATOR_SCOPE_CHECK: 'other' }, 'scopes', /enable these scopes/],
  ] as const)('%s', async (_, settings, step, advice) => {
    await using operator = await simulator();
    const report = await check({ ...simulatorSettings(operator), ...settings });
    expect(failed(report)).toEqual([step]);
    expect(rowsOf(report, step)[0]?.advice).toMatch(advice);
    expect(operator.stats()).toMatchObject(NOTHING_ASKED);
  });

  const OWN = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const OTHER = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  it.each([
    ['the registered key', OWN.privateKey, [], /^$/],
    ['another key', OTHER.privateKey, ['credentials'], /public half of client\.key/],
  ] as const)('%s', async (_, key, red, advice) => {
    const jwks = { keys: [OWN.publicKey.export({ format: 'jwk' })] };
    await using operator = await simulator({ clientAuthentication: 'private_key_jwt', jwks });
    const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
    const report = await check({
      ...simulatorSettings(operator),
      OPERATOR_CLIENT_AUTH: 'private_key_jwt',
      OPERATOR_CLIENT_SECRET: '',
      OPERATOR_ASSERTION_KEY_FILE: new TemporaryFiles().write('key.pem', pem),
      OPERATOR_ASSERTION_AUDIENCE: operator.authUrl,
    });
    expect(failed(report)).toEqual(red);
    expect(rowsOf(report, 'credentials')[0]?.advice ?? '').toMatch(advice);
  });

  it('a wrong path', async () => {
    await using operator = await simulator();
    const settings = simulatorSettings(operator);
    const report = await check({ ...settings, OPERATOR_AUTH_URL: `${operator.authUrl}/elsewhere` });
    expect(failed(report)).toEqual(['credentials']);
    expect(rowsOf(report, 'credentials')[0]?.advice).toMatch(/no requests at this path/);
    expect(rowsOf(report, 'http')[0]).toMatchObject({ verdict: 'warning' });
  });
});

const unnamed = (error: string) => refusing(400, { error });
const OF_CAMARA = { status: 404, code: 'IDENTIFIER_NOT_FOUND', message: '' };
const TYPED = { access_token: 'a', token_type: 'BearerToken', expires_in: 60 };

it.each<readonly [string, Answer, string, RegExp]>([
  ['401 without a word', refusing(401, {}), 'failed', /accept our client credentials/],
  ['400 invalid_client', unnamed('invalid_client'), 'failed', /accept our client credentials/],
  ['400 unauthorized_client', unnamed('unauthorized_client'), 'failed', /enabled for this client/],
  ['403', refusing(403, {}), 'failed', /enabled for this client/],
  ['400 unknown_user_id', unnamed('unknown_user_id'), 'ok', /^$/],
  ['404 of CAMARA', refusing(404, OF_CAMARA), 'ok', /^$/],
  ['400 invalid_request', unnamed('invalid_request'), 'failed', /the profile/],
  ['400 invalid_dpop_proof', unnamed('invalid_dpop_proof'), 'failed', /dpop/],
  ['a token of another type', refusing(200, TYPED), 'failed', /tokens\.types of the profile/],
  ['400 unsupported_grant_type', unnamed('unsupported_grant_type'), 'failed', /does not issue/],
  ['302', refusing(302, {}), 'failed', /no requests at this path/],
  ['404', refusing(404, { error: 'Not Found' }), 'failed', /no requests at this path/],
  ['429', refusing(429, {}), 'warning', /Rate-limited/],
  ['503', refusing(503, {}), 'failed', /not available/],
  ['200 with another body', refusing(200, { token: 'elsewhere' }), 'failed', /gateway/],
  ['a broken connection', (_, response) => void response.socket?.destroy(), 'failed', /rows above/],
])('a token endpoint that answers %s', async (_, answer, verdict, advice) => {
  await using operator = await RecordingServer.start((received, response) => {
    if (received.method === 'POST') answer(received, response);
    else answerJson(received, response, {}, 405);
  });
  const [row] = rowsOf(await check(settingsAt(operator.url)), 'credentials');
  expect(row?.verdict).toBe(verdict);
  expect(row?.advice ?? '').toMatch(advice);
});

const ISSUED = { access_token: 'issued', token_type: 'Bearer' };

it('a scope that is left out of what was granted is reported', async () => {
  const granted = refusing(200, { ...ISSUED, scope: 'retrieve-sim-swap-date' });
  await using operator = await RecordingServer.start(granted);
  const report = await check(settingsAt(operator.url));
  const row = { verdict: 'failed', found: 'not granted: check-sim-swap' };
  expect(rowsOf(report, 'scopes')).toMatchObject([row]);
});

it('an operator that sends its own correlators fails with these settings', async () => {
  await using operator = await RecordingServer.start((received, response) => {
    const status = received.method === 'POST' ? 200 : 405;
    answerJson({ ...received, correlator: 'its-own' }, response, ISSUED, status);
  });
  const report = await check(settingsAt(operator.url));
  expect(failed(report)).toEqual(['echo']);
  expect(rowsOf(report, 'echo')[0]?.advice).toContain('"echo": "never"');
  const never = { ...settingsAt(operator.url), OPERATOR_CORRELATOR_ECHO: 'never' };
  expect(failed(await check(never))).toEqual([]);
});

it('a clock that is far off is reported', async () => {
  await using operator = await RecordingServer.start((received, response) => {
    response.setHeader('date', new Date(Date.now() + 3_600_000).toUTCString());
    answerJson(received, response, ISSUED);
  });
  const [row] = rowsOf(await check(settingsAt(operator.url)), 'clock');
  expect(row?.verdict).toBe('warning');
  expect(row?.found).toMatch(/^the operator's clock is 3\d{3} s ahead/);
});

function refusing(status: number, body: unknown): Answer {
  return (received, response) => answerJson(received, response, body, status);
}
