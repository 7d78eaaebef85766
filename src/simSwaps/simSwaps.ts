import type { Clock } from '../system/clock.ts';
import { noFiles, type WatchFiles } from '../files/fileWatch.ts';
import { AbortListeners } from '../http/abortListeners.ts';
import { ConnectionFiles } from '../http/connections/connectionFiles.ts';
import { EchoPolicy, type ReplyCheck, type SilentReplies } from '../http/echo.ts';
import { derived } from '../http/derived.ts';
import { IdleDetector } from '../http/connections/idleDetector.ts';
import type { OpenConnections } from '../http/connections/openConnections.ts';
import { Endpoint, type SharedByEndpoints } from '../http/connections/endpoint.ts';
import { COMMON_ERRORS } from '../http/errorMap.ts';
import type { CorrelatorSettings, EndpointName, OperatorHeader } from '../http/wireSettings.ts';
import { Bulkhead, type BulkheadLoad } from '../http/resilience/bulkhead.ts';
import { Circuit } from '../http/resilience/circuit.ts';
import { PublishedJson } from '../http/connections/publishedJson.ts';
import { GuardedEndpoint } from '../http/resilience/guardedEndpoint.ts';
import { RequestRate } from '../http/resilience/requestRate.ts';
import { RetryBudget } from '../http/resilience/retryBudget.ts';
import { decideRetry, type ExchangeKind } from '../http/resilience/retryDecision.ts';
import { follow } from '../files/fromFiles.ts';
import { NumbersAtWork, type NumberLimits } from './numbersAtWork.ts';
import { createSimSwapLoader, type SimSwapLoader } from './simSwapLoader.ts';
import type { Log } from '../log/log.ts';
import {
  AUDIT_BUDGET_MS,
  OPEN_AUTHORIZERS,
  type LookupAuthorizer,
  type LookupAuthorizers,
} from '../lookups/lookupAuthorizer.ts';
import type { ConsentSettings } from '../consents/consentSettings.ts';
import { ConsentedLookups } from '../consents/consentedLookups.ts';
import { ConsentTokens } from '../consents/consentTokens.ts';
import { DirectLookups, type DirectParts } from '../lookups/directLookups.ts';
import { DirectoryAnswers } from '../lookups/directoryAnswers.ts';
import { Executor } from '../lookups/executor.ts';
import { KeptAnswers } from '../lookups/keptAnswers.ts';
import type { FactCache } from '../lookups/factCache.ts';
import type { LookupRequest, LookupRoute } from '../lookups/lookupRoute.ts';
import { MemoryFactCache } from '../lookups/memoryFactCache.ts';
import { KeyedMutex } from '../lookups/keyedMutex.ts';
import { OperatorsByDirectory } from '../lookups/operatorsByDirectory.ts';
import { OperatorsByPrefix, type ServingOperator } from '../lookups/operatorsByPrefix.ts';
import { ReusedConsents } from '../consents/reusedConsents.ts';
import { SharedLookups } from '../lookups/sharedLookups.ts';
import { Operator } from '../operator/operator.ts';
import { createOperatorEndpoint, ENDPOINT_LABELS } from '../operator/operatorEndpoint.ts';
import { logAbout } from '../log/logAbout.ts';
import { NumberDirectory } from '../operator/numberDirectory.ts';
import {
  LOOKUP_ENDPOINTS,
  type NumberDirectorySettings,
  type OperatorSettings,
} from '../operator/operatorSettings.ts';
import { judgeCheck, judgeRetrieveDate, type LookupJudges } from '../operator/responses.ts';
import { COMMAND_TIMEOUT_MS } from '../sharedState/sharedStateLost.ts';
import {
  asksOwner,
  AUTHORIZATION_ENDPOINTS,
  authorizationEndpointsOf,
  type DiscoverySource,
  type CibaGrant,
} from '../tokens/authorizationSettings.ts';
import { OperatorClock } from '../operator/operatorClock.ts';
import { silentReplies } from '../operator/silentReplies.ts';
import {
  createClientAuthentication,
  type ClientAuthentication,
} from '../tokens/clientAuthentication.ts';
import { DpopProofs } from '../tokens/dpop.ts';
import { tokenReach } from '../tokens/tokenReach.ts';
import type { ConsentStore } from '../consents/consentStore.ts';
import { MemoryConsentStore } from '../consents/memoryConsentStore.ts';
import { DiscoveredEndpoint } from '../tokens/discoveredEndpoint.ts';
import { Discovery } from '../tokens/discovery.ts';
import { SeenTokens } from '../tokens/seenTokens.ts';
import { TokenManager, type AuthorizationEndpoints } from '../tokens/tokenManager.ts';

