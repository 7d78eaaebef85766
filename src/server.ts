import { AuditFile } from './caller/audit/auditFile.ts';
import { AuditTrail, type AuditTarget } from './caller/audit/auditTrail.ts';
import { CallerAdmission } from './caller/callerAdmission.ts';
import type { CallerSettings } from './caller/callerSettings.ts';
import { Gate, type Admitted } from './caller/gate.ts';
import { permittedSimSwaps } from './caller/permittedSimSwaps.ts';
import { MemoryCounts } from './caller/quotas/memoryCounts.ts';
import { Quotas } from './caller/quotas/quotas.ts';
import { SharedCounts } from './caller/quotas/sharedCounts.ts';
import { RouterProof } from './caller/routerProof.ts';
import { SigningKeys } from './caller/signingKeys.ts';
import { TokenVerifier } from './caller/tokenVerifier.ts';
import type { Clock } from './clock.ts';
import { allowsHost } from './config/allowedHosts.ts';
import { isLoopback } from './config/loopback.ts';
import type { Config } from './config.ts';
import type { RequestContext } from './context.ts';
import { createApolloServer } from './graphql/apollo.ts';
import { CrossOrigin } from './graphql/crossOrigin.ts';
import { createEndpoint, type Asking } from './graphql/endpoint.ts';
import { createExplorer, type Explorer } from './graphql/explorer.ts';
import { frontPage } from './graphql/frontPage.ts';
import { HttpServer } from './graphql/httpServer.ts';
import { AbortListeners } from './http/abortListeners.ts';
import { EchoPolicy, type EchoSetting, type ReplyCheck } from './http/echo.ts';
import { Endpoint } from './http/endpoint.ts';
import { JsonDocument } from './http/jsonDocument.ts';
import { Bulkhead } from './http/resilience/bulkhead.ts';
import { Circuit } from './http/resilience/circuit.ts';
import { GuardedEndpoint } from './http/resilience/guardedEndpoint.ts';
import { RetryBudget } from './http/resilience/retryBudget.ts';
import { decideRetry, type ExchangeKind } from './http/resilience/retryDecision.ts';
import { createSimSwapLoader } from './loaders/simSwapLoader.ts';
import type { SimSwaps } from './loaders/simSwaps.ts';
import type { Log } from './log.ts';
import { OPEN_ADMISSION, type Admission } from './lookups/admission.ts';
import type { ConsentSettings } from './lookups/consentSettings.ts';
import { ConsentedLookups } from './lookups/consentedLookups.ts';
import { DirectLookups } from './lookups/directLookups.ts';
import { Executor } from './lookups/executor.ts';
import { KeptAnswers } from './lookups/keptAnswers.ts';
import type { KeptFacts } from './lookups/keptFacts.ts';
import type { LookupRoute } from './lookups/lookupRoute.ts';
import { MemoryKeptFacts } from './lookups/memoryKeptFacts.ts';
import { RedisKeptFacts } from './lookups/redisKeptFacts.ts';
import { SharedLookups } from './lookups/sharedLookups.ts';
import { Operator } from './operator/operator.ts';
import type { OperatorSettings } from './operator/operatorSettings.ts';
import { judgeCheck, judgeRetrieveDate, type LookupJudges } from './operator/responses.ts';
import { Readiness, type Need } from './readiness.ts';
import { createClientAuthentication } from './tokens/clientAuthentication.ts';
import type { ConsentStore } from './tokens/consents/consentStore.ts';
import { MemoryConsentStore } from './tokens/consents/memoryConsentStore.ts';
import { RedisConnection } from './sharedState/redisConnection.ts';
import { COMMAND_TIMEOUT_MS } from './sharedState/sharedStateLost.ts';
import { RedisConsentStore } from './tokens/consents/redisConsentStore.ts';
import { StandardOutput } from './standardOutput.ts';
import { TokenManager } from './tokens/tokenManager.ts';

/** A process that serves. */
export interface RunningServer {
  /** Such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** `true` once everything that answering needs has worked; `false` when it was stopped before. */
  readonly ready: Promise<boolean>;
  /** Says that it is not ready, goes on for the grace, then drains and ends. */
  stop(): Promise<void>;
  /** How long that takes at most, unless something hangs. */
  readonly stopLimitMs: number;
}

/** What is handed in from outside. */
export interface ServerParts {
  readonly config: Config;
  readonly operator: OperatorSettings;
  readonly clock: Clock;
  readonly log: Log;
  /** What GraphiQL opens with, where there is to be one: not in production, not beside trusted documents. */
  readonly openingDocument?: string;
  /** Others than the ones that serve are for showing what each of those is good for. */
  readonly judges?: Judges;
}

