import type { AuthorizationSource } from '../tokens/authorizationSettings.ts';
import type { OperatorSettings } from './operatorSettings.ts';

/** What decides with whom a consent was begun, and so with whom it can be pursued. */
export type OperatorIdentitySettings = Pick<
  OperatorSettings,
  'name' | 'flow' | 'clientId' | 'lookupAddresses' | 'authorization'
>;

/**
 * Tells one operator from another wherever consents and facts are kept: the same number at another operator, at another
 * authorization server or by another client is another. Credentials and limits may change under it. Pure.
 */
export function operatorIdentityOf(settings: OperatorIdentitySettings): string {
  const { name, flow, clientId, lookupAddresses, authorization } = settings;
  const { origin } = new URL(lookupAddresses.check);
  return [name, origin, clientId, flow, ...placesOf(authorization)].join(' ');
}

/** The name in an identity: names have no spaces. Pure. */
export function operatorNameOf(identity: string): string {
  return identity.split(' ', 1).join('');
}

function placesOf(source: AuthorizationSource): readonly string[] {
  switch (source.from) {
    case 'settings':
      return [source.addresses.backchannelAuthentication, source.addresses.cibaToken];
    case 'nowhere':
      return [];
    case 'discovery':
      return [source.issuer, source.documentUrl];
  }
}
