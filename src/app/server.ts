import { lineOf } from '../caller/audit/entry.ts';
import { openApp, type App, type AppParts } from './app.ts';
import type { CallerSettings, IssuerSettings } from '../caller/caller.ts';
import { developmentKeys } from '../caller/developmentTokens.ts';
import { Gate } from '../caller/gate.ts';
import { SigningKeys } from '../caller/signingKeys.ts';
import { TokenVerifier } from '../caller/tokenVerifier.ts';
import { PublishedJson } from '../wire/publishedJson.ts';
import { isLoopback } from '../wire/wireSettings.ts';
import { startApolloServer } from '../graphql/apollo.ts';
import { BodyPace } from '../graphql/bodyPace.ts';
import { createEndpoint } from '../graphql/endpoint.ts';
import {
  createExplorer,
  type Explorer,
  type ExplorerOpening,
  frontPage,
} from '../graphql/explorer.ts';
import { HttpServer } from '../graphql/httpServer.ts';
import { REHEARSED } from '../graphql/rehearsals.ts';
import { Turns } from '../graphql/turns.ts';
import { Acceptance } from '../system/acceptance.ts';
import { follow } from '../system/fromFiles.ts';
import { logAbout, type ProgramLog } from '../log/log.ts';
import { AUDIT_BUDGET_MS } from '../lookups/lookupAuthorizer.ts';
import { OBSERVATION_CLOSE_LIMIT_MS, openObservation } from './observation.ts';
import { createReadiness, type Need } from './readiness.ts';
import { COMMAND_TIMEOUT_MS } from '../sharedState/redis.ts';
import { promptsOwner } from '../tokens/authorizationSettings.ts';

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

export interface ServerParts extends Omit<AppParts, 'observer' | 'acceptance'> {
  /** Gets a line for each request. */
  readonly requestLog?: ProgramLog;
  /** What GraphiQL shows first; absent in production and with trusted documents, where there is no GraphiQL. */
  readonly explorerOpening?: ExplorerOpening;
}

export async function startServer(parts: ServerParts) {
  const { config, clock } = parts;
  const observation = await openObservation(parts);
  const { log, observer } = observation;
  const acceptance = new Acceptance(clock);
  const app = await openApp({ ...parts, log, observer, acceptance });
  const { gate, keys, close: closeGate } = openGate(config.callers, { clock, log });
  const apollo = await startApolloServer(config, log);
  const explorer = explorerOf(parts);
  let { trustedDocuments } = config;
  const unfollow = follow(
    config.trustedDocumentsFile,
    { clock, log: logAbout({ setting: 'TRUSTED_DOCUMENTS' }, log) },
    (documents) => {
      trustedDocuments = documents;
    },
  );

  const readiness = createReadiness({
    needs: needsOf(parts, app, keys),
    clock,
    log,
    random: Math.random,
  });
  const pace = new BodyPace();
  const turns = new Turns(clock, acceptance);
  const http = new HttpServer({
    ...config.listen,
    pace,
    frontPage: frontPage(config.role, explorer !== undefined),
    waitingFor: readiness.waitingFor,
    graphql: createEndpoint({
      ...app,
      apollo,
      // Where every operator is the simulator.
      rehearsals: config.simulator === undefined ? undefined : REHEARSED,
      load: config.load.requests,
      pace,
      turns,
      checksHost: config.callers.tokens === undefined,
      gate,
      observation,
      trustedDocuments: () => trustedDocuments,
      explorer,
    }),
    replyTimeoutMs: Math.max(config.requestTimeoutMs, MIN_REPLY_TIMEOUT_MS),
    unreadBytes: config.load.requests.unreadBytes,
    idleConnections: config.load.requests.idleConnections,
    drainLimitMs: config.requestTimeoutMs + SLOWEST_BYTES_MS,
    acceptance,
    onDefect: (defect) => {
      log.error('A request failed because of a defect in this service. Report it.', {
        error: defect instanceof Error ? defect.name : typeof defect,
      });
    },
  });
  observation.watch(app.simSwaps);
  return {
    /** For example `http://127.0.0.1:4000`. */
    url: await http.listen(),
    /** `true` once every need has worked; `false` when it was stopped before. */
    ready: readiness.begin(),
    /** The longest that `stop` takes, unless something hangs. */
    stopLimitMs: stopLimitMs(parts),
    /** Becomes unready, serves for the grace, then drains and ends. */
    async stop() {
      readiness.stop();
      http.startDraining();
      await clock.sleep(config.drainGraceMs);
      const cutOff = await http.close();
      if (cutOff > 0)
        log.warn('The drain cut off requests that did not end in time.', { requests: cutOff });
      unfollow();
      await apollo.stop();
      await closeGate();
      await app.close();
      await observation.close();
    },
  };
}