/** Puts all parts together and serves. */
export async function startServer(parts: ServerParts): Promise<RunningServer> {
  const { config, operator, clock, log } = parts;
  const redis = await connectToRedis(parts);
  const quotas = createQuotas(parts, redis);
  const trail = createAuditTrail(parts);
  const admission = createAdmission(parts, quotas, trail);
  const store = await openConsentStore(parts, redis);
  const keptFacts = createKeptFacts(parts, redis);
  const stores = { store, keptFacts };
  const simSwaps = createSimSwaps(operator, config.consent, { ...parts, admission, ...stores });
  const apollo = createApolloServer(config, log);
  await apollo.start();

  const { gate, keys, close: closeGate } = createGate(config.callers, parts);
  const createContext = (
    { caller, purpose }: Admitted,
    { life, correlator, preferredWaitMs }: Asking,
  ): RequestContext => {
    const wait = waitOf(preferredWaitMs, parts);
    const loader = simSwaps.forRequest({
      caller: caller.key,
      purpose,
      correlator,
      cameInAtMs: life.cameInAtMs,
      signal: life.signal,
      deadlineMs: life.deadlineMs,
      ...wait,
    });
    return {
      ...wait,
      caller,
      simSwaps: permittedSimSwaps(caller, loader),
      quotas: () => quotas.standingOf(caller.key, QUOTA_READ_TIMEOUT_MS),
    };
  };
  const readiness = new Readiness({
    needs: needsOf(parts, { keys, redis, trail }),
    clock,
    log,
    random: Math.random,
  });
  const explorer = explorerOf(parts);
  const http = new HttpServer({
    ...config.listen,
    frontPage: frontPage({ role: config.role, hasExplorer: explorer !== undefined }),
    waitingFor: () => readiness.waitingFor,
    graphql: createEndpoint({
      apollo,
      requestTimeoutMs: config.requestTimeoutMs,
      clock,
      log,
      crossOrigin: new CrossOrigin(config.allowedOrigins),
      allowsHost: hostCheck(config),
      admit: (headers) => gate.admit(headers),
      trustedDocuments: config.trustedDocuments,
      explorer,
      createContext,
    }),
    replyTimeoutMs: Math.max(config.requestTimeoutMs, MIN_REPLY_TIMEOUT_MS),
    drainLimitMs: config.requestTimeoutMs + SLOWEST_BYTES_MS,
    onDefect: (defect) => {
      log.error('a request broke', {
        error: defect instanceof Error ? defect.name : typeof defect,
      });
    },
  });
  const url = await http.listen();
  return {
    url,
    ready: readiness.begin(),
    stopLimitMs: stopLimitMs(config, operator),
    async stop() {
      readiness.stop();
      http.startDraining();
      await clock.sleep(config.drainGraceMs);
      await http.close();
      await apollo.stop();
      await simSwaps.close();
      await closeGate();
      await admission.close();
      redis?.close();
    },
  };
}

/** What must have worked before requests are sent here. An operator that is away is none of it. */
function needsOf(
  { operator, clock }: ServerParts,
  {
    keys,
    redis,
    trail,
  }: {
    readonly keys: SigningKeys | undefined;
    readonly redis: RedisConnection | undefined;
    readonly trail: AuditTrail | undefined;
  },
): readonly Need[] {
  const needs: Need[] = [];
  if (keys !== undefined) needs.push({ name: 'JWT_JWKS_URL', probe: () => keys.probe() });
  if (redis !== undefined && operator.flow === '3-legged') {
    const ping = async (): Promise<void> => void (await redis.run('return 1', []));
    needs.push({ name: 'REDIS_URL', probe: ping });
  }
  if (trail !== undefined) {
    const begin = () =>
      trail.write({ audit: 'start', time: new Date(clock.nowMs()).toISOString() });
    needs.push({ name: 'AUDIT_LOG', probe: begin });
  }
  return needs;
}

/** A browser has no token when it opens a page: the explorer stands before the gate, where nobody else comes. */
function explorerOf({ config, openingDocument }: ServerParts): Explorer | undefined {
  const isExposed = config.production || !isLoopback(config.listen.host);
  const isClosed = isExposed || config.trustedDocuments !== undefined;
  return isClosed || openingDocument === undefined ? undefined : createExplorer(openingDocument);
}

/**
 * A page of another site whose name leads to this machine asks under that name. Where a token is needed it
 * has none; where none is needed, hosts are checked.
 */
function hostCheck({ callers, allowedHosts }: Config): (host: string | undefined) => boolean {
  const isChecked = callers.tokens === undefined || allowedHosts.length > 0;
  return isChecked ? (host) => allowsHost(host, allowedHosts) : () => true;
}

/** What requests, their answers and the exchanges of consents take; after them only what hangs is left. */
function stopLimitMs(config: Config, operator: OperatorSettings): number {
  const requestsMs = config.drainGraceMs + config.requestTimeoutMs + SLOWEST_BYTES_MS;
  return requestsMs + 2 * operator.timeoutMs + ON_RECORD_MS + 2 * COMMAND_TIMEOUT_MS;
}

