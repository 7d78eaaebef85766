import type { RefusalReason } from '../caller/gate.ts';
import type { Clock } from '../system/clock.ts';
import type { Config } from '../config/config.ts';
import { logOf, type Log, type ProgramLog } from '../log/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { serveMetrics } from '../telemetry/metricsServer.ts';
import type { OperatorSettings } from '../operator/operatorSettings.ts';
import { requestLines } from '../telemetry/requestLines.ts';
import type { RequestReport } from '../graphql/request.ts';
import type { SpanOutcome } from '../telemetry/metricDefinitions.ts';
import type { SimSwaps } from '../simSwaps/simSwaps.ts';
import type { Tracing } from '../telemetry/tracing.ts';

export interface ObservationParts {
  readonly config: Config;
  readonly operators: readonly OperatorSettings[];
  readonly clock: Clock;
  readonly log: Log;
  /** Gets a line for each request. */
  readonly requestLog?: ProgramLog;
}

/** How long closing may take, where a collector of traces hangs. */
export const OBSERVATION_CLOSE_LIMIT_MS = 3000;

/**
 * Counts where METRICS_PORT is set, records traces where a collector is set, and writes a line for each request.
 * Rejects when the port is in use.
 */
export async function openObservation(parts: ObservationParts) {
  const { config, log, requestLog } = parts;
  const counting = await openCounting(parts);
  const metrics = counting?.metrics;
  const tracing = await openTracing(parts, metrics);
  const writesRequests = config.logLevel === 'info' || config.logLevel === 'debug';
  const writeRequest =
    requestLog !== undefined && writesRequests
      ? requestLines(traced(requestLog, tracing), config.audit?.keys[0])
      : undefined;
  return {
    /** The log; with traces, each line has its trace. */
    log: traced(log, tracing),
    observer: metrics?.observer,
    onAnswered(report: RequestReport) {
      metrics?.requestAnswered(report);
      writeRequest?.(report);
    },
    onRefused: (reason: RefusalReason) => metrics?.callerRefused(reason),
    watch: (simSwaps: SimSwaps) => metrics?.watch(simSwaps),
    async close() {
      await tracing?.close();
      await counting?.server.close();
      metrics?.close();
    },
  };
}

/** Adds to each line the trace that it belongs to. */
function traced(log: Log, tracing: Tracing | undefined): Log {
  if (tracing === undefined) return log;
  return logOf((level, message, details) => {
    const { traceId } = tracing;
    log[level](message, traceId === undefined ? details : { ...details, trace_id: traceId });
  });
}

/** Loads the packages of OpenTelemetry, which a process without traces does not have in memory. */
async function openTracing(
  { config, clock, log }: ObservationParts,
  metrics: Metrics | undefined,
): Promise<Tracing | undefined> {
  const { tracing: settings } = config;
  if (settings === undefined) return undefined;
  const { Tracing: Opened } = await import('../telemetry/tracing.ts');
  const onSpans = (outcome: SpanOutcome, spans: number) => metrics?.spansEnded(outcome, spans);
  return new Opened({ settings, clock, log, random: Math.random, onSpans });
}

async function openCounting(parts: ObservationParts) {
  const { clock, log, operators, config, requestLog } = parts;
  const { metricsPort: port, docsUrl } = config;
  if (port === undefined) return undefined;
  // Loaded on demand: its packages are a tenth of all modules.
  const { Metrics: Opened } = await import('../telemetry/metrics.ts');
  const metrics = new Opened({
    operators,
    docsUrl,
    monotonicMs: () => clock.monotonicMs(),
    lostLogLines: () => requestLog?.lostLines() ?? 0,
    log,
  });
  const { host } = config.listen;
  const server = await serveMetrics(metrics, { host, port }, clock);
  log.info('Serving metrics.', { host, port: server.port });
  return { metrics, server };
}