/** SIM swap answers: everything below GraphQL and HTTP, with no server and no store of its own. */
export interface SimSwaps {
  /** The loader of one request. */
  forRequest(request: LookupRequest): SimSwapLoader;
  /** Whether an operator takes the consent of owners. */
  readonly asksOwners: boolean;
  /** How busy every bulkhead is at this moment. */
  load(): readonly OperatorLoad[];
  /** The connections that are open at this moment. */
  connections(): readonly EndpointConnections[];
  /** By how much our clock is ahead of those of operators that have shown theirs. */
  clocks(): readonly ClockAhead[];
  /** Waits for what must not be cut, then closes the connections. */
  close(): Promise<void>;
}

/** By how much our clock is ahead of an operator's. */
export interface ClockAhead {
  readonly operator: string;
  readonly aheadMs: number;
}

/** How busy one bulkhead of an operator is. */
export interface OperatorLoad extends BulkheadLoad {
  readonly operator: string;
  /** What it does: lookups of an operation, or requests for consent and their polls. */
  readonly work: BulkheadName;
}

/** How many connections to one endpoint of an operator are open. */
export interface EndpointConnections {
  readonly operator: string;
  /** As in the log. */
  readonly endpoint: string;
  readonly connections: OpenConnections;
}

type BulkheadName = 'retrieve-date' | 'check' | 'requests' | 'polls';

/** What one operator's numbers leave behind for further requests. */
export interface OperatorStores {
  readonly consents: ConsentStore;
  readonly factCache: FactCache;
}

/** One operator to ask. */
export interface OperatorParts {
  readonly settings: OperatorSettings;
  /** Where absent, consents lie in this process and the facts of the 2-legged flow are not kept. */
  readonly stores?: OperatorStores;
}

/** What all operators take, whatever their settings. */
export interface SharedParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Reads certificates, keys and proxy credentials; none can be read where absent. */
  readonly watchFiles?: WatchFiles;
  /** Stands before every lookup; everything is admitted where absent. */
  readonly admissions?: LookupAuthorizers;
  /** For all requests together; there are none where absent. */
  readonly numberLimits?: NumberLimits;
  /** Overridden only by the chaos tests, which disable one check at a time. */
  readonly judges?: Judges;
}

/** What is handed in from outside. */
export interface SimSwapParts extends SharedParts {
  /** A number is asked about at the one whose prefix of it is the longest. */
  readonly operators: readonly OperatorParts[];
  /** Says which operator serves a number, before any is asked; by prefix alone where absent. */
  readonly directory?: NumberDirectorySettings | undefined;
  readonly consent: ConsentSettings;
}

/** Everything that decides whether what the operator sends may be believed, and sent again. */
export interface Judges extends LookupJudges {
  echo(
    settings: Pick<CorrelatorSettings, 'echo' | 'header'>,
    silent: SilentReplies,
    clock: Clock,
  ): ReplyCheck;
  readonly retry: typeof decideRetry;
}

const JUDGES: Judges = {
  echo: ({ echo, header }, silent, clock) => new EchoPolicy(echo, silent, clock, header),
  retry: decideRetry,
  retrieveDate: judgeRetrieveDate,
  check: judgeCheck,
};

/**
 * Puts the operators together: each has limits, circuits, a retry budget and stores of its own.
 *
 * @throws {Error} when the settings name an operator that is not there
 */