/** What is left of the quotas is told beside an answer that is ready: it does not keep that waiting. */
const QUOTA_READ_TIMEOUT_MS = 250;

/** However short requests are: a client on a slow network reads a page of answers in it. */
const MIN_REPLY_TIMEOUT_MS = 1000;

/** What a drain allows for requests and answers to come and go, beside a request's own time. */
const SLOWEST_BYTES_MS = 1000;

/** Everything that decides whether a lookup may be made, and puts it on record. */
function createAdmission(
  { config: { audit }, clock, log }: ServerParts,
  quotas: Quotas,
  trail: AuditTrail | undefined,
): CallerAdmission {
  return new CallerAdmission({
    quotas,
    audit: audit && trail && { trail, key: audit.keys[0] },
    clock,
    log,
  });
}

function createQuotas(
  { config: { quotas, sharedState }, clock }: ServerParts,
  redis: RedisConnection | undefined,
): Quotas {
  return new Quotas(
    quotas,
    redis === undefined || sharedState === undefined
      ? new MemoryCounts(clock)
      : new SharedCounts(redis, sharedState.stateKey, clock),
  );
}

/** Nothing is audited without a key: on loopback alone. */
function createAuditTrail({ config: { audit }, clock }: ServerParts): AuditTrail | undefined {
  return audit && new AuditTrail(auditTarget(audit.file, clock), clock);
}

/** On standard output, a line of the audit log is told from one of the log by its member `audit`. */
function auditTarget(path: string | undefined, clock: Clock): AuditTarget {
  return path === undefined ? new StandardOutput() : new AuditFile(path, clock);
}

/** Everything that decides who is let in. */
function createGate(
  { tokens, routerSecrets, purposes }: CallerSettings,
  { clock, log }: Pick<ServerParts, 'clock' | 'log'>,
): {
  readonly gate: Gate;
  readonly keys: SigningKeys | undefined;
  readonly close: () => Promise<void>;
} {
  const router = routerSecrets.length === 0 ? undefined : new RouterProof(routerSecrets);
  if (tokens === undefined) {
    const gate = new Gate({ router, tokens, purposes });
    return { gate, keys: undefined, close: () => Promise.resolve() };
  }
  const jwks = new JsonDocument(tokens.jwksUrl);
  const keys = new SigningKeys({ fetch: () => jwks.fetch(), clock, log });
  const verifier = new TokenVerifier(tokens, keys, clock, undefined, (reason) => {
    log.warn("a caller's access token was refused", { reason });
  });
  return {
    gate: new Gate({ router, tokens: verifier, purposes }),
    keys,
    close: () => jwks.close(),
  };
}

/** A Redis that is away does not hold up the start: it is connected to when it comes. */
export async function openConsentStore(
  { config, operator, clock }: Omit<ServerParts, 'judges'>,
  redis: RedisConnection | undefined,
): Promise<ConsentStore> {
  if (config.sharedState === undefined || redis === undefined || operator.flow === '2-legged') {
    return new MemoryConsentStore(clock);
  }
  const store = new RedisConsentStore(redis, {
    stateKey: config.sharedState.stateKey,
    operator: nameOf(operator),
    doubtMs: config.consent.doubtSeconds * 1000,
  });
  await store.open();
  return store;
}

/** Where facts are kept for further requests of their asker. */
export function createKeptFacts(
  { config, operator, clock }: Omit<ServerParts, 'judges'>,
  redis: RedisConnection | undefined,
): KeptFacts {
  const settings = {
    keepMs: config.keepFactsSeconds * 1000,
    resultMs: operator.flow === '2-legged' ? 0 : config.consent.resultSeconds * 1000,
  };
  if (config.sharedState === undefined || redis === undefined) {
    return new MemoryKeptFacts(clock, settings);
  }
  const { stateKey } = config.sharedState;
  return new RedisKeptFacts(redis, clock, { ...settings, stateKey, operator: nameOf(operator) });
}

/** What tells one operator from another in a shared store. */
function nameOf({ authUrl, clientId }: OperatorSettings): string {
  return `${authUrl} ${clientId}`;
}

/** What replicas share, if they do: consents and quotas. */
export async function connectToRedis({
  config,
  clock,
  log,
}: Omit<ServerParts, 'judges'>): Promise<RedisConnection | undefined> {
  if (config.sharedState === undefined) return undefined;
  const redis = new RedisConnection(config.sharedState.redisUrl, clock, log);
  await redis.open();
  return redis;
}

