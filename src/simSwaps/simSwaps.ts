import type { Clock } from '../system/clock.ts';
import { ConnectionFiles } from '../http/connections/connectionFiles.ts';
import { IdleDetector } from '../http/connections/spareConnections.ts';
import { Endpoint } from '../http/connections/endpoint.ts';
import { EchoPolicy } from '../http/echo.ts';
import { COMMON_ERRORS } from '../http/errorMap.ts';
import { Bulkhead } from '../http/resilience/bulkhead.ts';
import { Circuit } from '../http/resilience/circuit.ts';
import { DpopExchanges } from '../http/resilience/dpopExchanges.ts';
import { GuardedEndpoint } from '../http/resilience/guardedEndpoint.ts';
import { RetryBudget } from '../http/resilience/retries.ts';
import { follow, derived } from '../system/fromFiles.ts';
import { logAbout, type Log } from '../log/log.ts';
import { AUDIT_BUDGET_MS, type LookupAuthorizers } from '../lookups/lookupAuthorizer.ts';
import type { ConsentSettings } from '../consents/consentRecord.ts';
import { ConsentedLookups } from '../consents/consentedLookups.ts';
import { ConsentTokens, reusedConsents } from '../consents/consentTokens.ts';
import {
  DirectLookups,
  OneLookupPerNumber,
  type LookupTokens,
  SharedLookups,
} from '../lookups/directLookups.ts';
import { Executor, type SimSwapLoader } from '../lookups/executor.ts';
import { KeptAnswers, NOBODY } from '../lookups/keptAnswers.ts';
import { MemoryFactCache, type FactCache, type KeptFor } from '../lookups/factCache.ts';
import type { Offer } from '../lookups/planner.ts';
import type { DateTrust } from '../domain/deduction.ts';
import type { Ciba } from '../domain/profile.ts';
import { OPERATIONS } from '../domain/question.ts';
import { lookupFailed, type LookupRequest, type LookupRoute } from '../lookups/lookupRoute.ts';
import type { LookupFailure } from '../domain/errors.ts';
import { NumbersAtWork, type NumberLimits } from '../lookups/numbersAtWork.ts';
import { OperatorsByPrefix, type Operators } from '../lookups/operators.ts';
import { OperatorsByDirectory } from '../lookups/operatorsByDirectory.ts';
import { Operator } from '../operator/operator.ts';
import { ENDPOINT_LABELS } from '../operator/operatorEndpoint.ts';
import {
  LOOKUP_ENDPOINTS,
  operatorIdentitiesOf,
  operatorIdentityOf,
  permitsPurpose,
  type NumberDirectorySettings,
  type OperatorSettings,
} from '../operator/operatorSettings.ts';
import { COMMAND_TIMEOUT_MS } from '../sharedState/redis.ts';
import { asksOwner, tokenCoverage } from '../tokens/authorizationSettings.ts';
import { OperatorClock } from '../operator/operatorClock.ts';
import { createClientAuthentication } from '../tokens/clientAuthentication.ts';
import { DpopProofs } from '../tokens/dpop.ts';
import {
  MemoryConsentStore,
  MemoryRefusals,
  type ConsentStore,
  type OperatorRefusals,
} from '../consents/consentStore.ts';
import { SeenTokens } from '../tokens/accessToken.ts';
import { TokenManager } from '../tokens/tokenManager.ts';
import {
  authorizationEndpoints,
  closeAll,
  eachOf,
  endpointNames,
  guardedEndpoints,
  type CreateEndpoint,
  silentReplies,
} from './operatorEndpoints.ts';

/** Everything below GraphQL and HTTP, with no server and no store of its own. */
export type SimSwaps = ReturnType<typeof createSimSwaps>;

type BulkheadName = 'retrieve-date' | 'check' | 'requests' | 'polls';

export interface SimSwapStores {
  readonly consents: ConsentStore;
  readonly factCache: FactCache;
  /** @param operator its identity */
  refusalsOf(operator: string): OperatorRefusals;
}

