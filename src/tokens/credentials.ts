import type { AuthorizationSettings, FlowSettings } from './authorizationSettings.ts';

/** All that operators renew from time to time: secrets and private keys, and how they are shown. */
type Credentials = Pick<AuthorizationSettings, 'clientAuthentication' | 'signedRequest'>;

/** The settings without what may change while consents live and connections are kept. Pure. */
export function withoutCredentials(
  settings: Credentials & { readonly grant: FlowSettings['grant'] },
): object {
  const { clientAuthentication: _proof, signedRequest: _signing, grant, ...lasting } = settings;
  return { ...lasting, grant: withoutKey(grant) };
}

function withoutKey(grant: FlowSettings['grant']): object {
  switch (grant.type) {
    case 'jwt-bearer': {
      const { assertion: _assertion, ...lasting } = grant;
      return lasting;
    }
    case 'client_credentials':
    case 'ciba':
      return grant;
  }
}