/** How long a request waits for the owner of a number, where it says so: as long as it may. */
function waitOf(
  preferredMs: number | undefined,
  { config, operator }: Pick<ServerParts, 'config' | 'operator'>,
): { readonly waitMs?: number } {
  if (preferredMs === undefined || operator.flow === '2-legged') return {};
  return { waitMs: Math.min(preferredMs, config.consent.maxWaitMs, config.requestTimeoutMs) };
}

/** Fewer permits slow a hundred numbers down; more open sockets that an operator would count. */
const ROOM = { permits: 256, queue: 10_000 };

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

/**
 * An exchange is counted in a second and recorded before, after, and for the other requests that hear of it,
 * in two seconds each, at most.
 */
const ON_RECORD_MS = 7000;

/** What is handed in from outside. */
export interface SimSwapParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Others than the ones that serve are for showing what each of those is good for. */
  readonly judges?: Judges;
  /** Stands before every lookup; every one is let through unless it is said. */
  readonly admission?: Admission;
  readonly store?: ConsentStore;
  readonly keptFacts?: KeptFacts;
}

export function createSimSwaps(
  settings: OperatorSettings,
  consent: ConsentSettings,
  {
    clock,
    log,
    admission = OPEN_ADMISSION,
    judges = JUDGES,
    store = new MemoryConsentStore(clock),
    keptFacts = new MemoryKeptFacts(clock, {
      keepMs: 0,
      resultMs: consent.resultSeconds * 1000,
    }),
  }: SimSwapParts,
): SimSwaps {
  const shared = { abortListeners: new AbortListeners() };
  const budget = new RetryBudget(clock);
  const endpoints: Endpoint[] = [];
  const guarded = (name: string, kind: ExchangeKind, url: string): GuardedEndpoint => {
    const replyCheck = judges.echo(settings.correlatorEcho);
    const endpoint = new Endpoint({ ...settings, url, replyCheck }, shared);
    endpoints.push(endpoint);
    return new GuardedEndpoint(endpoint, {
      name,
      kind,
      circuit: new Circuit(clock),
      budget,
      rules: {
        canTakeNewToken: settings.flow === '2-legged',
        retriesDoubtfulLookups: settings.retriesLookups,
      },
      decideRetry: judges.retry,
      clock,
      log,
      random: Math.random,
    });
  };
  const tokens = new TokenManager(
    settings,
    {
      clientCredentials: guarded(
        'token',
        'client-credentials',
        `${settings.authUrl}/oauth/v1/token`,
      ),
      backchannelAuthentication: guarded(
        'bc-authorize',
        'backchannel-authentication',
        `${settings.authUrl}/openIDConnectCIBA/v1/bc-authorize`,
      ),
      cibaToken: guarded(
        'CIBA token',
        'token-poll',
        `${settings.authUrl}/openIDConnectCIBA/v1/token`,
      ),
    },
    createClientAuthentication(settings.clientId, settings.clientAuthentication, clock),
    clock,
  );
  const operator = new Operator(
    settings,
    {
      retrieveDate: guarded('retrieve-date', 'lookup', `${settings.simSwapUrl}/retrieve-date`),
      check: guarded('check', 'lookup', `${settings.simSwapUrl}/check`),
    },
    judges,
    clock,
  );
  const room = (): Bulkhead => new Bulkhead(ROOM, clock);
  // An exchange and its one retry.
  const exchangeMs = 2 * settings.timeoutMs;
  const direct = (): LookupRoute => {
    const rooms = { 'retrieve-date': room(), check: room() };
    const route = new DirectLookups({ tokens, operator, admission, rooms, clock });
    return new SharedLookups(route, { keptFacts, admission });
  };
  const consented = (): LookupRoute =>
    new ConsentedLookups(
      {
        tokens,
        operator,
        admission,
        store,
        keptFacts,
        offer: settings,
        rules: {
          doubtMs: consent.doubtSeconds * 1000,
          deniedMs: consent.deniedSeconds * 1000,
          failureMs: consent.failureSeconds * 1000,
          resultMs: consent.resultSeconds * 1000,
          leaseMs: exchangeMs + ON_RECORD_MS + 2 * COMMAND_TIMEOUT_MS,
          firstPoll: settings.cibaFirstPoll,
        },
        rooms: { requests: room(), polls: room() },
        exchangeMs,
        clock,
      },
      consent.waitMs,
    );
  const isDirect = settings.flow === '2-legged';
  const unkept = isDirect ? direct() : consented();
  // In the 2-legged flow there is nothing to recall unless facts are kept.
  const route =
    isDirect && keptFacts.keepMs === 0
      ? unkept
      : new KeptAnswers(unkept, { keptFacts, admission, offer: settings });
  return {
    forRequest: (request) => createSimSwapLoader(new Executor(route, settings, request)),
    async close() {
      await route.close();
      await Promise.all(endpoints.map((one) => one.close()));
    },
  };
}
