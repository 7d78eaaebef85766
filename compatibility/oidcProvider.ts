import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { calculateJwkThumbprint, decodeProtectedHeader } from 'jose';
// oxlint-disable-next-line import/no-named-as-default -- it is named as its documentation names it
import Provider, { type BackchannelRequest, type Context } from 'oidc-provider';
import { cibaByPoll, findAccount } from '../test/conformance/certifiedOperator.ts';
import type { Service } from '../test/support/service.ts';
import { startServiceOf } from '../test/support/operatorsFile.ts';
import { TemporaryFiles } from '../test/support/temporary.ts';
import { Authority } from '../test/tls/authority.ts';
import { finding, versionsOf, type Finding, type Judge } from './judge.ts';

type Flow = '2-legged' | '3-legged';
type Method = 'private_key_jwt' | 'tls_client_auth' | 'self_signed_tls_client_auth';

interface Trial {
  readonly method: Method;
  readonly dpop?: 'without nonces' | 'with nonces';
}

const TRIALS: readonly Trial[] = [
  { method: 'private_key_jwt' },
  { method: 'tls_client_auth' },
  { method: 'self_signed_tls_client_auth' },
  { method: 'private_key_jwt', dpop: 'without nonces' },
  { method: 'private_key_jwt', dpop: 'with nonces' },
];

const CIBA = 'urn:openid:params:grant-type:ciba';
const PURPOSE = 'dpv:FraudPreventionAndDetection';
const NUMBER = '+447700900004';

const AUTHORITY = new Authority('Of servers and clients');
const SERVER = AUTHORITY.issue();
const CLIENT = AUTHORITY.issue({ name: 'sim-swap' });
const SIGNING = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ID_TOKENS = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

const files = new TemporaryFiles();
const CERTIFICATE = {
  certificate: { file: files.write('client.crt', CLIENT.cert) },
  key: { file: files.write('client.key', CLIENT.key) },
};
const AUTHORITIES = files.write('ca.pem', AUTHORITY.pem);
const KEY = files.write('signing.key', SIGNING.privateKey.export({ type: 'pkcs8', format: 'pem' }));

export const OIDC_PROVIDER_JUDGES: readonly Judge[] = [
  {
    name: "oidc-provider, as an operator's authorization server",
    version: versionsOf(['oidc-provider']),
    form: 'short',
    async judge() {
      const found: Finding[] = [];
      for (const flow of ['2-legged', '3-legged'] as const) {
        for (const trial of TRIALS) found.push(...(await judgeTrial(flow, trial)));
      }
      return found;
    },
  },
];

/** The service by its profile `camara`, found by discovery, and nothing of the provider changed. */
async function judgeTrial(flow: Flow, { method, dpop }: Trial): Promise<readonly Finding[]> {
  await using provider = await startProvider({ method, ...(dpop && { dpop }) });
  const usesCertificate = method !== 'private_key_jwt';
  const entry = {
    name: 'theirs',
    profile: 'camara',
    prefixes: ['+44'],
    flow,
    discovery: { issuer: provider.url, hosts: [new URL(provider.forCertificates).host] },
    simSwapUrl: `${usesCertificate ? provider.forCertificates : provider.url}/sim-swap/v2`,
    client: usesCertificate
      ? { id: 'client', method: 'tls' }
      : { id: 'client', key: { file: KEY } },
    tls: { ca: { file: AUTHORITIES }, ...(usesCertificate && CERTIFICATE) },
    ...(dpop && { tokens: { dpop: true } }),
  };
  await using service = await startServiceOf([entry], {
    EGRESS_CA_FILE: AUTHORITIES,
    REQUEST_TIMEOUT_MS: '10000',
    CONSENT_WAIT_MS: '8000',
  });
  await discovered(service);
  const query = `{ phoneNumber(e164: "${NUMBER}") { simSwappedWithin } }`;
  const { data, codes } = await service.ask(query);
  const answer: unknown = codes[0] ?? data.phoneNumber.simSwappedWithin;
  const about = `${flow}, ${method}${dpop === undefined ? '' : `, DPoP ${dpop}`}`;
  return [
    finding(
      `${about}: answers`,
      answer === false,
      `${JSON.stringify(answer)}${provider.refused()}`,
    ),
    finding(`${about}: one lookup`, provider.lookups() === 1, `${provider.lookups()}`),
  ];
}

/** The first exchanges wait for the discovery document for a second only, which a busy machine may take. */
async function discovered({ logged }: Service): Promise<void> {
  const endsAtMs = Date.now() + 10_000;
  while (!logged.some((line) => line.includes('discovery document was read'))) {
    if (Date.now() > endsAtMs) throw new Error('The discovery document was not read.');
    await sleep(20);
  }
}

interface Running extends AsyncDisposable {
  readonly url: string;
  readonly forCertificates: string;
  lookups(): number;
  /** What it refused, by its own words. */
  refused(): string;
}

