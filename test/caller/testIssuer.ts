import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type JWK, type JWTPayload } from 'jose';
import type { CryptoKey } from 'jose';
import { SIGNING_ALGORITHMS } from '../../src/caller/caller.ts';

type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

export const ISSUER = 'https://issuer.example';
export const AUDIENCE = 'sim-swap';

/** A key of an issuer: what it signs with, and what it publishes. */
export interface IssuerKey {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export async function createKey(alg: SigningAlgorithm, kid: string = alg): Promise<IssuerKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
  return { kid, alg, privateKey, publicJwk };
}

/** What a token says unless a test says otherwise. */
export function claimsAt(nowMs: number, others: JWTPayload = {}): JWTPayload {
  const nowSeconds = Math.floor(nowMs / 1000);
  return {
    iss: ISSUER,
    aud: AUDIENCE,
    sub: 'alice',
    client_id: 'app',
    iat: nowSeconds,
    exp: nowSeconds + 300,
    ...others,
  };
}

export function sign(
  { alg, kid, privateKey }: IssuerKey,
  claims: JWTPayload,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header })
    .sign(privateKey);
}

/** An issuer that publishes its keys over HTTP, and counts how often they are fetched. */
export class TestIssuer {
  readonly keys: IssuerKey[];
  fetches = 0;
  /** What it answers with; anything but 200 brings no keys. */
  status = 200;
  readonly #server: Server;

  private constructor(keys: IssuerKey[]) {
    this.keys = keys;
    this.#server = createServer((_request, response) => {
      this.fetches += 1;
      response.writeHead(this.status, {
        'content-type': 'application/json',
        ...(this.status === 302 ? { location: '/elsewhere' } : {}),
      });
      response.end(JSON.stringify({ keys: this.keys.map(({ publicJwk }) => publicJwk) }));
    });
  }

  static async start(): Promise<TestIssuer> {
    const keys = await Promise.all(SIGNING_ALGORITHMS.map((alg) => createKey(alg)));
    const issuer = new TestIssuer(keys);
    issuer.#server.listen(0, '127.0.0.1');
    await once(issuer.#server, 'listening');
    return issuer;
  }

  get jwksUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/jwks`;
  }

  key(alg: SigningAlgorithm = 'RS256'): IssuerKey {
    const found = this.keys.find((key) => key.alg === alg);
    if (found === undefined) throw new Error('The issuer has no such key.');
    return found;
  }

  /** A token that is good now. */
  token(claims: JWTPayload = {}): Promise<string> {
    return sign(this.key(), claimsAt(Date.now(), claims));
  }

  /** The settings by which a server knows this issuer. */
  get settings(): Readonly<Record<string, string>> {
    return { JWT_JWKS_URL: this.jwksUrl, JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
