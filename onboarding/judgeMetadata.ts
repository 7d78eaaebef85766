import type { OperatorSettings } from '../src/operator/operatorSettings.ts';
import { scopeOf } from '../src/tokens/authorizationSettings.ts';
import type { DiscoveryFlaw } from '../src/tokens/discovery.ts';
import type { Finding } from './finding.ts';

/** The outcome of reading a discovery document. */
export type DiscoveryProbe =
  | { readonly kind: 'read'; readonly metadata: unknown }
  | { readonly kind: 'refused'; readonly flaw: DiscoveryFlaw }
  /** With the code of what broke, or the name of the error. */
  | { readonly kind: 'broke'; readonly code: string };

/**
 * Judges a discovery document, except for the addresses in it. Pure.
 *
 * @param purpose as it is sent to the operator
 */
export function judgeDiscovery(
  at: string,
  probe: DiscoveryProbe,
  settings: OperatorSettings,
  purpose: string,
): Finding {
  const row = { step: 'discovery', at } as const;
  switch (probe.kind) {
    case 'broke':
      return {
        ...row,
        verdict: 'failed',
        found: probe.code === 'timeout' ? 'no answer in time' : probe.code,
        advice:
          'The discovery document cannot be read. Compare discovery.issuer and discovery.documentUrl with the onboarding papers.',
      };
    case 'refused':
      return { ...row, verdict: 'failed', found: probe.flaw, advice: ON_FLAW[probe.flaw] };
    case 'read': {
      const lacking = notSupported(probe.metadata, settings, purpose);
      if (lacking.length === 0) return { ...row, verdict: 'ok', found: 'read' };
      return {
        ...row,
        verdict: 'warning',
        found: `does not name ${lacking.join(', ')}`,
        advice:
          'The document does not name what the settings require of the operator. Not every operator lists all that it takes: compare with the onboarding papers.',
      };
    }
  }
}

const ON_FLAW: Readonly<Record<DiscoveryFlaw, string>> = {
  'no JSON object':
    'What is published there is not a discovery document. Check discovery.documentUrl.',
  'another issuer':
    'The document is that of another issuer. Write discovery.issuer letter by letter as the operator does, with or without a slash at its end.',
  'an endpoint is missing':
    'The document lacks an endpoint that the flow needs. Check flow and discovery; name authUrl and paths instead where the papers have them.',
  'an endpoint without https':
    'The document names an endpoint without https: nothing is sent there. Ask the operator.',
  'an endpoint on another host':
    'The document names an endpoint on a host that the settings do not know, and credentials would be sent there. If the papers name that host, add it to discovery.hosts.',
};

/** OpenID Connect Discovery 1.0 §3, OpenID CIBA Core §4: an absent list means nothing. */
function notSupported(
  metadata: unknown,
  settings: OperatorSettings,
  purpose: string,
): readonly string[] {
  const members: Readonly<Record<string, unknown>> =
    typeof metadata === 'object' && metadata !== null ? { ...metadata } : {};
  return requirementsOf(settings, purpose).flatMap(([list, wanted]) => {
    const named = members[list];
    return Array.isArray(named) ? wanted.filter((one) => !named.includes(one)) : [];
  });
}

function requirementsOf(
  settings: OperatorSettings,
  purpose: string,
): readonly (readonly [string, readonly string[]])[] {
  const { grant, scopes, operations, clientAuthentication } = settings;
  const scopeNames = [...operations].flatMap((operation) =>
    scopeOf(scopes, { operation, purpose }).split(' '),
  );
  const { method } = clientAuthentication;
  return [
    ['scopes_supported', [...new Set(scopeNames)].filter((one) => one !== '')],
    ['grant_types_supported', [grantTypeOf(grant)].filter((type) => type !== undefined)],
    ['token_endpoint_auth_methods_supported', METHODS[method] ?? []],
    ['backchannel_token_delivery_modes_supported', grant.type === 'ciba' ? ['poll'] : []],
  ];
}

function grantTypeOf(grant: OperatorSettings['grant']): string | undefined {
  switch (grant.type) {
    case 'none':
      return undefined;
    case 'client_credentials':
      return grant.type;
    case 'jwt-bearer':
      return 'urn:ietf:params:oauth:grant-type:jwt-bearer';
    case 'ciba':
      return grant.grantType;
  }
}

const METHODS: Readonly<
  Partial<Record<OperatorSettings['clientAuthentication']['method'], readonly string[]>>
> = {
  basic: ['client_secret_basic'],
  post: ['client_secret_post'],
  private_key_jwt: ['private_key_jwt'],
};
