import { createAdmissions, Gates } from './callers.ts';
import type { AuditLog } from './caller/audit/auditLog.ts';
import { Quotas } from './caller/quotas/quotas.ts';
import type { Clock } from './clock.ts';
import { isLoopback } from './http/loopback.ts';
import { createExplorer, type Explorer } from './graphql/explorer.ts';
import { frontPage } from './graphql/frontPage.ts';
import { HttpServer } from './graphql/httpServer.ts';
import type { WatchFiles } from './fileWatch.ts';
import type { Log } from './log.ts';
import { AUDIT_BUDGET_MS } from './lookups/admission.ts';
import { observedAdmissions } from './lookups/observedAdmissions.ts';
import { OBSERVATION_CLOSE_LIMIT_MS, openObservation } from './observation.ts';
import { Readiness, type Need } from './readiness.ts';
import { Apollos, Serving, type ServedSettings } from './serving.ts';
import { COMMAND_TIMEOUT_MS } from './sharedState/sharedStateLost.ts';
import { asksOwner } from './tokens/authorizationSettings.ts';
import { createGenerations, type Judges } from './simSwaps.ts';
import { WatchedFiles } from './watchedFiles.ts';
import { openStores, type Stores } from './stores.ts';

/** A process that serves. */
export interface RunningServer {
  /** Such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** `true` once everything that answering needs has worked; `false` when it was stopped before. */
  readonly ready: Promise<boolean>;
  /**
   * Puts other settings in force: requests from now on are answered by them, and those under way end by the settings
   * that they began with. Where it listens and what it is, the Redis and the file of the audit log stay as they were.
   * One at a time. Rejects when it cannot serve by them; then the old ones stay in force.
   */
  reload(settings: ServedSettings): Promise<Reloaded>;
  /** Counts that other settings were to be put in force, and were not fit. */
  noteRefusedReload(): void;
  /** Says that it is not ready, goes on for the grace, then drains and ends. */
  stop(): Promise<void>;
  /** How long that takes at most, unless something hangs. */
  readonly stopLimitMs: number;
}

/** What a reload did to operators, by their names. */
export interface Reloaded {
  /** New, or made anew since their settings have changed. */
  readonly made: readonly string[];
  /** Asked no more. */
  readonly gone: readonly string[];
  /** Resolves when everything has ended that only the settings before used. */
  readonly drained: Promise<void>;
}

/** What is handed in from outside. */
export interface ServerParts extends ServedSettings {
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
  const names = parts.operators.map(({ name }) => name);
  const quotas = new Quotas(config.quotas, stores.counts, names);
  const { admissions, auditLog } = createAdmissions(config.audit, quotas, parts);
  const generations = createGenerations({
    ...parts,
    watchFiles,
    admissions: observedAdmissions(admissions, observation.observers),
  });
  const explorer = explorerOf(parts);
  const servingParts = {
    stores,
    generations,
    gates: new Gates({ ...parts, watchFiles }),
    apollos: new Apollos(log),
    observation,
    explorer,
    clock,
    log,
  };
  let serving = await Serving.begin(parts, servingParts);
  const retiring = new Set<Promise<void>>();

  const needs = needsOf(parts, { serving: () => serving, redis: stores.redis, auditLog });
  const readiness = new Readiness({ needs, clock, log, random: Math.random });
  const http = new HttpServer({
    ...config.listen,
    frontPage: frontPage({ role: config.role, hasExplorer: explorer !== undefined }),
    waitingFor: () => readiness.waitingFor,
    looks: observation.looks,
    graphql: (request, response) => serving.graphql(request, response),
    replyTimeoutMs: Math.max(config.requestTimeoutMs, MIN_REPLY_TIMEOUT_MS),
    drainLimitMs: config.requestTimeoutMs + SLOWEST_BYTES_MS,
    onDefect: (defect) => {
      log.error('a request broke', {
        error: defect instanceof Error ? defect.name : typeof defect,
      });
    },
  });
  observation.watch({
    generations,
    readiness: () => http.readiness,
    authenticate: (authorization) => serving.authenticate(authorization),
  });
  const url = await http.listen();

  /** Forgets what no settings use any more, once nothing is under way that may. */
  async function drain(before: Serving): Promise<void> {
    const retirement = before.retire();
    retiring.add(retirement);
    await retirement;
    retiring.delete(retirement);
    if (retiring.size > 0) return;
    const inForce = serving.settings;
    stores.keepOnly(inForce.operators, inForce.config.consent);
    observation.renew(inForce, []);
  }

  return {
    url,
    ready: readiness.begin(),
    get stopLimitMs() {
      return stopLimitMs(serving.settings);
    },
    async reload(settings) {
      const before = serving;
      const next = await Serving.begin(settings, servingParts);
      const { sharedState } = settings.config;
      if (sharedState !== undefined) stores.renewKeys(sharedState.stateKeys);
      admissions.renew({ quotas: next.quotas, auditKey: settings.config.audit?.keys[0] });
      observation.renew(settings, next.made);
      observation.reloaded(true);
      serving = next;
      const left = new Set(settings.operators.map(({ name }) => name));
      return {
        made: next.made,
        gone: before.settings.operators.flatMap(({ name }) => (left.has(name) ? [] : name)),
        drained: drain(before),
      };
    },
    noteRefusedReload: () => observation.reloaded(false),
    async stop() {
      readiness.stop();
      http.startDraining();
      await clock.sleep(serving.settings.config.drainGraceMs);
      await http.close();
      await serving.close();
      await generations.close();
      await Promise.all(retiring);
      await admissions.close();
      await observation.close();
      stores.close();
    },
  };
}

/** What needs are about, beside the settings of the start. */
interface Needed extends Pick<Stores, 'redis'> {
  readonly serving: () => Serving;
  readonly auditLog: AuditLog | undefined;
}

/** What must have worked before requests are sent here. An operator that is away is none of it. */
function needsOf(
  { operators, clock, config }: ServerParts,
  { serving, redis, auditLog }: Needed,
): readonly Need[] {
  const needs: Need[] = [];
  if (config.callers.tokens !== undefined) {
    // By the settings that are in force by then: an address that was wrong may have been mended.
    needs.push({ name: 'JWT_JWKS_URL', probe: async () => serving().keys?.probe() });
  }
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

/** What requests, their answers and the exchanges of consents take; after them only what hangs is left. */
export function stopLimitMs({ config, operators }: ServedSettings): number {
  const requestsMs = config.drainGraceMs + config.requestTimeoutMs + SLOWEST_BYTES_MS;
  const exchangeMs = Math.max(0, ...operators.map(({ limits }) => limits.timeoutMs));
  const storesMs = AUDIT_BUDGET_MS + 2 * COMMAND_TIMEOUT_MS;
  return requestsMs + 2 * exchangeMs + storesMs + OBSERVATION_CLOSE_LIMIT_MS;
}

/** However short requests are: a client on a slow network reads a page of answers in it. */
const MIN_REPLY_TIMEOUT_MS = 1000;

/** What a drain allows for requests and answers to come and go, beside a request's own time. */
const SLOWEST_BYTES_MS = 1000;
