import { addressProblem } from '../http/address.ts';
import type { DiscoverySource } from './authorizationSettings.ts';
import type { AuthorizationAddresses, AuthorizationEndpointName } from './authorizationSettings.ts';

/** The addresses that a document names; those that no grant of ours needs may be absent. */
export type DiscoveredAddresses = Partial<AuthorizationAddresses>;

export type DiscoveryFlaw =
  | 'no JSON object'
  | 'another issuer'
  | 'an endpoint is missing'
  | 'an endpoint without https'
  | 'an endpoint on another host';

export type ReadDiscovery =
  | { readonly kind: 'read'; readonly addresses: DiscoveredAddresses }
  | { readonly kind: 'refused'; readonly flaw: DiscoveryFlaw };

/** Where the metadata of OpenID Connect Discovery 1.0 §3 and OpenID CIBA Core §4 name each endpoint. */
const MEMBERS: Readonly<Record<AuthorizationEndpointName, string>> = {
  token: 'token_endpoint',
  backchannelAuthentication: 'backchannel_authentication_endpoint',
  cibaToken: 'token_endpoint',
};

/**
 * Reads the addresses of the endpoints that are needed. The document is that of the configured issuer (OpenID Connect
 * Discovery 1.0 §4.3), and its endpoints lie on hosts and ports that the settings name: our credentials are sent there,
 * and a document that was tampered with must not choose where. Pure.
 */
export function readDiscovery(
  document: unknown,
  { issuer, documentUrl, hosts }: Omit<DiscoverySource, 'connection'>,
  needed: readonly AuthorizationEndpointName[],
): ReadDiscovery {
  if (typeof document !== 'object' || document === null) return refused('no JSON object');
  const metadata: Readonly<Record<string, unknown>> = { ...document };
  if (metadata['issuer'] !== issuer) return refused('another issuer');
  const named = hosts.map((host) => hostOf(`https://${host}`));
  const trusted = new Set([hostOf(issuer), hostOf(documentUrl), ...named]);
  const addresses: Partial<Record<AuthorizationEndpointName, string>> = {};
  for (const name of needed) {
    const address = metadata[MEMBERS[name]];
    if (typeof address !== 'string') return refused('an endpoint is missing');
    if (addressProblem(address) !== undefined) return refused('an endpoint without https');
    if (!trusted.has(hostOf(address))) return refused('an endpoint on another host');
    addresses[name] = new URL(address).href;
  }
  return { kind: 'read', addresses };
}

/** With its port, where that is not the one of the scheme. */
function hostOf(address: string): string {
  return new URL(address).host;
}

function refused(flaw: DiscoveryFlaw): ReadDiscovery {
  return { kind: 'refused', flaw };
}
