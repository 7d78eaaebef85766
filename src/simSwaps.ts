import type { Clock } from './clock.ts';
import { byLongestPrefix, type NumberPrefix } from './domain/numberPrefix.ts';
import type { PhoneNumber } from './domain/phoneNumber.ts';
import { AbortListeners } from './http/abortListeners.ts';
import { EchoPolicy, type EchoSetting, type ReplyCheck } from './http/echo.ts';
import { Endpoint, type SharedByEndpoints } from './http/endpoint.ts';
import type { EndpointName, OperatorHeader } from './http/wireSettings.ts';
import { Bulkhead } from './http/resilience/bulkhead.ts';
import { Circuit } from './http/resilience/circuit.ts';
import { GuardedEndpoint } from './http/resilience/guardedEndpoint.ts';
import { RetryBudget } from './http/resilience/retryBudget.ts';
import { decideRetry, type ExchangeKind } from './http/resilience/retryDecision.ts';
import { createSimSwapLoader, type SimSwapLoader } from './loaders/simSwapLoader.ts';
import type { Log } from './log.ts';
import { AUDIT_BUDGET_MS, OPEN_ADMISSION, type Admission } from './lookups/admission.ts';
import type { ConsentSettings } from './lookups/consentSettings.ts';
import { ConsentedLookups } from './lookups/consentedLookups.ts';
import { DirectLookups } from './lookups/directLookups.ts';
import { Executor } from './lookups/executor.ts';
import { KeptAnswers } from './lookups/keptAnswers.ts';
import type { KeptFacts } from './lookups/keptFacts.ts';
import type { LookupRequest, LookupRoute } from './lookups/lookupRoute.ts';
import { MemoryKeptFacts } from './lookups/memoryKeptFacts.ts';
import type { RoutedOperator } from './lookups/operators.ts';
import { SharedLookups } from './lookups/sharedLookups.ts';
import { Operator } from './operator/operator.ts';
import { operatorLog } from './operator/operatorLog.ts';
import type { OperatorSettings } from './operator/operatorSettings.ts';
import { judgeCheck, judgeRetrieveDate, type LookupJudges } from './operator/responses.ts';
import { COMMAND_TIMEOUT_MS } from './sharedState/sharedStateLost.ts';
import {
  asksOwner,
  type AuthorizationAddresses,
  type CibaGrant,
} from './tokens/authorizationSettings.ts';
import { createClientAuthentication } from './tokens/clientAuthentication.ts';
import type { ConsentStore } from './tokens/consents/consentStore.ts';
import { MemoryConsentStore } from './tokens/consents/memoryConsentStore.ts';
import { TokenManager } from './tokens/tokenManager.ts';

/** SIM swap answers: everything below GraphQL and HTTP, with no server and no store of its own. */
export interface SimSwaps {
  /** The loader of one request. */
  forRequest(request: LookupRequest): SimSwapLoader;
  /** Waits for what must not be cut, then closes the connections. */
  close(): Promise<void>;
}

/** What one operator's numbers leave behind for further requests. */
export interface OperatorStores {
  readonly consents: ConsentStore;
  readonly keptFacts: KeptFacts;
}

/** One operator to ask. */
export interface OperatorParts {
  readonly settings: OperatorSettings;
  /** Where absent, consents lie in this process and the facts of the 2-legged flow are not kept. */
  readonly stores?: OperatorStores;
}

/** What is handed in from outside. */
export interface SimSwapParts {
  /** A number is asked about at the one whose prefix of it is the longest. */
  readonly operators: readonly OperatorParts[];
  readonly consent: ConsentSettings;
  readonly clock: Clock;
  readonly log: Log;
  /** Stands before every lookup; everything is admitted where absent. */
  readonly admission?: Admission;
  /** Overridden only by the chaos tests, which disable one check at a time. */
  readonly judges?: Judges;
}

/** Everything that decides whether what the operator sends may be believed, and sent again. */
export interface Judges extends LookupJudges {
  echo(setting: EchoSetting): ReplyCheck;
  readonly retry: typeof decideRetry;
}

