import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** A user whom the identity provider knows. */
export interface User {
  readonly subject: string;
  /** With `+` and country code. */
  readonly phoneNumber: string;
}

/** Stands for your identity provider: signs users in, and publishes the key that it signs with. */
export interface IdentityProvider extends AsyncDisposable {
  /** The settings by which the BFF believes its tokens. */
  readonly settings: Readonly<Record<'JWT_JWKS_URL' | 'JWT_ISSUER' | 'JWT_AUDIENCE', string>>;
  /** The access token that the app gets when this user signs in; their number is verified unless said otherwise. */
  signIn(user: User, isVerified?: boolean): Promise<string>;
}

/** Who the BFF is to the identity provider. */
const AUDIENCE = 'sim-swap-bff';
const ALGORITHM = 'ES256';
const KEY_ID = 'example';

/** Starts one with a new key, on a free port. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM);
  const publicJwk = { ...(await exportJWK(publicKey)), kid: KEY_ID, alg: ALGORITHM, use: 'sig' };
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ keys: [publicJwk] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    settings: {
      JWT_JWKS_URL: `${issuer}/jwks`,
      JWT_ISSUER: issuer,
      JWT_AUDIENCE: AUDIENCE,
    },
    signIn: ({ subject, phoneNumber }, isVerified = true) =>
      // OpenID Connect Core §5.1: whose number it is counts only beside the word that it was verified.
      new SignJWT({
        client_id: 'mobile-app',
        phone_number: phoneNumber,
        phone_number_verified: isVerified,
      })
        .setProtectedHeader({ alg: ALGORITHM, kid: KEY_ID, typ: 'at+jwt' })
        .setIssuer(issuer)
        .setAudience(AUDIENCE)
        .setSubject(subject)
        .setIssuedAt()
        .setExpirationTime('10 minutes')
        .sign(privateKey),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