export function storesInMemory(
  operators: readonly OperatorSettings[],
  consent: ConsentSettings,
  clock: Clock,
): SimSwapStores {
  return {
    consents: new MemoryConsentStore(clock),
    factCache: new MemoryFactCache(clock, keptFor(operators, consent)),
    refusalsOf: () => new MemoryRefusals(clock),
  };
}

export function keptFor(
  operators: readonly OperatorSettings[],
  { resultMs }: Pick<ConsentSettings, 'resultMs'>,
): KeptFor {
  const byIdentity = new Map(
    operators.flatMap((operator) => {
      const keepMs = operator.keepFactsSeconds * 1000;
      const settings = { keepMs, resultMs: asksOwner(operator.flow) ? resultMs : 0 };
      return operatorIdentitiesOf(operator).map((identity) => [identity, settings] as const);
    }),
  );
  return (operator) => byIdentity.get(operator);
}

export interface SimSwapParts {
  readonly operators: readonly OperatorSettings[];
  /** Says which operator serves a number; its prefix does where absent. */
  readonly directory: NumberDirectorySettings | undefined;
  readonly consent: ConsentSettings;
  readonly stores: SimSwapStores;
  readonly admissions: LookupAuthorizers;
  readonly numberLimits: NumberLimits;
  readonly clock: Clock;
  readonly log: Log;
}

/** With the parts that all operators share: the owner of a number is one person. */
interface OwnParts extends SimSwapParts {
  readonly operatorClocks: Set<OperatorClock>;
  readonly consented: ConsentedLookups;
  /** Facts that are being marked as heard. */
  readonly marking: Map<string, Promise<unknown>>;
  /** How far each operator's dates may be believed, by its identity. */
  readonly trusts: ReadonlyMap<string, DateTrust>;
}

/** @throws {Error} when the settings name an operator that is not there */
export function createSimSwaps(parts: SimSwapParts) {
  const { operators, directory, consent, clock, stores, log } = parts;
  const { consents: store, factCache } = stores;
  const own: OwnParts = {
    ...parts,
    operatorClocks: new Set(),
    consented: new ConsentedLookups({ store, factCache, rules: consent, clock }, consent.waitMs),
    marking: new Map(),
    trusts: new Map(
      operators.flatMap((one) => operatorIdentitiesOf(one).map((identity) => [identity, one])),
    ),
  };
  const served = operators.map((operator) => createServedOperator(operator, own));
  const byPrefix = new OperatorsByPrefix(served);
  const opened = directory && openDirectory(directory, own);
  const routing: Operators =
    opened === undefined
      ? byPrefix
      : new OperatorsByDirectory({ ...opened, operators: byPrefix, kept: keptOf(own), clock, log });
  const admission = parts.admissions.of('none');
  const numbersAtWork = new NumbersAtWork(parts.numberLimits, clock);
  return {
    forRequest: (request: LookupRequest): SimSwapLoader =>
      new Executor(routing, request, numbersAtWork, admission),
    asksOwners: operators.some(({ flow }) => asksOwner(flow)),
    numbers: () => numbersAtWork.load,
    load: () => served.flatMap((one) => one.load()),
    connections: () => served.flatMap((one) => one.connections()),
    /** By how much our clock is ahead of those of operators that have shown theirs. */
    clocks: () => served.flatMap((one) => one.clock() ?? []),
    /** Waits for exchanges that must not be cut, then closes the connections. */
    close: () => closeAll([...served, ...(opened === undefined ? [] : [opened])]),
  };
}

/** Answers from the kept facts of all operators; `undefined` where nothing is kept. */
function keptOf({ operators, admissions, stores, trusts, marking }: OwnParts) {
  if (operators.every(({ keepFactsSeconds }) => keepFactsSeconds === 0)) return undefined;
  const offer: Offer = {
    operations: new Set(['retrieve-date', 'check']),
    maxAgeHours: Infinity,
    // For an operator that is no longer configured.
    dateMarginHours: Infinity,
    trustMonitoredPeriod: false,
    trusts,
  };
  const { factCache } = stores;
  const kept = { factCache, admission: admissions.of('none'), offer, marking };
  return { name: 'none', offer, route: new KeptAnswers(NOBODY, kept) };
}

