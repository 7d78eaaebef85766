import type { RefusalReason } from '../caller/gate.ts';
import type { Clock } from '../system/clock.ts';
import type { Config } from '../config/config.ts';
import type { WatchFiles } from '../system/fromFiles.ts';
import type { Log } from '../log/log.ts';
import type { AdmissionObserver } from '../lookups/observedAuthorizers.ts';
import type { MeteredOperator, Metrics } from '../telemetry/metrics.ts';
import { MetricsServer, scrapeOf, type Scrape } from '../telemetry/metricsServer.ts';
import { openTracing, tracedLog } from '../telemetry/openTracing.ts';
import type { OperatorSettings } from '../operator/operatorSettings.ts';
import { requestLinesOf } from '../telemetry/requestLines.ts';
import type { RequestReport } from '../graphql/request.ts';
import { endpointNames } from '../simSwaps/operatorEndpoints.ts';
import type { SimSwaps } from '../simSwaps/simSwaps.ts';
import { asksOwner } from '../tokens/authorizationSettings.ts';
import type { Tracing } from '../telemetry/tracing.ts';

export interface ObservationParts {
  readonly config: Pick<Config, 'metricsPort' | 'docsUrl' | 'tracing' | 'listen' | 'audit'>;
  readonly operators: readonly OperatorSettings[];
  readonly clock: Clock;
  readonly log: Log;
  readonly watchFiles: WatchFiles;
  /** Where a line for each request goes; there are none where absent. */
  readonly requestLog?: Log;
}

/** Everything that tells those who run the service what it does. */
export interface Observation {
  /** The log handed in; where there are traces, its lines say to which they belong. */
  readonly log: Log;
  readonly observers: readonly AdmissionObserver[];
  readonly onAnswered: (report: RequestReport) => void;
  readonly onRefused: (reason: RefusalReason) => void;
  /** Hands in what is looked at, once the service is put together. */
  readonly watch: (simSwaps: Pick<SimSwaps, 'load' | 'connections' | 'clocks'>) => void;
  readonly close: () => Promise<void>;
}

/** How long closing may take: a collector of traces that hangs is waited for no longer. */
export const OBSERVATION_CLOSE_LIMIT_MS = 3000;

/**
 * Counts, where Prometheus is to scrape, records traces, where they have a collector, and writes a line for each
 * request. Rejects when the port is taken.
 */
export async function openObservation(parts: ObservationParts): Promise<Observation> {
  const counting = await openCounting(parts);
  const tracing = await tracingOf(parts, counting?.metrics);
  const traced = (log: Log): Log => (tracing === undefined ? log : tracedLog(log, tracing));
  const requestLines =
    parts.requestLog === undefined
      ? undefined
      : requestLinesOf(traced(parts.requestLog), parts.config.audit?.keys[0]);
  const observers = [counting?.metrics.observer, requestLines?.observer];
  return {
    log: traced(parts.log),
    observers: observers.filter((one) => one !== undefined),
    onAnswered(report) {
      counting?.metrics.requestAnswered(report);
      requestLines?.write(report);
    },
    onRefused(reason) {
      counting?.metrics.callerRefused(reason);
    },
    watch: (simSwaps) => counting?.metrics.watch(simSwaps),
    async close() {
      await tracing?.close();
      await counting?.close();
    },
  };
}

function tracingOf(
  { config, clock, log, watchFiles }: ObservationParts,
  metrics: Metrics | undefined,
): Promise<Tracing> | undefined {
  if (config.tracing === undefined) return undefined;
  return openTracing(config.tracing, {
    clock,
    log,
    watchFiles,
    onSpans: (outcome, spans) => metrics?.spansEnded(outcome, spans),
  });
}

interface OpenMetrics {
  readonly metrics: Metrics;
  readonly close: () => Promise<void>;
}

/** `undefined` where nothing is scraped. */
async function openCounting(parts: ObservationParts): Promise<OpenMetrics | undefined> {
  const { clock, config } = parts;
  const { metricsPort } = config;
  if (metricsPort === undefined) return undefined;
  // Its packages are a tenth of all modules.
  const { Metrics: Opened } = await import('../telemetry/metrics.ts');
  const metrics = new Opened({
    operators: parts.operators.map(meteredOperator),
    docsUrl: config.docsUrl,
    monotonicMs: () => clock.monotonicMs(),
    log: parts.log,
  });
  const server = await serve(scrapeOf(metrics, config, clock), parts, metricsPort);
  return {
    metrics,
    async close() {
      await server.close();
      metrics.close();
    },
  };
}

function meteredOperator(settings: OperatorSettings): MeteredOperator {
  const { name, flow, price } = settings;
  return { name, endpoints: endpointNames(settings), isPrompting: asksOwner(flow), price };
}

async function serve(
  scrape: Scrape,
  { config, log }: ObservationParts,
  port: number,
): Promise<MetricsServer> {
  const server = new MetricsServer(scrape);
  const listening = await server.listen(config.listen.host, port);
  log.info('metrics', { host: config.listen.host, port: listening });
  return server;
}
