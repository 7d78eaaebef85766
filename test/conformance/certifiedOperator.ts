import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
// oxlint-disable-next-line import/no-named-as-default -- it is named as its documentation names it
import Provider, { errors, type BackchannelRequest, type Context } from 'oidc-provider';
import { listen } from '../support/listening.ts';

/** How the owner of a number responds to the prompt; a test may change it. */
export interface Owner {
  answers: 'grant' | 'deny' | 'never';
  readonly afterMs?: number;
  expiresInSeconds?: number;
}

interface RegisteredClient {
  readonly publicKey: KeyObject;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** One request to the provider, and its reply. */
export interface Exchange {
  readonly path: string;
  readonly form: URLSearchParams;
  readonly status: number;
  readonly reply: Readonly<Record<string, unknown>>;
}

export const CLIENT = { id: 'service', secret: 'a-secret-of-the-tests' };
export const CIBA_GRANT_TYPE = 'urn:openid:params:grant-type:ciba';
export const SCOPE = 'openid check-sim-swap';

/** Signs id_tokens. */
const OWN_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

const BC_AUTHORIZE = '/openIDConnectCIBA/v1/bc-authorize';
const TOKEN = '/openIDConnectCIBA/v1/token';
const CLIENT_CREDENTIALS_TOKEN = '/oauth/v1/token';

/** An operator whose authorization server is a certified OpenID provider, at our paths. */
export class CertifiedOperator {
  readonly url: string;
  readonly exchanges: Exchange[] = [];
  readonly lookups: string[] = [];
  readonly #provider: Provider;
  readonly close: () => void;

  private constructor(url: string, provider: Provider, close: () => void) {
    this.url = url;
    this.#provider = provider;
    this.close = close;
  }

  static async start(owner: Owner, client: RegisteredClient): Promise<CertifiedOperator> {
    const server = createServer();
    const url = await listen(server);
    const prompted = (request: BackchannelRequest): void => {
      void answer(provider, owner, request);
    };
    const provider = new Provider(url, configuration(owner, client, prompted));
    const operator = new CertifiedOperator(url, provider, () => {
      server.close();
      server.closeAllConnections();
    });
    provider.use((context, next) => operator.#behindOurPaths(context, next));
    const authorize = provider.callback();
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const handled = request.url?.startsWith('/sim-swap/')
        ? operator.#check(request, response)
        : authorize(request, response);
      handled.catch(() => response.destroy());
    });
    return operator;
  }

  /** The exchanges of one path, in turn. */
  at(path: 'bc-authorize' | 'token' | 'client-credentials'): readonly Exchange[] {
    const paths = {
      'bc-authorize': BC_AUTHORIZE,
      token: TOKEN,
      'client-credentials': CLIENT_CREDENTIALS_TOKEN,
    };
    return this.exchanges.filter((one) => one.path === paths[path]);
  }

  /** The provider has one token endpoint, and sends no interval. */
  async #behindOurPaths(context: Context, next: () => Promise<void>): Promise<void> {
    const { path } = context;
    if (path === CLIENT_CREDENTIALS_TOKEN) context.path = TOKEN;
    const correlator = context.get('x-correlator');
    await next();
    if (correlator !== '') context.set('x-correlator', correlator);
    const reply = { ...Object(context.body) } as Record<string, unknown>;
    if (path === BC_AUTHORIZE && context.status === 200) context.body = { ...reply, interval: 1 };
    this.exchanges.push({
      path,
      form: new URLSearchParams({ ...context.oidc?.body }),
      status: context.status,
      reply,
    });
  }

  /** The token is the provider's, and works once. */
  async #check(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await text(request);
    const value = request.headers.authorization?.slice('Bearer '.length) ?? '';
    const { AccessToken, ClientCredentials } = this.#provider;
    const token = (await AccessToken.find(value)) ?? (await ClientCredentials.find(value));
    const isGood = token?.isValid === true && token.scope?.includes('check-sim-swap') === true;
    await token?.destroy();
    if (isGood) this.lookups.push(token.accountId ?? 'a client');
    response.writeHead(isGood ? 200 : 401, {
      'content-type': 'application/json',
      'x-correlator': String(request.headers['x-correlator']),
    });
    response.end(JSON.stringify(isGood ? { swapped: false } : { code: 'UNAUTHENTICATED' }));
  }
}

async function answer(
  provider: Provider,
  { answers, afterMs = 0 }: Owner,
  request: BackchannelRequest,
): Promise<void> {
  if (answers === 'never') return;
  if (afterMs > 0) await sleep(afterMs);
  if (answers === 'deny') return provider.backchannelResult(request, new errors.AccessDenied());
  const { accountId, clientId } = request;
  const grant = new provider.Grant({ accountId, clientId });
  grant.addOIDCScope(request.scope);
  await grant.save();
  return provider.backchannelResult(request, grant);
}

function configuration(
  owner: Owner,
  client: RegisteredClient,
  prompted: (request: BackchannelRequest) => void,
): Readonly<Record<string, unknown>> {
  return {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        grant_types: ['client_credentials', CIBA_GRANT_TYPE],
        response_types: [],
        redirect_uris: [],
        scope: SCOPE,
        backchannel_token_delivery_mode: 'poll',
        jwks: { keys: [{ ...client.publicKey.export({ format: 'jwk' }), use: 'sig' }] },
        ...client.metadata,
      },
    ],
    scopes: ['openid', 'check-sim-swap'],
    jwks: { keys: [{ ...OWN_KEY.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['tests'] },
    enabledJWA: {
      clientAuthSigningAlgValues: ['ES256'],
      requestObjectSigningAlgValues: ['ES256'],
    },
    routes: { backchannel_authentication: BC_AUTHORIZE, token: TOKEN },
    ttl: {
      BackchannelAuthenticationRequest: () => owner.expiresInSeconds ?? 120,
      AccessToken: 60,
      ClientCredentials: 60,
      IdToken: 60,
      Grant: 60,
    },
    findAccount,
    features: { ...cibaByPoll(prompted), requestObjects: { enabled: true } },
  };
}

/** Every number has an account. */
export function findAccount(_context: unknown, accountId: string) {
  return { accountId, claims: () => ({ sub: accountId }) };
}

/** Client credentials, and CIBA by poll, whose prompts are handed over. */
export function cibaByPoll(prompted: (request: BackchannelRequest) => void) {
  return {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    ciba: {
      enabled: true,
      deliveryModes: ['poll'],
      processLoginHint: (_context: unknown, hint: string) => hint,
      validateBindingMessage: () => undefined,
      validateRequestContext: () => undefined,
      verifyUserCode: () => undefined,
      triggerAuthenticationDevice: (_context: unknown, request: BackchannelRequest) => {
        prompted(request);
      },
    },
  };
}