/** What must have worked once before requests are sent here. Operators are not part of it. */
function needsOf(
  { operators, clock }: ServerParts,
  { redis, auditLog }: App,
  keys: Readonly<SigningKeys> | undefined,
): readonly Need[] {
  const needs: Need[] = [];
  if (keys !== undefined) needs.push({ name: 'JWT_JWKS_URL', probe: () => keys.probe() });
  if (redis !== undefined && operators.some(({ flow }) => promptsOwner(flow))) {
    const ping = async (): Promise<void> => void (await redis.run('return 1', ['sim-swap:ready']));
    needs.push({ name: 'REDIS_URL', probe: ping });
  }
  if (auditLog !== undefined) {
    const begin = () =>
      auditLog.write(lineOf({ audit: 'start', time: new Date(clock.nowMs()).toISOString() }));
    needs.push({ name: 'AUDIT_LOG', probe: begin });
  }
  return needs;
}

type GateParts = Pick<ServerParts, 'clock' | 'log'>;

/** The gate; its keys are absent where every caller is anonymous. */
function openGate(
  { tokens, batchScope, routerSecrets, purposes }: CallerSettings,
  { clock, log }: GateParts,
) {
  const source = tokens && keySourceOf(tokens, { clock, log });
  const keys = source && new SigningKeys({ fetch: () => source.fetch(), clock, log });
  const onRefused = (reason: string) =>
    log.warn("A caller's access token was refused.", { reason });
  const verifier = keys && new TokenVerifier({ ...tokens, batchScope, keys, clock, onRefused });
  const gate = new Gate({ routerSecrets, tokens: verifier, purposes });
  return { gate, keys, close: async () => source?.close() };
}

function keySourceOf(
  { isForDevelopment, jwksUrl, jwksConnection }: IssuerSettings,
  parts: GateParts,
): Pick<PublishedJson, 'fetch' | 'close'> {
  if (isForDevelopment === true) {
    return { fetch: async () => developmentKeys(), close: () => Promise.resolve() };
  }
  const log = logAbout({ setting: 'JWT_JWKS_URL' }, parts.log);
  return new PublishedJson(jwksUrl, jwksConnection, { ...parts, log });
}

/** A browser opens a page without a token: the explorer is before the gate, on loopback only. */
function explorerOf({ config, explorerOpening }: ServerParts): Explorer | undefined {
  const isExposed = config.production || !isLoopback(config.listen.host);
  const isClosed = isExposed || config.trustedDocuments !== undefined;
  return isClosed || explorerOpening === undefined ? undefined : createExplorer(explorerOpening);
}

/** The time for requests, their replies and the exchanges of consents; anything that is left after it hangs. */
export function stopLimitMs({
  config,
  operators,
}: Pick<ServerParts, 'config' | 'operators'>): number {
  const requestsMs = config.drainGraceMs + config.requestTimeoutMs + SLOWEST_BYTES_MS;
  const exchangeMs = Math.max(0, ...operators.map(({ limits }) => limits.timeoutMs));
  const storesMs = AUDIT_BUDGET_MS + 2 * COMMAND_TIMEOUT_MS;
  return requestsMs + 2 * exchangeMs + storesMs + OBSERVATION_CLOSE_LIMIT_MS;
}

/** The shortest limit, so that a client on a slow network can read a page of answers. */
const MIN_REPLY_TIMEOUT_MS = 1000;

/** The time that a drain adds to a request's own for the transfer of requests and replies. */
const SLOWEST_BYTES_MS = 1000;
