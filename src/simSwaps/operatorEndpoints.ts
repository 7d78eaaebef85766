import type { SilentReplies } from '../wire/echo.ts';
import type { SharedByEndpoints } from '../wire/endpoint.ts';
import { PublishedJson } from '../wire/publishedJson.ts';
import type { GuardedEndpoint } from '../resilience/guardedEndpoint.ts';
import { ENDPOINT_LABELS } from '../operator/operatorEndpoint.ts';
import {
  LOOKUP_ENDPOINTS,
  sendsPhoneNumber,
  type EndpointName,
  type OperatorSettings,
} from '../operator/operatorSettings.ts';
import {
  AUTHORIZATION_ENDPOINTS,
  authorizationEndpointsOf,
  namesNumber,
} from '../tokens/authorizationSettings.ts';
import { DiscoveredEndpoint, Discovery } from '../tokens/discovery.ts';
import type { AuthorizationEndpoints } from '../tokens/tokenManager.ts';

/**
 * How replies over HTTP/1.1 are handled at an endpoint that echoes nothing. Some operators answer by the token,
 * whatever the body says: a token endpoint keeps its connections only where its tokens name no number, or where a
 * lookup with another's is refused. Pure.
 */
export function silentReplies(settings: OperatorSettings, endpoint: EndpointName): SilentReplies {
  switch (endpoint) {
    case 'token': {
      if (!namesNumber(settings.grant)) return 'alike';
      // A token that is used again would do its harm again.
      const isUsedOnce = settings.tokens.use === 'once';
      const isRefused = settings.tokenMismatch === 'refused' && sendsPhoneNumber(settings);
      return isUsedOnce && isRefused ? 'checked' : 'fresh';
    }
    case 'backchannelAuthentication':
    case 'cibaToken':
    case 'retrieveDate':
    case 'check':
      return 'fresh';
  }
}

export type CreateEndpoint = (name: EndpointName, url: string) => GuardedEndpoint;

/** The names in the log, metrics and diagnostics. */
export function endpointNames({ grant }: Pick<OperatorSettings, 'grant'>): readonly string[] {
  return [...authorizationEndpointsOf(grant), ...LOOKUP_ENDPOINTS].map(
    (name) => ENDPOINT_LABELS[name],
  );
}

/** The endpoints at the addresses of the settings, or at those of the discovery document at that time. */
export function authorizationEndpoints(
  { authorization, grant }: OperatorSettings,
  create: CreateEndpoint,
  parts: Pick<SharedByEndpoints, 'clock' | 'log'>,
): { readonly endpoints: AuthorizationEndpoints; close(): Promise<void> } {
  switch (authorization.from) {
    case 'settings': {
      const { addresses } = authorization;
      const endpoints = eachOf(AUTHORIZATION_ENDPOINTS, (name) => create(name, addresses[name]));
      return { endpoints, close: () => closeAll(Object.values(endpoints)) };
    }
    case 'nowhere': {
      // Never called: there is nothing to connect to.
      const never = {
        post: () => Promise.reject(new Error('There is no token step.')),
        distrust: () => undefined,
      };
      return {
        endpoints: eachOf(AUTHORIZATION_ENDPOINTS, () => never),
        close: () => Promise.resolve(),
      };
    }
    case 'discovery': {
      const { documentUrl, connection } = authorization;
      const published = new PublishedJson(documentUrl, connection, parts);
      const discovery = new Discovery({
        source: authorization,
        needed: authorizationEndpointsOf(grant),
        fetch: () => published.fetch(),
        clock: parts.clock,
        log: parts.log,
        random: Math.random,
      });
      const endpoints = eachOf(
        AUTHORIZATION_ENDPOINTS,
        (name) => new DiscoveredEndpoint(name, discovery, (url) => create(name, url)),
      );
      return {
        endpoints,
        close() {
          discovery.close();
          return closeAll([published, ...Object.values(endpoints)]);
        },
      };
    }
  }
}

export function eachOf<N extends string, T>(
  names: readonly N[],
  make: (name: N) => T,
): Record<N, T> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its members are these names, and no others
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<N, T>;
}

export async function closeAll(all: readonly { close(): Promise<void> }[]): Promise<void> {
  await Promise.all(all.map((one) => one.close()));
}