export function createSimSwaps({
  operators,
  directory,
  consent,
  ...shared
}: SimSwapParts): SimSwaps {
  const abortListeners = new AbortListeners();
  const operatorClocks = new Set<OperatorClock>();
  const served = operators.map((operator) =>
    createServedOperator(operator, { ...shared, consent, operatorClocks }, abortListeners),
  );
  const byPrefix = new OperatorsByPrefix(served);
  const opened =
    directory === undefined ? undefined : openDirectory(directory, shared, abortListeners);
  const routing =
    directory === undefined || opened === undefined
      ? byPrefix
      : new OperatorsByDirectory({
          answers: opened.answers,
          fallback: directory.fallback,
          operators: byPrefix,
          log: shared.log,
        });
  const numbersAtWork = new NumbersAtWork(shared.numberLimits ?? NO_LIMITS, shared.clock);
  return {
    forRequest: (request) =>
      numbersAtWork.bound(request, createSimSwapLoader(new Executor(routing, request))),
    asksOwners: operators.some(({ settings }) => asksOwner(settings.flow)),
    load: () => served.flatMap((one) => one.load()),
    connections: () => served.flatMap((one) => one.connections()),
    clocks: () => served.flatMap((one) => one.clock() ?? []),
    async close() {
      await closeAll([...served, ...(opened === undefined ? [] : [opened])]);
    },
  };
}

/** What is open until it is needed no more. */
interface Closable {
  /** Waits for what must not be cut, then closes. */
  close(): Promise<void>;
}

/** An operator with its limits, circuits, connections and tokens. */
interface ServedOperator extends ServingOperator, Closable {
  readonly load: () => readonly OperatorLoad[];
  readonly connections: () => readonly EndpointConnections[];
  readonly clock: () => ClockAhead | undefined;
}

/** A number directory, with its connections. */
interface OpenedDirectory extends Closable {
  readonly answers: DirectoryAnswers;
}

const NO_LIMITS: NumberLimits = { atWork: Infinity, held: Infinity };

/** The company's number directory. */
function openDirectory(
  settings: NumberDirectorySettings,
  { judges = JUDGES, clock, log, watchFiles = noFiles }: SharedParts,
  abortListeners: AbortListeners,
): OpenedDirectory {
  const { url, timeoutMs } = settings;
  const own = { clock, log: logAbout({ operator: NUMBER_DIRECTORY }, log), watchFiles };
  const files = new ConnectionFiles(settings, own);
  let { headers } = settings;
  const unfollow = follow(settings.fromFiles, own, (renewed) => {
    headers = renewed.headers;
  });
  const endpoint = new Endpoint(
    {
      name: NUMBER_DIRECTORY,
      url,
      timeoutMs,
      connections: DIRECTORY_CONNECTIONS,
      http2: 'auto',
      replyCheck: judges.echo({ echo: 'auto', header: 'x-correlator' }, 'fresh', clock),
      headers: derived(
        () => headers,
        (named) => Object.entries(named).flat(),
      ),
    },
    { abortListeners, idleDetector: new IdleDetector(), clock, log, files },
  );
  const guarded = new GuardedEndpoint(endpoint, {
    name: NUMBER_DIRECTORY,
    operator: 'none',
    kind: 'directory',
    circuit: new Circuit(clock),
    budget: new RetryBudget(clock),
    rules: { canTakeNewToken: false, retriesDoubtfulLookups: false },
    rate: undefined,
    errors: COMMON_ERRORS,
    correlatorForm: 'traceable',
    decideRetry: judges.retry,
    clock,
    log,
    random: Math.random,
  });
  const directory = new NumberDirectory(guarded);
  return {
    answers: new DirectoryAnswers({ directory, settings, clock }),
    close() {
      unfollow();
      files.close();
      return endpoint.close();
    },
  };
}

/** As many as to an operator's endpoint. */
const NUMBER_DIRECTORY = 'number directory';
const DIRECTORY_CONNECTIONS = 256;

/** What one operator takes. */
interface OwnParts extends SharedParts {
  readonly consent: ConsentSettings;
  readonly operatorClocks: Set<OperatorClock>;
}

