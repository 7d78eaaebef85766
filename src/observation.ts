import type { Gate, RefusalReason } from './caller/gate.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Generations } from './generations.ts';
import type { Readiness } from './graphql/httpServer.ts';
import type { Log } from './log.ts';
import { metricsLook, statusLook, type StatusParts } from './looks.ts';
import type { AdmissionObserver } from './lookups/observedAdmissions.ts';
import { Metrics, type MeteredOperator } from './metrics/metrics.ts';
import { ObservationServer, type Look, type Looks } from './observationServer.ts';
import { openTracing, tracedLog } from './openTracing.ts';
import type { OperatorSettings } from './operator/operatorSettings.ts';
import { requestLinesOf } from './requestLines.ts';
import type { RequestReport } from './requestRecord.ts';
import { endpointNames } from './simSwaps.ts';
import { StatusBoard, type ShownOperator } from './status/statusBoard.ts';
import { asksOwner } from './tokens/authorizationSettings.ts';
import type { Tracing } from './tracing/tracing.ts';

/** What of the settings bears on it. */
export interface ObservedSettings {
  readonly config: Pick<Config, 'metricsPort' | 'tracing' | 'listen' | 'allowedHosts' | 'audit'>;
  readonly operators: readonly OperatorSettings[];
}

/** What is looked in with. */
export interface ObservationParts extends ObservedSettings {
  readonly clock: Clock;
  readonly log: Log;
  /** Where a line for each request goes; there are none where absent. */
  readonly requestLog?: Log;
}

/** What is looked at, and whether it may be; known once the service is put together. */
export interface Watched {
  readonly generations: Pick<Generations, 'load' | 'connections'>;
  readonly readiness: () => Readiness;
  readonly authenticate: Gate['authenticate'];
}

/** Everything that tells those who run the service what it does. */
export interface Observation {
  /** The log handed in; where there are traces, its lines say to which they belong. */
  readonly log: Log;
  readonly observers: readonly AdmissionObserver[];
  readonly onAnswered: (report: RequestReport) => void;
  readonly onRefused: (reason: RefusalReason) => void;
  readonly watch: (watched: Watched) => void;
  /** Takes the settings that are in force from now on; `made` are the operators whose circuits are new. */
  readonly renew: (settings: ObservedSettings, made: readonly string[]) => void;
  /** Told whether the settings that were read last are in force. */
  readonly reloaded: (isInForce: boolean) => void;
  /** What is on the port of the service itself. */
  readonly looks: Looks;
  readonly close: () => Promise<void>;
}

/** How long closing may take: a collector of traces that hangs is waited for no longer. */
export const OBSERVATION_CLOSE_LIMIT_MS = 3000;

/**
 * Counts, where Prometheus is to scrape, records traces, where they have a collector, and writes a line for each
 * request. Where these go does not change with the settings. Rejects when the port is taken.
 */
export async function openObservation(parts: ObservationParts): Promise<Observation> {
  let inForce: ObservedSettings = parts;
  const counting = await openCounting(parts, () => inForce);
  const tracing = await tracingOf(parts, counting?.metrics);
  const traced = (log: Log): Log => (tracing === undefined ? log : tracedLog(log, tracing));
  const requestLines =
    parts.requestLog === undefined
      ? undefined
      : requestLinesOf(traced(parts.requestLog), () => inForce.config.audit?.keys[0]);
  const observers = [counting?.metrics.observer, counting?.board.observer, requestLines?.observer];
  return {
    log: traced(parts.log),
    observers: observers.filter((one) => one !== undefined),
    onAnswered(report) {
      counting?.metrics.requestAnswered(report);
      requestLines?.write(report);
    },
    onRefused(reason) {
      counting?.metrics.callerRefused(reason);
      counting?.board.callerRefused(reason);
    },
    watch: (watched) => counting?.watch(watched),
    renew(settings, made) {
      inForce = settings;
      counting?.metrics.renew(settings.operators.map(shownOperator), made);
      counting?.board.renew(made);
    },
    reloaded: (isInForce) => counting?.metrics.reloaded(isInForce),
    looks: counting?.onMainPort ?? new Map<string, Look>(),
    async close() {
      await tracing?.close();
      await counting?.close();
    },
  };
}

function tracingOf(
  { config, clock, log }: ObservationParts,
  metrics: Metrics | undefined,
): Promise<Tracing> | undefined {
  if (config.tracing === undefined) return undefined;
  return openTracing(config.tracing, {
    clock,
    log,
    onSpans: (outcome, spans) => metrics?.spansEnded(outcome, spans),
  });
}

/** What is counted and kept, and where it is looked at. */
interface Counting {
  readonly metrics: Metrics;
  readonly board: StatusBoard;
  readonly watch: Observation['watch'];
  readonly onMainPort: Looks | undefined;
  readonly close: () => Promise<void>;
}

/** `undefined` where nothing is looked at. */
async function openCounting(
  parts: ObservationParts,
  inForce: () => ObservedSettings,
): Promise<Counting | undefined> {
  const { clock } = parts;
  const { metricsPort, listen } = parts.config;
  if (metricsPort === undefined) return undefined;
  const metrics = new Metrics({
    operators: parts.operators.map(shownOperator),
    monotonicMs: () => clock.monotonicMs(),
  });
  const board = new StatusBoard(clock);
  let status: StatusParts | undefined;
  const at = (): ObservedSettings['config'] => inForce().config;
  const looks: Looks = new Map([
    ['/metrics', metricsLook(metrics, at)],
    ['/status', statusLook(() => status, at)],
  ]);
  const isMain = metricsPort !== 0 && metricsPort === listen.port;
  const server = isMain ? undefined : await serve(looks, parts, metricsPort);
  return {
    metrics,
    board,
    watch({ generations, readiness, authenticate }) {
      metrics.watch(generations);
      const sources = {
        operators: () => inForce().operators.map(shownOperator),
        load: () => generations.load(),
        connections: () => generations.connections(),
        service: readiness,
      };
      status = { report: () => board.report(sources), authenticate };
    },
    onMainPort: isMain ? looks : undefined,
    async close() {
      await server?.close();
      metrics.close();
      board.close();
    },
  };
}

function shownOperator(settings: OperatorSettings): MeteredOperator & ShownOperator {
  const { name, flow, price } = settings;
  return { name, flow, endpoints: endpointNames(settings), isPrompting: asksOwner(flow), price };
}

async function serve(
  looks: Looks,
  { config, log }: ObservationParts,
  port: number,
): Promise<ObservationServer> {
  const server = new ObservationServer(looks);
  const listening = await server.listen(config.listen.host, port);
  log.info('metrics', { host: config.listen.host, port: listening });
  return server;
}