const NUMBER_DIRECTORY = 'number directory';
/** As many as to an operator's endpoint. */
const DIRECTORY_CONNECTIONS = 256;

function openDirectory(settings: NumberDirectorySettings, parts: OwnParts) {
  const { clock } = parts;
  const log = logAbout({ operator: NUMBER_DIRECTORY }, parts.log);
  const files = new ConnectionFiles(settings, { clock, log });
  let { headers } = settings;
  const unfollow = follow(settings.fromFiles, { clock, log }, (renewed) => {
    headers = renewed.headers;
  });
  const endpoint = new Endpoint(
    {
      name: NUMBER_DIRECTORY,
      url: settings.url,
      timeoutMs: settings.timeoutMs,
      connections: DIRECTORY_CONNECTIONS,
      http2: 'auto',
      replyCheck: new EchoPolicy('auto', 'fresh', clock),
      headers: derived(
        () => headers,
        (named) => Object.entries(named).flat(),
      ),
    },
    { idleDetector: new IdleDetector(), clock, log, files },
  );
  const directory = new GuardedEndpoint(endpoint, {
    name: NUMBER_DIRECTORY,
    operator: 'none',
    kind: 'directory',
    circuit: new Circuit(clock),
    budget: new RetryBudget(clock),
    rules: { canTakeNewToken: false, retriesDoubtfulLookups: false },
    rate: undefined,
    errors: COMMON_ERRORS,
    nameSetting: (member) => member,
    correlatorForm: 'traceable',
    clock,
    log,
    random: Math.random,
  });
  return {
    directory,
    settings,
    close() {
      unfollow();
      files.close();
      return endpoint.close();
    },
  };
}

function createServedOperator(settings: OperatorSettings, own: OwnParts) {
  const { name, prefixes, others } = settings;
  const { clock, trusts } = own;
  const parts = { ...own, log: logAbout({ operator: name }, own.log) };
  const files = new ConnectionFiles(settings, parts);
  let { headers } = settings;
  const shared = { ...parts, idleDetector: new IdleDetector(), files };
  const dpop = settings.authentication.dpop ? new DpopExchanges(new DpopProofs(clock)) : undefined;
  const budget = new RetryBudget(clock);
  const guarded = guardedEndpoints(settings, () => headers, { ...shared, budget, dpop });
  /** The latest of each name: one that is discovered may move. */
  const endpoints = new Map<string, GuardedEndpoint>();
  const create: CreateEndpoint = (endpoint, url) => {
    const latest = guarded(endpoint, url);
    endpoints.set(ENDPOINT_LABELS[endpoint], latest);
    return latest;
  };
  const authorization = authorizationEndpoints(settings, create, parts);
  const lookups = eachOf(LOOKUP_ENDPOINTS, (one) => create(one, settings.lookupAddresses[one]));
  const seenTokens = silentReplies(settings, 'token') === 'checked' ? new SeenTokens() : undefined;
  let authenticate = createClientAuthentication(settings, clock);
  const tokens = new TokenManager(settings, authorization.endpoints, authenticate, clock, {
    seenTokens,
    budget,
  });
  const unfollow = follow(settings.fromFiles, parts, (renewed) => {
    authenticate = createClientAuthentication(renewed, clock);
    tokens.renew(renewed, authenticate);
    headers = renewed.headers;
  });
  const operatorClock = new OperatorClock(settings, own.operatorClocks, parts.log);
  const operator = new Operator(settings, lookups, clock, () => authenticate, operatorClock);
  const bulkheads = new Map<BulkheadName, Bulkhead>();
  const offer: Offer = {
    ...settings,
    trusts,
    requestOf: (lookup, number) => operator.requestOf(lookup, number),
  };
  const route = permittedLookups(settings, {
    ...parts,
    settings,
    identity: operatorIdentityOf(settings),
    offer,
    admission: own.admissions.of(name),
    tokens,
    operator,
    bulkheads,
  });
  return {
    name,
    prefixes,
    others,
    offer,
    route,
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
    async close() {
      await route.close();
      unfollow();
      files.close();
      await closeAll([authorization, ...Object.values(lookups)]);
    },
  };
}