/** One operator, from the route of its lookups down to its connections. */
function createServedOperator(
  { settings, stores }: OperatorParts,
  shared: OwnParts,
  abortListeners: AbortListeners,
): ServedOperator {
  const { name, prefixes, others } = settings;
  const { watchFiles = noFiles } = shared;
  const parts = { ...shared, watchFiles, log: logAbout({ operator: name }, shared.log) };
  const files = new ConnectionFiles(settings, parts);
  let { headers } = settings;
  const guarded = guardedEndpoints(settings, () => headers, parts, {
    ...parts,
    abortListeners,
    idleDetector: new IdleDetector(),
    files,
  });
  /** The latest of each name: one that is discovered may move. */
  const endpoints = new Map<string, GuardedEndpoint>();
  const create: CreateEndpoint = (endpoint, url) => {
    const made = guarded(endpoint, url);
    endpoints.set(ENDPOINT_LABELS[endpoint], made);
    return made;
  };
  const authorization = authorizationEndpoints(settings, create, parts);
  const lookups = eachOf(LOOKUP_ENDPOINTS, (one) => create(one, settings.lookupAddresses[one]));
  const bulkheads = new Map<BulkheadName, Bulkhead>();
  const operatorClock = new OperatorClock(settings, shared.operatorClocks, parts.log);
  const dpop = settings.dpop ? new DpopProofs(parts.clock) : undefined;
  const tokens = createTokenManager(settings, authorization.endpoints, dpop, parts.clock);
  let authenticate = authenticationOf(settings, parts.clock);
  const unfollow = follow(settings.fromFiles, parts, (renewed) => {
    authenticate = authenticationOf(renewed, parts.clock);
    tokens.renew(renewed, authenticate);
    headers = renewed.headers;
  });
  const route = createRoute({
    ...parts,
    settings,
    bulkheads,
    stores: stores ?? storesInMemory(shared),
    admission: (parts.admissions ?? OPEN_AUTHORIZERS).of(name),
    tokens,
    operator: new Operator(
      settings,
      lookups,
      parts.judges ?? JUDGES,
      parts.clock,
      { authenticate: () => authenticate, dpop },
      operatorClock,
    ),
  });
  return {
    name,
    prefixes,
    others,
    load: () => Array.from(bulkheads, ([work, { load }]) => ({ operator: name, work, ...load })),
    clock() {
      const { aheadMs } = operatorClock;
      return aheadMs === undefined ? undefined : { operator: name, aheadMs };
    },
    connections: () =>
      endpointNames(settings).flatMap((endpoint) => {
        const connections = endpoints.get(endpoint)?.connections;
        return connections === undefined ? [] : [{ operator: name, endpoint, connections }];
      }),
    offer: settings,
    route,
    async close() {
      await route.close();
      unfollow();
      files.close();
      await closeAll([authorization, ...Object.values(lookups)]);
    },
  };
}

function storesInMemory({ clock, consent }: OwnParts): OperatorStores {
  const keptFor = { keepMs: 0, resultMs: consent.resultSeconds * 1000 };
  return {
    consents: new MemoryConsentStore(clock),
    factCache: new MemoryFactCache(clock, keptFor),
  };
}

/** Makes an endpoint of an operator. */
type CreateEndpoint = (name: EndpointName, url: string) => GuardedEndpoint;

/** How the exchanges of each endpoint are retried. */
const KINDS: Readonly<Record<EndpointName, ExchangeKind>> = {
  token: 'client-credentials',
  backchannelAuthentication: 'backchannel-authentication',
  cibaToken: 'token-poll',
  retrieveDate: 'lookup',
  check: 'lookup',
};

/** What the log, metrics and diagnostics call the endpoints that an operator of this flow has. */
export function endpointNames({ grant }: Pick<OperatorSettings, 'grant'>): readonly string[] {
  return [...authorizationEndpointsOf(grant), ...LOOKUP_ENDPOINTS].map(
    (name) => ENDPOINT_LABELS[name],
  );
}

