import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';
import { startServiceWith, type Service } from '../support/service.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import {
  CertifiedOperator,
  CIBA_GRANT_TYPE,
  CLIENT,
  SCOPE,
  type Owner,
} from './certifiedOperator.ts';

const NUMBER = '+447700900004';
const GRANTS: Owner = { answers: 'grant' };
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const files = new TemporaryFiles();
const keyFile = files.write(
  'key.pem',
  privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
);
let operator: CertifiedOperator;
let service: Service;

afterEach(async () => {
  await service.stop();
  operator.close();
});

type Method = 'basic' | 'private_key_jwt';
const METHODS: readonly Method[] = ['basic', 'private_key_jwt'];

/** Starts the provider and the service, with the same client authentication. */
async function serve(
  flow: '2-legged' | '3-legged',
  owner: Owner,
  method: Method = 'basic',
  settings: Readonly<Record<string, string>> = {},
  metadata: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  operator = await CertifiedOperator.start(owner, {
    publicKey,
    metadata: {
      token_endpoint_auth_method: method === 'basic' ? 'client_secret_basic' : method,
      ...metadata,
    },
  });
  const usesKey = method === 'private_key_jwt' || 'OPERATOR_SIGNED_REQUEST' in settings;
  const signing = {
    OPERATOR_ASSERTION_KEY_FILE: keyFile,
    OPERATOR_ASSERTION_AUDIENCE: operator.url,
  };
  service = await startServiceWith({
    PORT: '0',
    OPERATOR_FLOW: flow,
    OPERATOR_AUTH_URL: operator.url,
    OPERATOR_SIM_SWAP_URL: `${operator.url}/sim-swap/v1`,
    OPERATOR_CLIENT_ID: CLIENT.id,
    OPERATOR_OPERATIONS: 'check',
    OPERATOR_SCOPE_CHECK: flow === '3-legged' ? SCOPE : 'check-sim-swap',
    OPERATOR_CIBA_GRANT_TYPE: CIBA_GRANT_TYPE,
    OPERATOR_CLIENT_AUTH: method,
    ...(method === 'basic' ? { OPERATOR_CLIENT_SECRET: CLIENT.secret } : {}),
    ...(usesKey ? signing : {}),
    REQUEST_TIMEOUT_MS: '20000',
    CONSENT_WAIT_MS: '15000',
    ...settings,
  });
}

/** An answer, or the code of its error. */
async function ask(): Promise<unknown> {
  const query = `{ phoneNumber(e164: "${NUMBER}") { simSwappedWithin } }`;
  const { data, codes } = await service.ask(query);
  return codes[0] ?? data.phoneNumber.simSwappedWithin;
}

function errorsOfPolls(): unknown[] {
  return operator.at('token').map(({ reply }) => reply['error'] ?? 'granted');
}

describe.each(METHODS)('against a certified provider, with %s', (method) => {
  it('gets a token by client_credentials', async () => {
    await serve('2-legged', GRANTS, method);
    expect(await ask()).toBe(false);
    expect(operator.at('client-credentials').map(({ status }) => status)).toEqual([200]);
    expect(operator.lookups).toHaveLength(1);
  });

  it('waits for a consent, and ignores the id_token', async () => {
    await serve('3-legged', { answers: 'grant', afterMs: 600 }, method);
    expect(await ask()).toBe(false);
    expect(operator.at('bc-authorize').map(({ status }) => status)).toEqual([200]);
    expect(errorsOfPolls()).toEqual(['authorization_pending', 'granted']);
    expect(operator.at('token').at(-1)?.reply).toMatchObject({ id_token: expect.any(String) });
    expect(operator.lookups).toEqual([`tel:${NUMBER}`]);
  });
});

describe('against a certified provider', () => {
  it('returns CONSENT_DENIED when the owner declines, and never sends an assertion twice: a replayed one is refused', async () => {
    await serve('3-legged', { answers: 'deny' }, 'private_key_jwt');
    expect(await ask()).toBe('CONSENT_DENIED');
    expect(await ask()).toBe('CONSENT_DENIED');
    expect(errorsOfPolls().at(-1)).toBe('access_denied');
    expect(operator.at('bc-authorize')).toHaveLength(1);
    const assertions = operator.exchanges.map(({ form }) => form.get('client_assertion') ?? '');
    expect(new Set(assertions.map((one) => decodeJwt(one).jti)).size).toBe(
      operator.exchanges.length,
    );
    const replayed = await fetch(`${operator.url}/openIDConnectCIBA/v1/bc-authorize`, {
      method: 'POST',
      body: operator.at('bc-authorize')[0]?.form ?? '',
    });
    expect(replayed.status).toBe(401);
    expect(await replayed.json()).toMatchObject({ error: 'invalid_client' });
  });

  it('returns CONSENT_EXPIRED when the owner does not respond, and prompts at the next request', async () => {
    const owner: Owner = { answers: 'never', expiresInSeconds: 1 };
    await serve('3-legged', owner);
    expect(await ask()).toBe('CONSENT_EXPIRED');
    expect(operator.at('bc-authorize')).toHaveLength(1);
    expect(operator.lookups).toHaveLength(0);
    owner.answers = 'grant';
    owner.expiresInSeconds = 60;
    expect(await ask()).toBe(false);
    expect(operator.at('bc-authorize')).toHaveLength(2);
  });

  const metadata = { backchannel_authentication_request_signing_alg: 'ES256' };

  it.each<[string, Method]>([
    ['on', 'basic'],
    ['strict', 'private_key_jwt'],
  ])('signs its request where the provider requires it: %s, with %s', async (signed, method) => {
    await serve('3-legged', GRANTS, method, { OPERATOR_SIGNED_REQUEST: signed }, metadata);
    expect(await ask()).toBe(false);
    const [request] = operator.at('bc-authorize');
    expect(request?.form.has('login_hint')).toBe(false);
    expect(request?.form.has('scope')).toBe(signed === 'on');
    expect(operator.lookups).toEqual([`tel:${NUMBER}`]);
  });

  it('returns OPERATOR_REFUSED when the provider requires a signed request and the settings have none', async () => {
    await serve('3-legged', GRANTS, 'basic', {}, metadata);
    expect(await ask()).toBe('OPERATOR_REFUSED');
    expect(operator.at('token')).toHaveLength(0);
  });
});
