import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
// oxlint-disable-next-line import/no-named-as-default -- it is named as its documentation names it
import Provider, { type Context } from 'oidc-provider';
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';
import { readBody } from '../server/readBody.ts';
import { CLIENT_ID, EVERYONE, type DemoPerson } from './people.ts';
import {
  FONT,
  messagePage,
  PAGE_POLICY,
  SIGN_OUT_SCRIPT,
  signInPage,
  signOutPage,
} from './signInPage.ts';

/** Stands for your OpenID provider. */
export interface IdentityProvider extends AsyncDisposable {
  readonly issuer: string;
}

/** What it must know. */
export interface IdentityProviderOptions {
  /** 0 is any that is free. */
  readonly port: number;
  /** Where the desk is. */
  readonly deskOrigin: string;
  /** For whom access tokens are. */
  readonly resource: string;
  /** By which it knows the desk. */
  readonly clientSecret: string;
  readonly accessTokenSeconds: number;
}

const ALGORITHM = 'ES256';
const MAX_FORM_BYTES = 4096;
const ALL_SCOPES = [...new Set(EVERYONE.flatMap(({ scopes }) => scopes))];

/** Starts one with new keys. What it knows of sign-ins it forgets when it ends. */
export async function startIdentityProvider(
  options: IdentityProviderOptions,
): Promise<IdentityProvider> {
  const server = createServer();
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, await configuration(options));
  const authorize = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('referrer-policy', 'no-referrer');
    response.setHeader('x-content-type-options', 'nosniff');
    const handled = isOurs(request)
      ? answer(provider, options.deskOrigin, request, response)
      : authorize(request, response);
    handled.catch(() => {
      if (!response.headersSent) sendPage(response, 400, EXPIRED);
      else response.destroy();
    });
  });
  return {
    issuer,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function configuration({
  deskOrigin,
  resource,
  clientSecret,
  accessTokenSeconds,
}: IdentityProviderOptions): Promise<Readonly<Record<string, unknown>>> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), alg: ALGORITHM, use: 'sig', kid: 'demo' };
  return {
    adapter: createMemoryAdapter(),
    jwks: { keys: [jwk] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: clientSecret,
        token_endpoint_auth_method: 'client_secret_basic',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        redirect_uris: [`${deskOrigin}/callback`],
        post_logout_redirect_uris: [`${deskOrigin}/`],
        id_token_signed_response_alg: ALGORITHM,
      },
    ],
    enabledJWA: { idTokenSigningAlgValues: [ALGORITHM] },
    pkce: { required: () => true },
    scopes: ['openid'],
    claims: { openid: ['sub'], profile: ['name'], roles: ['roles'] },
    // The desk fetches no user info: the ID token names the person.
    conformIdTokenClaims: false,
    findAccount: (_context: Context, accountId: string) => accountOf(accountId),
    loadExistingGrant: grantFor(resource),
    // As long as the person stays signed in here.
    issueRefreshToken: () => Promise.resolve(true),
    interactions: {
      url: (_context: Context, { uid }: { readonly uid: string }) => `/interaction/${uid}`,
    },
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: ALL_SCOPES.join(' '),
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: accessTokenSeconds,
          jwt: { sign: { alg: ALGORITHM } },
        }),
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context: Context, form: string) => {
          show(context, signOutPage(form));
        },
        postLogoutSuccessSource: (context: Context) => {
          show(context, messagePage('You are signed out', 'You can close this page.'));
        },
      },
    },
    renderError: (context: Context) => {
      show(context, messagePage('This cannot be done', 'Go back to the desk and sign in again.'));
    },
    ttl: {
      AccessToken: accessTokenSeconds,
      AuthorizationCode: 60,
      Grant: 8 * 3600,
      IdToken: 3600,
      Interaction: 600,
      RefreshToken: 8 * 3600,
      Session: 8 * 3600,
    },
  };
}

function accountOf(login: string): object | undefined {
  const person = EVERYONE.find((one) => one.login === login);
  if (person === undefined) return undefined;
  const { name, roles } = person;
  return { accountId: login, claims: () => ({ sub: login, name, roles }) };
}

/**
 * What the desk may do for a person is settled by the person's role, without a question. A scope that is
 * not theirs is refused once and for all, and left out of the token.
 */
function grantFor(resource: string) {
  return async ({ oidc }: Context) => {
    const { accountId = '' } = oidc.session ?? {};
    const person = EVERYONE.find(({ login }) => login === accountId);
    if (person === undefined) return undefined;
    const { clientId = '' } = oidc.client ?? {};
    const grant = new oidc.provider.Grant({ accountId, clientId });
    grant.addOIDCScope('openid profile roles');
    for (const scope of ALL_SCOPES) {
      const isTheirs = person.scopes.includes(scope);
      if (isTheirs) grant.addResourceScope(resource, scope);
      else grant.rejectResourceScope(resource, scope);
    }
    await grant.save();
    return grant;
  };
}

function isOurs({ url = '' }: IncomingMessage): boolean {
  return url.startsWith('/interaction/') || ['/sign-out.js', '/inter.woff2'].includes(url);
}

async function answer(
  provider: Provider,
  deskOrigin: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.url === '/sign-out.js') {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(SIGN_OUT_SCRIPT);
    return;
  }
  if (request.url === '/inter.woff2') {
    response.writeHead(200, { 'content-type': 'font/woff2', 'cache-control': 'max-age=3600' });
    response.end(FONT);
    return;
  }
  let uid: string;
  try {
    ({ uid } = await provider.interactionDetails(request, response));
  } catch {
    // Signed in already, and here by the Back button; or begun in another browser. The desk knows which.
    response.writeHead(303, { location: `${deskOrigin}/`, 'cache-control': 'no-store' }).end();
    return;
  }
  if (request.method !== 'POST') {
    sendPage(response, 200, signInPage(uid, false));
    return;
  }
  const form = await readBody(request, MAX_FORM_BYTES);
  const person = personWith(new URLSearchParams(form?.toString('utf8')));
  if (person === undefined) sendPage(response, 401, signInPage(uid, true));
  else {
    await provider.interactionFinished(request, response, { login: { accountId: person.login } });
  }
}

/** Takes as long for every wrong password. A real provider slows guessing down. */
function personWith(form: URLSearchParams): DemoPerson | undefined {
  const person = EVERYONE.find(({ login }) => login === form.get('login'));
  const isRight = timingSafeEqual(
    hashed(form.get('password') ?? ''),
    hashed(person?.password ?? randomBytes(16).toString('hex')),
  );
  return isRight ? person : undefined;
}

function hashed(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

function show(context: Context, html: string): void {
  context.type = 'html';
  context.body = html;
  context.set('content-security-policy', PAGE_POLICY);
}

function sendPage(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': PAGE_POLICY,
    'cache-control': 'no-store',
  });
  response.end(html);
}

const EXPIRED = messagePage(
  'This sign-in is over',
  'It took too long, or was begun in another browser. Go back to the desk and sign in again.',
);