/** Makes the endpoints of one operator, which share its retry budget. */
function guardedEndpoints(
  settings: OperatorSettings,
  headers: () => readonly OperatorHeader[],
  { judges = JUDGES, clock, log }: SharedParts,
  shared: SharedByEndpoints,
): CreateEndpoint {
  const { requestsPerSecond } = settings.limits;
  const budget = new RetryBudget(clock);
  const rate =
    requestsPerSecond === undefined ? undefined : new RequestRate(requestsPerSecond, clock);
  const rules = {
    canTakeNewToken: !asksOwner(settings.flow) && settings.grant.type !== 'none',
    retriesDoubtfulLookups: settings.retriesLookups,
  };
  return (name, url) => {
    const { correlator } = settings;
    const replyCheck = judges.echo(correlator, silentReplies(settings, name), clock);
    const endpoint = createOperatorEndpoint(settings, { name, url, headers, replyCheck }, shared);
    return new GuardedEndpoint(endpoint, {
      name: ENDPOINT_LABELS[name],
      kind: KINDS[name],
      operator: settings.name,
      circuit: new Circuit(clock),
      budget,
      rules,
      rate,
      errors: settings.errors,
      correlatorForm: correlator.form,
      decideRetry: judges.retry,
      clock,
      log,
      random: Math.random,
    });
  };
}

/** Where tokens come from (docs/operator-api.md, "Endpoints"). */
interface AuthorizationServer {
  readonly endpoints: AuthorizationEndpoints;
  close(): Promise<void>;
}

/** At the addresses of the settings, or at those of the discovery document as it is by then. */
function authorizationEndpoints(
  settings: OperatorSettings,
  create: CreateEndpoint,
  parts: DiscoveryShares,
): AuthorizationServer {
  const { authorization } = settings;
  switch (authorization.from) {
    case 'settings': {
      const { addresses } = authorization;
      const endpoints = eachOf(AUTHORIZATION_ENDPOINTS, (name) => create(name, addresses[name]));
      return { endpoints, close: () => closeAll(Object.values(endpoints)) };
    }
    case 'nowhere': {
      // Never asked: there is nothing to connect to.
      const never = {
        post: () => Promise.reject(new Error('There is no token step.')),
        distrust: () => undefined,
      };
      return {
        endpoints: eachOf(AUTHORIZATION_ENDPOINTS, () => never),
        close: () => Promise.resolve(),
      };
    }
    case 'discovery':
      return discoveredEndpoints(settings, authorization, create, parts);
  }
}

type DiscoveryShares = Pick<SharedByEndpoints, 'clock' | 'log'> & {
  readonly watchFiles: WatchFiles;
};

function discoveredEndpoints(
  { grant }: OperatorSettings,
  source: DiscoverySource,
  create: CreateEndpoint,
  parts: DiscoveryShares,
): AuthorizationServer {
  const { clock, log } = parts;
  const published = new PublishedJson(source.documentUrl, source.connection, parts);
  const discovery = new Discovery({
    source,
    needed: authorizationEndpointsOf(grant),
    fetch: () => published.fetch(),
    clock,
    log,
    random: Math.random,
  });
  const endpoints = eachOf(
    AUTHORIZATION_ENDPOINTS,
    (name) => new DiscoveredEndpoint(name, discovery, (url) => create(name, url)),
  );
  return {
    endpoints,
    async close() {
      discovery.close();
      await closeAll([published, ...Object.values(endpoints)]);
    },
  };
}

function eachOf<N extends string, T>(names: readonly N[], make: (name: N) => T): Record<N, T> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its members are these names, and no others
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<N, T>;
}

async function closeAll(all: readonly { close(): Promise<void> }[]): Promise<void> {
  await Promise.all(all.map((one) => one.close()));
}

function createTokenManager(
  settings: OperatorSettings,
  endpoints: AuthorizationEndpoints,
  dpop: DpopProofs | undefined,
  clock: Clock,
): TokenManager {
  const seenTokens = silentReplies(settings, 'token') === 'checked' ? new SeenTokens() : undefined;
  const authenticate = authenticationOf(settings, clock);
  return new TokenManager(settings, endpoints, authenticate, clock, { seenTokens, dpop });
}

function authenticationOf(
  { clientId, clientAuthentication }: OperatorSettings,
  clock: Clock,
): ClientAuthentication {
  return createClientAuthentication(clientId, clientAuthentication, clock);
}

