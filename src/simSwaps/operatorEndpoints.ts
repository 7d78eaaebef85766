import { EchoPolicy, type SilentReplies } from '../http/echo.ts';
import type { SharedByEndpoints } from '../http/connections/endpoint.ts';
import { PublishedJson } from '../http/connections/publishedJson.ts';
import { Circuit } from '../http/resilience/circuit.ts';
import type { DpopExchanges } from '../http/resilience/dpopExchanges.ts';
import { GuardedEndpoint } from '../http/resilience/guardedEndpoint.ts';
import { RequestRate } from '../http/resilience/requestRate.ts';
import type { ExchangeKind, RetryBudget } from '../http/resilience/retries.ts';
import type { ProfileHeader } from '../domain/profile.ts';
import type { EndpointName } from '../http/wireSettings.ts';
import { createOperatorEndpoint, ENDPOINT_LABELS } from '../operator/operatorEndpoint.ts';
import {
  LOOKUP_ENDPOINTS,
  sendsPhoneNumber,
  settingName,
  type OperatorSettings,
} from '../operator/operatorSettings.ts';
import {
  asksOwner,
  AUTHORIZATION_ENDPOINTS,
  authorizationEndpointsOf,
  namesNumber,
} from '../tokens/authorizationSettings.ts';
import { DiscoveredEndpoint, Discovery } from '../tokens/discovery.ts';
import type { AuthorizationEndpoints } from '../tokens/tokenManager.ts';

/**
 * Over HTTP/1.1, of an endpoint that echoes nothing. Some operators answer by the token, whatever the body says: a token
 * endpoint keeps its connections only where its tokens name no number, or where a lookup with another's is refused. Pure.
 */
export function silentReplies(settings: OperatorSettings, endpoint: EndpointName): SilentReplies {
  switch (endpoint) {
    case 'token': {
      if (!namesNumber(settings.grant)) return 'alike';
      // One that is used again would do its harm again.
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

const KINDS: Readonly<Record<EndpointName, ExchangeKind>> = {
  token: 'client-credentials',
  backchannelAuthentication: 'backchannel-authentication',
  cibaToken: 'token-poll',
  retrieveDate: 'lookup',
  check: 'lookup',
};

/** As the log, metrics and diagnostics call them. */
export function endpointNames({ grant }: Pick<OperatorSettings, 'grant'>): readonly string[] {
  return [...authorizationEndpointsOf(grant), ...LOOKUP_ENDPOINTS].map(
    (name) => ENDPOINT_LABELS[name],
  );
}

export function guardedEndpoints(
  settings: OperatorSettings,
  headers: () => readonly ProfileHeader[],
  shared: SharedByEndpoints & {
    readonly budget: RetryBudget;
    readonly dpop: DpopExchanges | undefined;
  },
): CreateEndpoint {
  const { budget, dpop, clock, log } = shared;
  const { correlator, limits } = settings;
  const { requestsPerSecond } = limits;
  const common = {
    operator: settings.name,
    budget,
    rules: {
      canTakeNewToken: !asksOwner(settings.flow) && settings.grant.type !== 'none',
      retriesDoubtfulLookups: settings.retryLookups,
    },
    rate: requestsPerSecond === undefined ? undefined : new RequestRate(requestsPerSecond, clock),
    dpop,
    errors: settings.errors,
    nameSetting: (member: string) => settingName(settings, member),
    correlatorForm: correlator.form,
    clock,
    log,
    random: Math.random,
  };
  return (name, url) => {
    const silent = silentReplies(settings, name);
    const replyCheck = new EchoPolicy(correlator.echo, silent, clock, correlator.header);
    const endpoint = createOperatorEndpoint(settings, { name, url, headers, replyCheck }, shared);
    const own = { name: ENDPOINT_LABELS[name], kind: KINDS[name], circuit: new Circuit(clock) };
    return new GuardedEndpoint(endpoint, { ...common, ...own });
  };
}

/** At the addresses of the settings, or at those of the discovery document as it is by then. */
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
