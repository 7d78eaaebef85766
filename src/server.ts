import { createAdmissions, createGate, type OpenedGate } from './callers.ts';
import type { AuditLog } from './caller/audit/auditLog.ts';
import type { Clock } from './clock.ts';
import { allowsHost } from './config/allowedHosts.ts';
import { isLoopback } from './http/loopback.ts';
import type { Config } from './config.ts';
import { contextFactory } from './context.ts';
import { createApolloServer } from './graphql/apollo.ts';
import { CrossOrigin } from './graphql/crossOrigin.ts';
import { createEndpoint } from './graphql/endpoint.ts';
import { createExplorer, type Explorer } from './graphql/explorer.ts';
import { frontPage } from './graphql/frontPage.ts';
import { HttpServer } from './graphql/httpServer.ts';
import type { WatchFiles } from './fileWatch.ts';
import type { Log } from './log.ts';
import { AUDIT_BUDGET_MS } from './lookups/admission.ts';
import { observedAdmissions } from './lookups/observedAdmissions.ts';
import { OBSERVATION_CLOSE_LIMIT_MS, openObservation } from './observation.ts';
import type { OperatorSettings } from './operator/operatorSettings.ts';
import { Readiness, type Need } from './readiness.ts';
import { COMMAND_TIMEOUT_MS } from './sharedState/sharedStateLost.ts';
import { asksOwner } from './tokens/authorizationSettings.ts';
import { createSimSwaps, type Judges } from './simSwaps.ts';
import { WatchedFiles } from './watchedFiles.ts';
import { openStores, type Stores } from './stores.ts';

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
  /** The operators to ask: those of the settings, or the built-in simulator. */
  readonly operators: readonly OperatorSettings[];
  readonly clock: Clock;
  readonly log: Log;
  /** Where a line for each request goes; there are none where absent. */
  readonly requestLog?: Log;
  /** What GraphiQL opens with, where there is to be one: not in production, not beside trusted documents. */
  readonly openingDocument?: string;
  /** Overridden only by the chaos tests, which disable one check at a time. */
  readonly judges?: Judges;
}

/** Puts all parts together and serves. */
export async function startServer(given: ServerParts): Promise<RunningServer> {
  const observation = await openObservation(given);
  const parts: ServerParts = { ...given, log: observation.log };
  const { config, clock, log } = parts;
  const watchFiles: WatchFiles = (paths, onChange) => new WatchedFiles(paths, clock, onChange);
  const stores = await openStores(parts);
  const { admissions, auditLog } = createAdmissions(config.audit, stores.quotas, parts);
  const operators = await Promise.all(
    parts.operators.map(async (settings) => ({
      settings,
      stores: await stores.forOperator(settings),
    })),
  );
  const { consent, directory } = config;
  const simSwaps = createSimSwaps({
    ...parts,
    watchFiles,
    operators,
    directory,
    consent,
    admissions: observedAdmissions(admissions, observation.observers),
  });
  const apollo = createApolloServer(config, log);
  await apollo.start();

  const {
    gate,
    keys,
    close: closeGate,
  } = createGate(config.callers, {
    ...parts,
    watchFiles,
  });
  const needs = needsOf(parts, { keys, redis: stores.redis, auditLog });
  const readiness = new Readiness({ needs, clock, log, random: Math.random });
  const explorer = explorerOf(parts);
  const http = new HttpServer({
    ...config.listen,
    frontPage: frontPage({ role: config.role, hasExplorer: explorer !== undefined }),
    waitingFor: () => readiness.waitingFor,
    looks: observation.looks,
    graphql: createEndpoint({
      apollo,
      requestTimeoutMs: config.requestTimeoutMs,
      clock,
      log,
      crossOrigin: new CrossOrigin(config.allowedOrigins),
      allowsHost: hostCheck(config),
      async admit(headers) {
        const admitted = await gate.admit(headers);
        switch (admitted.kind) {
          case 'refused':
            observation.onRefused(admitted.reason);
            return admitted;
          case 'admitted':
            return admitted;
        }
      },
      trustedDocuments: config.trustedDocuments,
      explorer,
      createContext: contextFactory({
        simSwaps,
        quotas: stores.quotas,
        maxWaitMs: maxWaitMs(parts),
      }),
      onAnswered: observation.onAnswered,
    }),
    replyTimeoutMs: Math.max(config.requestTimeoutMs, MIN_REPLY_TIMEOUT_MS),
    drainLimitMs: config.requestTimeoutMs + SLOWEST_BYTES_MS,
    onDefect: (defect) => {
      log.error('a request broke', {
        error: defect instanceof Error ? defect.name : typeof defect,
      });
    },
  });
  observation.watch({
    simSwaps,
    readiness: () => http.readiness,
    authenticate: (authorization) => gate.authenticate(authorization),
  });
  const url = await http.listen();
  return {
    url,
    ready: readiness.begin(),
    stopLimitMs: stopLimitMs(parts),
    async stop() {
      readiness.stop();
      http.startDraining();
      await clock.sleep(config.drainGraceMs);
      await http.close();
      await apollo.stop();
      await simSwaps.close();
      await closeGate();
      await admissions.close();
      await observation.close();
      stores.close();
    },
  };
}

/** What must have worked before requests are sent here. An operator that is away is none of it. */
function needsOf(
  { operators, clock }: ServerParts,
  {
    keys,
    redis,
    auditLog,
  }: Pick<OpenedGate, 'keys'> & Pick<Stores, 'redis'> & { readonly auditLog: AuditLog | undefined },
): readonly Need[] {
  const needs: Need[] = [];
  if (keys !== undefined) needs.push({ name: 'JWT_JWKS_URL', probe: () => keys.probe() });
  if (redis !== undefined && operators.some(({ flow }) => asksOwner(flow))) {
    const ping = async (): Promise<void> => void (await redis.run('return 1', ['sim-swap:ready']));
    needs.push({ name: 'REDIS_URL', probe: ping });
  }
  if (auditLog !== undefined) {
    const begin = () =>
      auditLog.write({ audit: 'start', time: new Date(clock.nowMs()).toISOString() });
    needs.push({ name: 'AUDIT_LOG', probe: begin });
  }
  return needs;
}

/** A browser has no token when it opens a page: the explorer stands before the gate, for loopback alone. */
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

/** The longest that a request may wait for the owner of a number; `undefined` where no owner is asked. */
function maxWaitMs({ config, operators }: ServerParts): number | undefined {
  if (!operators.some(({ flow }) => asksOwner(flow))) return undefined;
  return Math.min(config.consent.maxWaitMs, config.requestTimeoutMs);
}

/** What requests, their answers and the exchanges of consents take; after them only what hangs is left. */
function stopLimitMs({ config, operators }: ServerParts): number {
  const requestsMs = config.drainGraceMs + config.requestTimeoutMs + SLOWEST_BYTES_MS;
  const exchangeMs = Math.max(0, ...operators.map(({ limits }) => limits.timeoutMs));
  const storesMs = AUDIT_BUDGET_MS + 2 * COMMAND_TIMEOUT_MS;
  return requestsMs + 2 * exchangeMs + storesMs + OBSERVATION_CLOSE_LIMIT_MS;
}

/** However short requests are: a client on a slow network reads a page of answers in it. */
const MIN_REPLY_TIMEOUT_MS = 1000;

/** What a drain allows for requests and answers to come and go, beside a request's own time. */
const SLOWEST_BYTES_MS = 1000;