/** What the route of one operator's lookups takes. */
interface RouteParts {
  readonly settings: OperatorSettings;
  readonly consent: ConsentSettings;
  readonly stores: OperatorStores;
  readonly admission: LookupAuthorizer;
  readonly tokens: TokenManager;
  readonly operator: Operator;
  /** Filled as they are made. */
  readonly bulkheads: Map<BulkheadName, Bulkhead>;
  readonly clock: Clock;
}

function createRoute(parts: RouteParts): LookupRoute {
  const { settings, stores, admission } = parts;
  const { factCache } = stores;
  switch (settings.flow) {
    case '2-legged': {
      const acquire: DirectParts['acquire'] = (subject, context) =>
        parts.tokens.acquire(subject, context);
      const direct = directLookups(parts, { acquire });
      const route = new SharedLookups(direct, {
        factCache,
        admission,
      });
      // There is nothing to recall unless facts are kept.
      if (factCache.keepMs === 0) return route;
      return new KeptAnswers(route, { factCache, admission, offer: settings });
    }
    case '3-legged':
      return new KeptAnswers(consentRoute(parts, settings.grant), {
        factCache,
        admission,
        offer: settings,
      });
  }
}

/** Beyond it a batch waits longer than its callers do. */
const QUEUE = 10_000;

function bulkhead({ settings, bulkheads, clock }: RouteParts, name: BulkheadName): Bulkhead {
  const made = new Bulkhead({ permits: settings.limits.permits, queue: QUEUE }, clock);
  bulkheads.set(name, made);
  return made;
}

function directLookups(
  parts: RouteParts,
  tokens: Pick<DirectParts, 'acquire' | 'consentIdOf'>,
): DirectLookups {
  const { settings, operator, admission, clock } = parts;
  const turns = settings.oneCallPerNumber ? new KeyedMutex(clock) : undefined;
  const bulkheads = {
    'retrieve-date': bulkhead(parts, 'retrieve-date'),
    check: bulkhead(parts, 'check'),
  };
  return new DirectLookups({ ...tokens, operator, admission, bulkheads, turns, clock });
}

function consentRoute(parts: RouteParts, grant: CibaGrant): LookupRoute {
  const { settings, consent, stores, admission, clock } = parts;
  switch (settings.tokens.use) {
    case 'once':
      return consentedLookups(parts, grant);
    case 'per-number':
    case 'any-number': {
      const tokens = new ConsentTokens({
        clock,
        marginMs: settings.tokens.marginSeconds * 1000,
        reachOf: (subject) => tokenReach(settings, subject),
        failureMs: consent.failureSeconds * 1000,
      });
      const further = directLookups(parts, {
        acquire: (subject, _context, asker) => tokens.acquire(asker, subject),
        consentIdOf: (subject, asker) => tokens.consentIdOf(asker, subject),
      });
      const { factCache } = stores;
      const direct = new SharedLookups(further, {
        factCache,
        admission,
      });
      return new ReusedConsents({
        consented: consentedLookups(parts, grant, tokens),
        direct,
        tokens,
      });
    }
  }
}

function consentedLookups(
  parts: RouteParts,
  { firstPoll }: CibaGrant,
  consentTokens?: ConsentTokens,
): ConsentedLookups {
  const { settings, consent, stores, admission, tokens, operator, clock } = parts;
  // An exchange and its one retry.
  const exchangeMs = 2 * settings.limits.timeoutMs;
  return new ConsentedLookups(
    {
      tokens,
      consentTokens,
      operator,
      admission,
      store: stores.consents,
      factCache: stores.factCache,
      offer: settings,
      rules: {
        doubtMs: consent.doubtSeconds * 1000,
        deniedMs: consent.deniedSeconds * 1000,
        failureMs: consent.failureSeconds * 1000,
        resultMs: consent.resultSeconds * 1000,
        leaseMs: exchangeMs + AUDIT_BUDGET_MS + 2 * COMMAND_TIMEOUT_MS,
        firstPoll,
      },
      bulkheads: { requests: bulkhead(parts, 'requests'), polls: bulkhead(parts, 'polls') },
      exchangeMs,
      clock,
    },
    consent.waitMs,
    settings.name,
  );
}
