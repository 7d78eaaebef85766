import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  CertifiedOperator,
  CIBA_GRANT_TYPE,
  CLIENT,
  SCOPE,
} from '../conformance/certifiedOperator.ts';
import { TemporaryFiles } from '../temporary.ts';
import { check, failed, rowsOf, settingsAt } from './checked.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const OTHER_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

async function certified(
  method: 'client_secret_basic' | 'private_key_jwt',
  more: Readonly<Record<string, string>> = {},
) {
  const metadata = { token_endpoint_auth_method: method, ...more };
  const operator = await CertifiedOperator.start({ answers: 'grant' }, { publicKey, metadata });
  const settings = {
    ...settingsAt(operator.url),
    OPERATOR_SIM_SWAP_URL: `${operator.url}/sim-swap/v1`,
    OPERATOR_CLIENT_ID: CLIENT.id,
    OPERATOR_CLIENT_SECRET: CLIENT.secret,
    OPERATOR_OPERATIONS: 'check',
    OPERATOR_CIBA_GRANT_TYPE: CIBA_GRANT_TYPE,
  };
  return { operator, settings, [Symbol.dispose]: () => operator.close() };
}

const BY_SECRET = 'client_secret_basic';
const BY_KEY = 'private_key_jwt';
const FLOWS = [
  ['2-legged', 'check-sim-swap', []],
  // What a GET without credentials brings: no owner is prompted.
  ['3-legged', SCOPE, [0]],
] as const;

describe.each(FLOWS)('a certified OpenID provider, %s', (flow, scope, prompts) => {
  it.each([
    ['our secret', BY_SECRET, privateKey, CLIENT.secret, [], /^$/],
    ['another secret', BY_SECRET, privateKey, 'wrong', ['credentials'], /file of client\.secret/],
    ['the registered key', BY_KEY, privateKey, '', [], /^$/],
    ['another key', BY_KEY, OTHER_KEY, '', ['credentials'], /public half of client\.key/],
  ] as const)('judges %s', async (_, method, key, secret, red, advice) => {
    const files = new TemporaryFiles();
    using one = await certified(method);
    const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
    const byKey = {
      OPERATOR_CLIENT_AUTH: method,
      OPERATOR_ASSERTION_KEY_FILE: files.write('key.pem', pem),
      OPERATOR_ASSERTION_AUDIENCE: one.operator.url,
    };
    const report = await check({
      ...one.settings,
      OPERATOR_FLOW: flow,
      OPERATOR_SCOPE_CHECK: scope,
      OPERATOR_CLIENT_SECRET: secret,
      ...(method === BY_KEY ? byKey : {}),
    });
    expect(failed(report)).toEqual(red);
    expect(rowsOf(report, 'credentials')[0]?.advice ?? '').toMatch(advice);
    expect(one.operator.at('bc-authorize').map(({ form }) => form.size)).toEqual(prompts);
    expect(one.operator.lookups).toEqual([]);
  });
});

it('a scope that the client was not registered with is red', async () => {
  using one = await certified(BY_SECRET, { scope: 'openid' });
  const report = await check({ ...one.settings, OPERATOR_SCOPE_CHECK: 'check-sim-swap' });
  expect(failed(report)).toEqual(['scopes']);
  expect(rowsOf(report, 'scopes')).toMatchObject([{ found: 'refused: check-sim-swap' }]);
});