interface RouteParts extends OwnParts {
  readonly settings: OperatorSettings;
  readonly identity: string;
  readonly offer: Offer;
  readonly admission: ReturnType<LookupAuthorizers['of']>;
  readonly tokens: TokenManager;
  readonly operator: Operator;
  /** Filled as they are made. */
  readonly bulkheads: Map<BulkheadName, Bulkhead>;
}

/** Refuses purposes that the contract does not allow: nothing is counted or sent for them. */
function permittedLookups(settings: OperatorSettings, parts: RouteParts): LookupRoute {
  const route = createRoute(parts);
  if (!settings.scopes.purpose && settings.purposes === undefined) return route;
  return {
    lookUp: (lookup, session, recalledAtMs) =>
      permitsPurpose(settings, session.request.purpose)
        ? route.lookUp(lookup, session, recalledAtMs)
        : Promise.resolve(lookupFailed(lookup, PURPOSE_REFUSED)),
    told: (facts, about) => route.told?.(facts, about),
    consent: (number, request) => route.consent(number, request),
    close: () => route.close(),
  };
}

const PURPOSE_REFUSED: LookupFailure = { code: 'OPERATOR_REFUSED', reach: 'number' };

function createRoute(parts: RouteParts): LookupRoute {
  const { settings, offer, stores, admission, marking, consent, clock } = parts;
  const keptParts = { factCache: stores.factCache, admission, offer, marking };
  switch (settings.flow) {
    case '2-legged': {
      const route = directLookups(parts, parts.tokens);
      // There is nothing to recall unless facts are kept.
      return settings.keepFactsSeconds === 0 ? route : new KeptAnswers(route, keptParts);
    }
    case '3-legged': {
      const { grant, tokens } = settings;
      if (tokens.use === 'once') return new KeptAnswers(consentedLookups(parts, grant), keptParts);
      const reused = new ConsentTokens({
        clock,
        marginMs: tokens.marginSeconds * 1000,
        coverageOf: (subject) => tokenCoverage(settings, subject),
        failureMs: consent.failureMs,
      });
      const consented = consentedLookups(parts, grant, reused);
      const route = reusedConsents(reused, consented, directLookups(parts, reused));
      return new KeptAnswers(route, keptParts);
    }
  }
}

/** Beyond it a batch waits longer than its callers do. */
const QUEUE = 10_000;

function bulkhead({ settings, bulkheads, clock }: RouteParts, name: BulkheadName): Bulkhead {
  const made = new Bulkhead({ permits: settings.limits.connections, queue: QUEUE }, clock);
  bulkheads.set(name, made);
  return made;
}

function directLookups(parts: RouteParts, tokens: LookupTokens): SharedLookups {
  const { settings, operator, identity, admission, clock, stores } = parts;
  const bulkheads = eachOf(OPERATIONS, (operation) => bulkhead(parts, operation));
  const direct = new DirectLookups({ tokens, operator, identity, admission, bulkheads, clock });
  const route = settings.oneCallPerNumber ? new OneLookupPerNumber(direct, clock) : direct;
  const keepMs = settings.keepFactsSeconds * 1000;
  return new SharedLookups(route, { factCache: stores.factCache, keepMs, admission });
}

function consentedLookups(
  parts: RouteParts,
  { firstPoll }: Ciba,
  consentTokens?: ConsentTokens,
): LookupRoute {
  const { settings, identity, offer, consent, stores, admission, tokens, operator } = parts;
  // An exchange and its one retry.
  const exchangeMs = 2 * settings.limits.timeoutMs;
  return parts.consented.routeTo({
    identity,
    identities: operatorIdentitiesOf(settings),
    name: settings.name,
    tokens,
    consentTokens,
    operator,
    admission,
    refusals: stores.refusalsOf(identity),
    offer,
    rules: {
      ...consent,
      leaseMs: exchangeMs + AUDIT_BUDGET_MS + 2 * COMMAND_TIMEOUT_MS,
      firstPoll,
    },
    bulkheads: { requests: bulkhead(parts, 'requests'), polls: bulkhead(parts, 'polls') },
    exchangeMs,
  });
}
