import { createPrivateKey, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Clock } from '../system/clock.ts';
import type { AssertionSettings, AuthorizationSettings } from './authorizationSettings.ts';

export interface ClientProof {
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Further members of the form, encoded. */
  readonly form: string;
}

/** The same proof each time, or a function that makes one for an address: the `jti` of an assertion is valid once. */
export type ClientAuthentication = ClientProof | ((address: string) => Promise<ClientProof>);

export const NO_PROOF: ClientProof = { headers: [], form: '' };

/** docs/operator-api.md, "Who we are". */
export function createClientAuthentication(
  settings: Pick<AuthorizationSettings, 'clientId' | 'clientAuthentication'>,
  clock: Clock,
): ClientAuthentication {
  const { clientId } = settings;
  const { method, secret, assertion, headers } = settings.clientAuthentication;
  switch (method) {
    case 'basic':
      return { headers: basic(clientId, secret), form: '' };
    case 'post':
      return { headers: [], form: encodeForm({ client_id: clientId, client_secret: secret }) };
    // RFC 7523 §3.
    case 'private_key_jwt':
    case 'both': {
      const sign = createJwtSigner(assertion, clock);
      const authorization = method === 'both' ? basic(clientId, secret) : [];
      return async (address) => ({
        headers: authorization,
        form: encodeForm({
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: await sign(address),
        }),
      });
    }
    case 'bearer_jwt': {
      const sign = createJwtSigner(assertion, clock);
      return async (address) => ({
        headers: ['authorization', `Bearer ${await sign(address)}`],
        form: '',
      });
    }
    // RFC 8705 §2: the certificate belongs to the connection.
    case 'tls':
      return { headers: [], form: encodeForm({ client_id: clientId }) };
    case 'headers':
      return { headers: Object.entries(headers).flat(), form: '' };
  }
}

/** Not form-encoded first, unlike RFC 6749 §2.3.1 (docs/operator-api.md, "Who we are"). */
function basic(clientId: string, secret: string): readonly string[] {
  const credentials = Buffer.from(`${clientId}:${secret}`, 'utf8').toString('base64');
  return ['authorization', `Basic ${credentials}`];
}

/** Signs a JWT for the exchange with an address. The claims are added to those of every JWT of ours. */
type JwtSigner = (address: string, claims?: Readonly<Record<string, unknown>>) => Promise<string>;

/** Makes JWTs with the claims of the profile, each with its own `jti`, which is valid once. */
export function createJwtSigner(
  { privateKeyPem, alg, kid, audience, claims: ownClaims, lifetimeSeconds }: AssertionSettings,
  clock: Clock,
): JwtSigner {
  const privateKey = createPrivateKey(privateKeyPem);
  return async (address, claims) => {
    const issuedAtSeconds = Math.floor(clock.nowMs() / 1000);
    return new SignJWT({ ...ownClaims(audience ?? address), ...claims })
      .setProtectedHeader({ alg, typ: 'JWT', ...(kid === undefined ? {} : { kid }) })
      .setJti(randomUUID())
      .setIssuedAt(issuedAtSeconds)
      .setExpirationTime(issuedAtSeconds + lifetimeSeconds)
      .sign(privateKey);
  };
}

/** RFC 6749 appendix B. Pure. */
export function encodeForm(members: Readonly<Record<string, string>>): string {
  return new URLSearchParams(members).toString();
}
