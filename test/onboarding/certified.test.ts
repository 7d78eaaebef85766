import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  CertifiedOperator,
  CIBA_GRANT_TYPE,
  CLIENT,
  SCOPE,
} from '../conformance/certifiedOperator.ts';
import { TemporaryFiles } from '../tls/temporaryFiles.ts';
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

const FLOWS = [
  ['2-legged', 'check-sim-swap'],
  ['3-legged', SCOPE],
] as const;

describe.each(FLOWS)('a certified OpenID provider, %s', (flow, scope) => {
  const flowSettings = { OPERATOR_FLOW: flow, OPERATOR_SCOPE_CHECK: scope };

  it('knows us by our secret, and prompts nobody', async () => {
    using one = await certified('client_secret_basic');
    const report = await check({ ...one.settings, ...flowSettings });
    expect(rowsOf(report, 'credentials')).toMatchObject([{ verdict: 'ok' }]);
    expect(failed(report)).toEqual([]);
    expect(one.operator.at('bc-authorize').map(({ form }) => form.size)).toEqual(
      flow === '3-legged' ? [0] : [],
    );
    expect(one.operator.lookups).toEqual([]);
  });

  it('refuses another secret', async () => {
    using one = await certified('client_secret_basic');
    const settings = { ...one.settings, ...flowSettings, OPERATOR_CLIENT_SECRET: 'wrong' };
    expect(failed(await check(settings))).toEqual(['credentials']);
  });

  it.each([
    ['the registered key', privateKey, 'ok', /^$/],
    ['another key', OTHER_KEY, 'failed', /public half of client\.key/],
  ] as const)('judges assertions by %s', async (_, key, verdict, advice) => {
    using files = new TemporaryFiles();
    using one = await certified('private_key_jwt');
    const { OPERATOR_CLIENT_SECRET: _secret, ...settings } = one.settings;
    const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
    const report = await check({
      ...settings,
      ...flowSettings,
      OPERATOR_CLIENT_AUTH: 'private_key_jwt',
      OPERATOR_ASSERTION_KEY_FILE: files.write('key.pem', pem),
      OPERATOR_ASSERTION_AUDIENCE: one.operator.url,
    });
    const [row] = rowsOf(report, 'credentials');
    expect(row?.verdict).toBe(verdict);
    expect(row?.advice ?? '').toMatch(advice);
  });
});

it('a scope that the client was not registered with is red', async () => {
  using one = await certified('client_secret_basic', { scope: 'openid' });
  const report = await check({ ...one.settings, OPERATOR_SCOPE_CHECK: 'check-sim-swap' });
  expect(failed(report)).toEqual(['scopes']);
  expect(rowsOf(report, 'scopes')).toMatchObject([{ found: 'refused: check-sim-swap' }]);
});