const JUDGES: Judges = {
  echo: (setting) => new EchoPolicy(setting),
  retry: decideRetry,
  retrieveDate: judgeRetrieveDate,
  check: judgeCheck,
};

/** Puts the operators together: each has limits, circuits, a retry budget and stores of its own. */
export function createSimSwaps({ operators, ...parts }: SimSwapParts): SimSwaps {
  const abortListeners = new AbortListeners();
  const served = operators.map((operator) => createServedOperator(operator, parts, abortListeners));
  const byPrefix = new Map(
    served.flatMap((operator) => operator.prefixes.map((prefix) => [prefix, operator] as const)),
  );
  const of = (number: PhoneNumber) => byLongestPrefix(byPrefix, number);
  return {
    forRequest: (request) => createSimSwapLoader(new Executor({ of }, request)),
    async close() {
      await Promise.all(served.map((operator) => operator.close()));
    },
  };
}

interface ServedOperator extends RoutedOperator {
  readonly prefixes: readonly NumberPrefix[];
  readonly close: () => Promise<void>;
}

/** What all operators take. */
type SharedParts = Omit<SimSwapParts, 'operators'>;

/** One operator, from the route of its lookups down to its connections. */
function createServedOperator(
  { settings, stores }: OperatorParts,
  shared: SharedParts,
  abortListeners: AbortListeners,
): ServedOperator {
  const { name, prefixes } = settings;
  const parts = { ...shared, log: operatorLog(name, shared.log) };
  const endpoints: Endpoint[] = [];
  const guarded = guardedEndpoints(settings, parts, { abortListeners }, endpoints);
  const route = createRoute({
    ...parts,
    settings,
    stores: stores ?? storesInMemory(parts),
    admission: parts.admission ?? OPEN_ADMISSION,
    tokens: createTokenManager(settings, guarded, parts.clock),
    operator: createOperator(settings, guarded, parts),
  });
  return {
    name,
    prefixes,
    offer: settings,
    route,
    async close() {
      await route.close();
      await Promise.all(endpoints.map((one) => one.close()));
    },
  };
}

function storesInMemory({ clock, consent }: SharedParts): OperatorStores {
  const keptFor = { keepMs: 0, resultMs: consent.resultSeconds * 1000 };
  return {
    consents: new MemoryConsentStore(clock),
    keptFacts: new MemoryKeptFacts(clock, keptFor),
  };
}

type Guarded = (name: EndpointName, url: string) => GuardedEndpoint;

/** What the log calls each endpoint, and how its exchanges are retried. */
const ENDPOINTS: Readonly<
  Record<EndpointName, { readonly name: string; readonly kind: ExchangeKind }>
> = {
  token: { name: 'token', kind: 'client-credentials' },
  backchannelAuthentication: { name: 'bc-authorize', kind: 'backchannel-authentication' },
  cibaToken: { name: 'CIBA token', kind: 'token-poll' },
  retrieveDate: { name: 'retrieve-date', kind: 'lookup' },
  check: { name: 'check', kind: 'lookup' },
};

/** Makes the endpoints of one operator, which share its retry budget; adds each to those to be closed. */
function guardedEndpoints(
  settings: OperatorSettings,
  { judges = JUDGES, clock, log }: SharedParts,
  shared: SharedByEndpoints,
  endpoints: Endpoint[],
): Guarded {
  const budget = new RetryBudget(clock);
  const rules = {
    canTakeNewToken: !asksOwner(settings.flow),
    retriesDoubtfulLookups: settings.retriesLookups,
  };
  return (name, url) => {
    const { timeoutMs, connections } = settings.limits;
    const replyCheck = judges.echo(settings.correlator.echo);
    const headers = fixedHeaders(settings.headers, name);
    const endpoint = new Endpoint({ url, timeoutMs, connections, replyCheck, headers }, shared);
    endpoints.push(endpoint);
    return new GuardedEndpoint(endpoint, {
      ...ENDPOINTS[name],
      circuit: new Circuit(clock),
      budget,
      rules,
      decideRetry: judges.retry,
      clock,
      log,
      random: Math.random,
    });
  };
}

