import { createLocalJWKSet, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose';

/** The one client that the simulator knows. */
export interface ClientAccount {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Its public keys, for assertions. */
  readonly jwks?: JSONWebKeySet;
  /** What it must present: Basic, an assertion, or both. */
  readonly authentication: 'basic' | 'private_key_jwt' | 'both';
}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const MAX_ASSERTION_SECONDS = 300;

/** Checks the clients that request tokens (docs/operator-api.md, "Who we are"; RFC 7523 §3). */
export class Clients {
  readonly #account: ClientAccount;
  readonly #nowMs: () => number;
  /** The assertions that were accepted, by their id, and when each of them expires. */
  readonly #seenIds = new Map<string, number>();

  constructor(account: ClientAccount, nowMs: () => number) {
    this.#account = account;
    this.#nowMs = nowMs;
  }

  async accepts(
    authorization: string | undefined,
    form: URLSearchParams,
    audience: string,
  ): Promise<boolean> {
    const { authentication } = this.#account;
    const showsSecret = authorization === this.#basic();
    const showsAssertion = await this.#acceptsAssertion(form, audience);
    switch (authentication) {
      case 'basic':
        return showsSecret;
      case 'private_key_jwt':
        return showsAssertion && authorization === undefined;
      case 'both':
        return showsSecret && showsAssertion;
    }
  }

  #basic(): string {
    const { clientId, clientSecret } = this.#account;
    return `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  }

  async #acceptsAssertion(form: URLSearchParams, audience: string): Promise<boolean> {
    const assertion = form.get('client_assertion');
    if (assertion === null || form.get('client_assertion_type') !== ASSERTION_TYPE) return false;
    const payload = await this.read(assertion, audience);
    return payload?.sub === this.#account.clientId;
  }

  /** The claims of the client's JWT; `undefined` where it is not one, or was used before. */
  async read(assertion: string, audience: string): Promise<JWTPayload | undefined> {
    const { jwks, clientId } = this.#account;
    if (jwks === undefined) return undefined;
    try {
      const { payload } = await jwtVerify(assertion, createLocalJWKSet(jwks), {
        issuer: clientId,
        audience,
        algorithms: ['ES256', 'PS256', 'RS256'],
        requiredClaims: ['exp', 'jti', 'sub'],
        currentDate: new Date(this.#nowMs()),
      });
      const { jti = '', exp = 0, iat = exp } = payload;
      const livesTooLong =
        exp > this.#nowMs() / 1000 + MAX_ASSERTION_SECONDS || exp - iat > MAX_ASSERTION_SECONDS;
      if (livesTooLong || this.#seenIds.has(jti)) return undefined;
      this.#forgetExpired();
      this.#seenIds.set(jti, exp);
      return payload;
    } catch {
      return undefined;
    }
  }

  #forgetExpired(): void {
    for (const [jti, exp] of this.#seenIds) {
      if (exp * 1000 > this.#nowMs()) return;
      this.#seenIds.delete(jti);
    }
  }
}
