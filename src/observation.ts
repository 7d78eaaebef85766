import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { RefusalReason } from './caller/gate.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { allowsHost } from './config/allowedHosts.ts';
import type { Reply } from './graphql/reply.ts';
import { isLoopback } from './http/loopback.ts';
import type { Log } from './log.ts';
import type { AdmissionObserver } from './lookups/observedAdmissions.ts';
import { Metrics } from './metrics/metrics.ts';
import { MetricsServer } from './metrics/metricsServer.ts';
import { openTracing, tracedLog } from './openTracing.ts';
import type { OperatorSettings } from './operator/operatorSettings.ts';
import { requestLinesOf } from './requestLines.ts';
import type { RequestReport } from './requestRecord.ts';
import { endpointNames, type SimSwaps } from './simSwaps.ts';
import { asksOwner } from './tokens/authorizationSettings.ts';
import type { Tracing } from './tracing/tracing.ts';

/** What is looked in with. */
export interface ObservationParts {
  readonly config: Pick<Config, 'metricsPort' | 'tracing' | 'listen' | 'allowedHosts' | 'audit'>;
  readonly operators: readonly OperatorSettings[];
  readonly clock: Clock;
  readonly log: Log;
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
  /** What is asked for the load at each scrape. */
  readonly watch: (simSwaps: Pick<SimSwaps, 'load'>) => void;
  /** On the port of the service itself. */
  readonly metrics: ((request: IncomingMessage) => Promise<Reply>) | undefined;
  readonly close: () => Promise<void>;
}

/** How long closing may take: a collector of traces that hangs is waited for no longer. */
export const OBSERVATION_CLOSE_LIMIT_MS = 3000;

/**
 * Counts, where Prometheus is to scrape, records traces, where they have a collector, and writes a line for each
 * request. Rejects when the port is taken.
 */
export async function openObservation(parts: ObservationParts): Promise<Observation> {
  const metering = await openMetering(parts);
  const { metrics } = metering;
  const tracing = await tracingOf(parts, metrics);
  const traced = (log: Log): Log => (tracing === undefined ? log : tracedLog(log, tracing));
  const { requestLog, config } = parts;
  const requestLines =
    requestLog === undefined
      ? undefined
      : requestLinesOf(traced(requestLog), config.audit?.keys[0]);
  return {
    log: traced(parts.log),
    observers: [metrics?.observer, requestLines?.observer].filter((one) => one !== undefined),
    onAnswered(report) {
      metrics?.requestAnswered(report);
      requestLines?.write(report);
    },
    onRefused: (reason) => metrics?.callerRefused(reason),
    watch: (simSwaps) => metrics?.watch(() => simSwaps.load()),
    metrics: metering.onMainPort,
    async close() {
      await tracing?.close();
      await metering.close();
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

/** The metrics, and where they are. */
interface Metering {
  /** Absent where nothing is counted. */
  readonly metrics: Metrics | undefined;
  readonly onMainPort: Observation['metrics'];
  readonly close: () => Promise<void>;
}

async function openMetering(parts: ObservationParts): Promise<Metering> {
  const { config, operators, clock } = parts;
  const { metricsPort, listen } = config;
  if (metricsPort === undefined) {
    return { metrics: undefined, onMainPort: undefined, close: () => Promise.resolve() };
  }
  const prices = new Map(operators.map(({ name, price }) => [name, price]));
  const metrics = new Metrics({
    operators: operators.map((settings) => ({
      name: settings.name,
      endpoints: endpointNames(settings),
      isPrompting: asksOwner(settings.flow),
    })),
    priceOf: (operator) => prices.get(operator),
    monotonicMs: () => clock.monotonicMs(),
  });
  const isMain = metricsPort !== 0 && metricsPort === listen.port;
  const server = isMain ? undefined : await serve(metrics, parts, metricsPort);
  return {
    metrics,
    onMainPort: isMain ? ({ headers }) => scraped(metrics, mayScrape(config, headers)) : undefined,
    async close() {
      await server?.close();
      metrics.close();
    },
  };
}

async function serve(
  metrics: Metrics,
  { config, log }: ObservationParts,
  port: number,
): Promise<MetricsServer> {
  const server = new MetricsServer(metrics, ({ headers }) => mayScrape(config, headers));
  const listening = await server.listen(config.listen.host, port);
  log.info('metrics', { host: config.listen.host, port: listening });
  return server;
}

/**
 * Whether a scrape is answered. A page of another site whose name leads to this machine asks under that name; where
 * others reach the port anyway, what may scrape is the network's to say.
 */
function mayScrape(
  { listen, allowedHosts }: ObservationParts['config'],
  { host }: IncomingHttpHeaders,
): boolean {
  return !isLoopback(listen.host) || allowsHost(host, allowedHosts);
}

async function scraped(metrics: Metrics, isAllowed: boolean): Promise<Reply> {
  if (!isAllowed) return { status: 421, headers: {}, body: '' };
  return {
    status: 200,
    headers: { 'content-type': metrics.contentType },
    body: await metrics.text(),
  };
}
