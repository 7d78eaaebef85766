import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey, JWK, JWTPayload } from 'jose';
import type { SIGNING_ALGORITHMS } from '../../src/caller/caller.ts';
import { RecordingServer } from '../wire/recordingServer.ts';

type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

/** Of three kinds; making the keys of all algorithms takes long. */
export const USUAL_ALGORITHMS = ['RS256', 'PS256', 'ES256'] as const;

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

/** The claims of a token, unless a test has others. */
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
  /** What it publishes; it signs with the first. */
  keys: readonly IssuerKey[];
  /** Anything but 200 brings no keys. */
  status = 200;
  /** What its replies wait for. */
  held: Promise<void> = Promise.resolve();
  readonly #server: RecordingServer;

  private constructor(keys: readonly IssuerKey[], server: RecordingServer) {
    this.keys = keys;
    this.#server = server;
  }

  static async start(): Promise<TestIssuer> {
    const keys = await Promise.all(USUAL_ALGORITHMS.map((alg) => createKey(alg)));
    const server = await RecordingServer.start((_, response) => {
      const headers = { 'content-type': 'application/json', location: '/elsewhere' };
      const published = { keys: issuer.keys.map(({ publicJwk }) => publicJwk) };
      const reply = (): unknown =>
        response.writeHead(issuer.status, headers).end(JSON.stringify(published));
      void issuer.held.then(reply);
    });
    const issuer = new TestIssuer(keys, server);
    return issuer;
  }

  get fetches(): number {
    return this.#server.received.length;
  }

  get jwksUrl(): string {
    return `${this.#server.url}/jwks`;
  }

  key(): IssuerKey {
    const [first] = this.keys;
    if (first === undefined) throw new Error('The issuer has no key.');
    return first;
  }

  /** A token that is valid now. */
  token(claims: JWTPayload = {}): Promise<string> {
    return sign(this.key(), claimsAt(Date.now(), claims));
  }

  /** The settings of a service that accepts its tokens. */
  get settings(): Readonly<Record<string, string>> {
    return { JWT_JWKS_URL: this.jwksUrl, JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE };
  }

  close(): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }
}