function fixedHeaders(
  headers: readonly OperatorHeader[],
  endpoint: EndpointName,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headers.flatMap(({ name, value, endpoints }) =>
      endpoints.has(endpoint) && value.kind === 'fixed' ? [[name, value.text]] : [],
    ),
  );
}

/** Service, "Endpoints" 1 to 3. */
function createTokenManager(
  settings: OperatorSettings,
  guarded: Guarded,
  clock: Clock,
): TokenManager {
  const { clientId, clientAuthentication } = settings;
  const addresses = authorizationAddresses(settings);
  return new TokenManager(
    settings,
    {
      token: guarded('token', addresses.token),
      backchannelAuthentication: guarded(
        'backchannelAuthentication',
        addresses.backchannelAuthentication,
      ),
      cibaToken: guarded('cibaToken', addresses.cibaToken),
    },
    createClientAuthentication(clientId, clientAuthentication, clock),
    clock,
  );
}

function authorizationAddresses({ authorization }: OperatorSettings): AuthorizationAddresses {
  switch (authorization.from) {
    case 'settings':
      return authorization.addresses;
    case 'discovery':
      throw new Error('The addresses of an authorization server are not known yet.');
  }
}

/** Service, "Endpoints" 4 and 5. */
function createOperator(
  settings: OperatorSettings,
  guarded: Guarded,
  { judges = JUDGES, clock }: SharedParts,
): Operator {
  const { lookupAddresses } = settings;
  return new Operator(
    settings,
    {
      retrieveDate: guarded('retrieveDate', lookupAddresses.retrieveDate),
      check: guarded('check', lookupAddresses.check),
    },
    judges,
    clock,
  );
}

/** What the route of one operator's lookups takes. */
interface RouteParts {
  readonly settings: OperatorSettings;
  readonly consent: ConsentSettings;
  readonly stores: OperatorStores;
  readonly admission: Admission;
  readonly tokens: TokenManager;
  readonly operator: Operator;
  readonly clock: Clock;
}

function createRoute(parts: RouteParts): LookupRoute {
  const { settings, stores, admission } = parts;
  const { keptFacts } = stores;
  switch (settings.flow) {
    case '2-legged': {
      const route = new SharedLookups(directLookups(parts), { keptFacts, admission });
      // There is nothing to recall unless facts are kept.
      if (keptFacts.keepMs === 0) return route;
      return new KeptAnswers(route, { keptFacts, admission, offer: settings });
    }
    case '3-legged':
      return new KeptAnswers(consentedLookups(parts, settings.grant), {
        keptFacts,
        admission,
        offer: settings,
      });
  }
}

/** Beyond it a batch waits longer than its callers do. */
const QUEUE = 10_000;

function bulkhead({ settings, clock }: RouteParts): Bulkhead {
  return new Bulkhead({ permits: settings.limits.permits, queue: QUEUE }, clock);
}

function directLookups(parts: RouteParts): DirectLookups {
  const { tokens, operator, admission, clock } = parts;
  const bulkheads = { 'retrieve-date': bulkhead(parts), check: bulkhead(parts) };
  return new DirectLookups({ tokens, operator, admission, bulkheads, clock });
}

function consentedLookups(parts: RouteParts, { firstPoll }: CibaGrant): ConsentedLookups {
  const { settings, consent, stores, admission, tokens, operator, clock } = parts;
  // An exchange and its one retry.
  const exchangeMs = 2 * settings.limits.timeoutMs;
  return new ConsentedLookups(
    {
      tokens,
      operator,
      admission,
      store: stores.consents,
      keptFacts: stores.keptFacts,
      offer: settings,
      rules: {
        doubtMs: consent.doubtSeconds * 1000,
        deniedMs: consent.deniedSeconds * 1000,
        failureMs: consent.failureSeconds * 1000,
        resultMs: consent.resultSeconds * 1000,
        leaseMs: exchangeMs + AUDIT_BUDGET_MS + 2 * COMMAND_TIMEOUT_MS,
        firstPoll,
      },
      bulkheads: { requests: bulkhead(parts), polls: bulkhead(parts) },
      exchangeMs,
      clock,
    },
    consent.waitMs,
  );
}
