import type { Clock } from '../system/clock.ts';
import type { AssertionSettings, ClientAuthenticationSettings } from './authorizationSettings.ts';
import { createJwtSigner } from './signedJwt.ts';

export interface ClientProof {
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Further members of the form. */
  readonly form: Readonly<Record<string, string>>;
}

/** Makes the proof of one exchange with an address; each has an assertion of its own, for a `jti` counts once. */
export type ClientAuthentication = (address: string) => ClientProof | Promise<ClientProof>;

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Builds the client authentication that the settings ask for (docs/operator-api.md, "Who we are"). */
export function createClientAuthentication(
  clientId: string,
  settings: ClientAuthenticationSettings,
  clock: Clock,
): ClientAuthentication {
  switch (settings.method) {
    case 'basic': {
      const proof = { headers: basic(clientId, settings.secret), form: {} };
      return () => proof;
    }
    case 'post': {
      const form = { client_id: clientId, client_secret: settings.secret };
      return () => ({ headers: [], form });
    }
    case 'private_key_jwt':
      return asserting(settings.assertion, [], clock);
    case 'both':
      return asserting(settings.assertion, basic(clientId, settings.secret), clock);
    case 'bearer_jwt': {
      const sign = createJwtSigner(settings.assertion, clock);
      return async (address) => ({
        headers: ['authorization', `Bearer ${await sign(address)}`],
        form: {},
      });
    }
    case 'headers': {
      const proof = { headers: Object.entries(settings.headers).flat(), form: {} };
      return () => proof;
    }
  }
}

/** With an assertion of RFC 7523 §3. */
function asserting(
  assertion: AssertionSettings,
  headers: readonly string[],
  clock: Clock,
): ClientAuthentication {
  const sign = createJwtSigner(assertion, clock);
  return async (address) => ({
    headers,
    form: {
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await sign(address),
    },
  });
}

/**
 * base64(client_id:client_secret), not form-encoded first as RFC 6749 §2.3.1 has it (docs/operator-api.md, "Who
 * we are").
 */
function basic(clientId: string, secret: string): readonly string[] {
  const credentials = Buffer.from(`${clientId}:${secret}`, 'utf8').toString('base64');
  return ['authorization', `Basic ${credentials}`];
}