async function startProvider({ method, dpop }: Trial): Promise<Running> {
  const plain = createServer(SERVER);
  const tls = { ...SERVER, ca: AUTHORITY.pem, requestCert: true, rejectUnauthorized: false };
  const forCertificates = createServer(tls);
  const url = await listen(plain);
  const alias = await listen(forCertificates);
  const refusals: string[] = [];
  let lookups = 0;
  const grant = async (request: BackchannelRequest): Promise<void> => {
    const { accountId, clientId, scope } = request;
    const granted = new provider.Grant({ accountId, clientId });
    granted.addOIDCScope(scope);
    await granted.save();
    await provider.backchannelResult(request, granted);
  };
  const provider = new Provider(url, {
    ...configurationOf(method, alias),
    features: {
      ...featuresOf(grant),
      dPoP: {
        enabled: dpop !== undefined,
        nonceSecret: randomBytes(32),
        requireNonce: () => dpop === 'with nonces',
      },
    },
  });
  provider.use(async (context: Context, next: () => Promise<void>) => {
    await next();
    if (context.status >= 400) refusals.push(JSON.stringify(context.body));
  });
  const authorize = provider.callback();
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const handled = request.url?.startsWith('/sim-swap/')
      ? check(request, response)
      : authorize(request, response);
    handled.catch(() => response.destroy());
  };
  const check = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    await text(request);
    const [scheme = '', value = ''] = request.headers.authorization?.split(' ') ?? [];
    const { AccessToken, ClientCredentials } = provider;
    const token = (await AccessToken.find(value)) ?? (await ClientCredentials.find(value));
    const { jkt } = { jkt: undefined, ...token };
    const proof = request.headers['dpop'];
    const isBound =
      dpop === undefined
        ? scheme === 'Bearer'
        : scheme === 'DPoP' &&
          typeof proof === 'string' &&
          (await calculateJwkThumbprint(decodeProtectedHeader(proof).jwk ?? {})) === jkt;
    const scopes = token?.scope?.split(' ') ?? [];
    const isGood =
      isBound &&
      token?.isValid === true &&
      [PURPOSE, 'sim-swap:check'].every((one) => scopes.includes(one));
    await token?.destroy();
    if (isGood) lookups += 1;
    response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isGood ? { swapped: false } : { code: 'UNAUTHENTICATED' }));
  };
  for (const server of [plain, forCertificates]) server.on('request', answer);
  return {
    url,
    forCertificates: alias,
    lookups: () => lookups,
    refused: () => refusals.map((one) => `; ${one}`).join(''),
    async [Symbol.asyncDispose]() {
      for (const server of [plain, forCertificates]) {
        server.close();
        server.closeAllConnections();
        await once(server, 'close');
      }
    },
  };
}

type Prompted = (request: BackchannelRequest) => Promise<void>;

function configurationOf(method: Method, alias: string) {
  const certificate = new X509Certificate(CLIENT.cert);
  const key =
    method === 'private_key_jwt'
      ? { ...SIGNING.publicKey.export({ format: 'jwk' }), use: 'sig' }
      : {
          ...certificate.publicKey.export({ format: 'jwk' }),
          x5c: [certificate.raw.toString('base64')],
        };
  return {
    clients: [
      {
        client_id: 'client',
        token_endpoint_auth_method: method,
        ...(method === 'tls_client_auth' && { tls_client_auth_subject_dn: 'CN=sim-swap' }),
        ...(method !== 'tls_client_auth' && { jwks: { keys: [key] } }),
        grant_types: ['client_credentials', CIBA],
        response_types: [],
        redirect_uris: [],
        scope: `openid ${PURPOSE} sim-swap:check sim-swap:retrieve-date`,
        backchannel_token_delivery_mode: 'poll',
      },
    ],
    scopes: ['openid', PURPOSE, 'sim-swap:check', 'sim-swap:retrieve-date'],
    clientAuthMethods: ['private_key_jwt', 'tls_client_auth', 'self_signed_tls_client_auth'],
    enabledJWA: { clientAuthSigningAlgValues: ['ES256'], dPoPSigningAlgValues: ['ES256'] },
    jwks: { keys: [{ ...ID_TOKENS.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['keys'] },
    // RFC 8705 §5.
    discovery: {
      mtls_endpoint_aliases: {
        token_endpoint: `${alias}/token`,
        backchannel_authentication_endpoint: `${alias}/backchannel`,
      },
    },
    findAccount,
  };
}

function featuresOf(prompted: Prompted) {
  return {
    ...cibaByPoll((request) => void prompted(request)),
    mTLS: {
      enabled: true,
      tlsClientAuth: true,
      selfSignedTlsClientAuth: true,
      getCertificate: ({ req }: Context) => {
        const { raw } = (req.socket as TLSSocket).getPeerX509Certificate() ?? {};
        return raw === undefined ? undefined : new X509Certificate(raw);
      },
      certificateAuthorized: ({ req }: Context) => (req.socket as TLSSocket).authorized,
      certificateSubjectMatches: ({ req }: Context, _property: string, expected: string) =>
        (req.socket as TLSSocket).getPeerX509Certificate()?.subject === expected,
    },
  };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
