import * as client from 'openid-client';
import type { Person, Role, Tokens } from './sessions.ts';
import type { DeskSettings } from './settings.ts';
import type { PendingSignIn } from './pendingSignIn.ts';

/** Where to send a browser that wants to sign in, and what to remember of it. */
export interface Departure {
  readonly url: string;
  readonly pending: Omit<PendingSignIn, 'startedAtMs'>;
}

/** Who came back from the provider. */
export interface Arrival {
  readonly person: Person;
  readonly tokens: Tokens;
}

/** In the time of one request. */
const TIMEOUT_SECONDS = 8;

/** An access token this close to its end is renewed first: it must outlast the request. */
export const RENEW_BEFORE_MS = 30_000;

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** The OpenID provider: authorization code with PKCE, state and nonce, and what follows from it. */
export class Provider {
  readonly #settings: DeskSettings;
  readonly #config: client.Configuration;

  private constructor(settings: DeskSettings, config: client.Configuration) {
    this.#settings = settings;
    this.#config = config;
  }

  /** Asks the provider for its endpoints; rejects when it does not answer. */
  static async discover(settings: DeskSettings): Promise<Provider> {
    const issuer = new URL(settings.issuer);
    const isLocal = issuer.protocol === 'http:' && LOOPBACK.test(issuer.hostname);
    const config = await client.discovery(
      issuer,
      settings.clientId,
      undefined,
      client.ClientSecretBasic(settings.clientSecret),
      {
        timeout: TIMEOUT_SECONDS,
        // Plain http never leaves the machine.
        // oxlint-disable-next-line typescript/no-deprecated -- marked so that it is not used by accident
        execute: isLocal ? [client.allowInsecureRequests] : [],
      },
    );
    return new Provider(settings, config);
  }

  async depart(): Promise<Departure> {
    const { resource, scopes } = this.#settings;
    const codeVerifier = client.randomPKCECodeVerifier();
    const pending = { state: client.randomState(), nonce: client.randomNonce(), codeVerifier };
    const url = client.buildAuthorizationUrl(this.#config, {
      redirect_uri: this.#redirectUri,
      scope: ['openid', 'profile', 'roles', ...scopes].join(' '),
      resource,
      code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      state: pending.state,
      nonce: pending.nonce,
    });
    return { url: url.href, pending };
  }

  /**
   * Exchanges what the provider sent the browser back with.
   *
   * @param search of the request, with its `?`
   * @throws when anything of it is not as it must be
   */
  async arrive(search: string, pending: PendingSignIn): Promise<Arrival> {
    const { resource } = this.#settings;
    const response = await client.authorizationCodeGrant(
      this.#config,
      new URL(this.#redirectUri + search),
      {
        pkceCodeVerifier: pending.codeVerifier,
        expectedState: pending.state,
        expectedNonce: pending.nonce,
        idTokenExpected: true,
      },
      { resource },
    );
    const { sub = '', name, roles }: Partial<client.IDToken> = response.claims() ?? {};
    return {
      person: { id: sub, name: typeof name === 'string' ? name : sub, roles: rolesIn(roles) },
      tokens: this.#tokensIn(response),
    };
  }

  /** New tokens; `undefined` when the provider gives none any more: then the session is over. */
  async renew({ refreshToken }: Tokens): Promise<Tokens | undefined> {
    if (refreshToken === undefined) return undefined;
    try {
      const { resource } = this.#settings;
      const response = await client.refreshTokenGrant(this.#config, refreshToken, { resource });
      const tokens = this.#tokensIn(response);
      return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
    } catch (error) {
      if (error instanceof client.ResponseBodyError) return undefined;
      throw error;
    }
  }

  /** Where the provider's own session ends. The browser goes there, and comes back signed out. */
  endSessionUrl(): string {
    // Without the ID token as a hint: it names the person, and would stay in the browser's history.
    return client.buildEndSessionUrl(this.#config, {
      post_logout_redirect_uri: `${this.#settings.origin}/`,
    }).href;
  }

  /** Takes the right to new tokens back. A provider that does not answer does not keep a person signed in. */
  async revoke({ refreshToken }: Tokens): Promise<void> {
    if (refreshToken === undefined) return;
    try {
      await client.tokenRevocation(this.#config, refreshToken);
    } catch {
      // It ends with the provider's session.
    }
  }

  get #redirectUri(): string {
    return `${this.#settings.origin}/callback`;
  }

  #tokensIn(response: client.TokenEndpointResponse): Tokens {
    // OAuth 2.0 §5.1: without a word about its life, an access token is not relied on.
    const lifeMs = (response.expires_in ?? 0) * 1000;
    return {
      accessToken: response.access_token,
      expiresAtMs: this.#settings.monotonicMs() + lifeMs,
      refreshToken: response.refresh_token,
      scopes: (response.scope ?? '').split(' '),
    };
  }
}

function rolesIn(claim: unknown): readonly Role[] {
  const named: readonly unknown[] = Array.isArray(claim) ? claim : [];
  return (['analyst', 'lead'] as const).filter((role) => named.includes(role));
}
