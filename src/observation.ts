import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { auditHash } from './caller/audit/auditHash.ts';
import type { RefusalReason } from './caller/gate.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { allowsHost } from './config/allowedHosts.ts';
import type { Identity } from './domain/asker.ts';
import type { Reply } from './graphql/reply.ts';
import type { Correlator } from './http/correlator.ts';
import { isLoopback } from './http/loopback.ts';
import type { Log, LogDetails } from './log.ts';
import type { AdmissionObserver } from './lookups/observedAdmissions.ts';
import { Metrics, type MeteredOperator } from './metrics/metrics.ts';
import { MetricsServer } from './metrics/metricsServer.ts';
import type { OperatorSettings } from './operator/operatorSettings.ts';
import type { RequestReport } from './requestRecord.ts';
import { endpointNames, type SimSwaps } from './simSwaps.ts';
import { asksOwner } from './tokens/authorizationSettings.ts';

/** What of the settings bears on it. */
export interface ObservedSettings {
  readonly config: Pick<Config, 'metricsPort' | 'listen' | 'allowedHosts' | 'audit'>;
  readonly operators: readonly OperatorSettings[];
}

/** What is looked in with. */
export interface ObservationParts extends ObservedSettings {
  readonly clock: Clock;
  readonly log: Log;
  /** Where a line for each request goes; there are none where absent. */
  readonly requestLog?: Log;
}

/** Everything that tells those who run the service what it does. */
export interface Observation {
  readonly observers: readonly AdmissionObserver[];
  readonly onAnswered: (report: RequestReport) => void;
  readonly onRefused: (reason: RefusalReason) => void;
  /** What is asked for the load at each scrape. */
  readonly watch: (simSwaps: Pick<SimSwaps, 'load'>) => void;
  /** Takes the settings that are in force from now on; `made` are the operators whose circuits are new. */
  readonly renew: (settings: ObservedSettings, made: readonly string[]) => void;
  /** Told whether the settings that were read last are in force. */
  readonly reloaded: (isInForce: boolean) => void;
  /** On the port of the service itself. */
  readonly metrics: ((request: IncomingMessage) => Promise<Reply>) | undefined;
  readonly close: () => Promise<void>;
}

/** Counts, where Prometheus is to scrape, and writes a line for each request. Rejects when the port is taken. */
export async function openObservation(parts: ObservationParts): Promise<Observation> {
  const { clock } = parts;
  let inForce: ObservedSettings = parts;
  const configInForce = (): ObservedSettings['config'] => inForce.config;
  const requestLines =
    parts.requestLog === undefined ? undefined : requestLinesOf(parts.requestLog, configInForce);
  const { metricsPort, listen } = parts.config;
  if (metricsPort === undefined) {
    return {
      observers: requestLines === undefined ? [] : [requestLines.observer],
      onAnswered: (report) => requestLines?.write(report),
      onRefused: () => undefined,
      watch: () => undefined,
      reloaded: () => undefined,
      renew(settings) {
        inForce = settings;
      },
      metrics: undefined,
      close: () => Promise.resolve(),
    };
  }
  const metrics = new Metrics({
    operators: parts.operators.map(meteredOperator),
    monotonicMs: () => clock.monotonicMs(),
  });
  const isMain = metricsPort !== 0 && metricsPort === listen.port;
  const server = isMain ? undefined : await serve(metrics, parts, configInForce, metricsPort);
  return {
    observers: [metrics.observer, ...(requestLines === undefined ? [] : [requestLines.observer])],
    onAnswered(report) {
      metrics.requestAnswered(report);
      requestLines?.write(report);
    },
    onRefused: (reason) => metrics.callerRefused(reason),
    watch: (simSwaps) => metrics.watch(() => simSwaps.load()),
    reloaded: (isInForce) => metrics.reloaded(isInForce),
    renew(settings, made) {
      inForce = settings;
      metrics.renew(settings.operators.map(meteredOperator), made);
    },
    metrics: isMain
      ? ({ headers }) => scraped(metrics, mayScrape(inForce.config, headers))
      : undefined,
    async close() {
      await server?.close();
      metrics.close();
    },
  };
}

function meteredOperator(settings: OperatorSettings): MeteredOperator {
  const { name, flow, price } = settings;
  return { name, endpoints: endpointNames(settings), isPrompting: asksOwner(flow), price };
}

async function serve(
  metrics: Metrics,
  { config, log }: ObservationParts,
  configInForce: () => ObservedSettings['config'],
  port: number,
): Promise<MetricsServer> {
  const server = new MetricsServer(metrics, ({ headers }) => mayScrape(configInForce(), headers));
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

/** Writes the lines of requests. */
interface RequestLines {
  readonly observer: AdmissionObserver;
  write(report: RequestReport): void;
}

function requestLinesOf(requestLog: Log, config: () => ObservedSettings['config']): RequestLines {
  const lookups = new WeakMap<Correlator, number>();
  return {
    observer: {
      ended(_operator, { event, request }) {
        if (event !== 'lookup') return;
        lookups.set(request.correlator, (lookups.get(request.correlator) ?? 0) + 1);
      },
    },
    write(report) {
      const details = detailsOf(
        report,
        lookups.get(report.correlator) ?? 0,
        config().audit?.keys[0],
      );
      requestLog.info('request', details);
    },
  };
}

function detailsOf(
  { correlator, caller, document, status, tookMs, codes }: RequestReport,
  lookups: number,
  auditKey: string | undefined,
): LogDetails {
  return {
    status,
    document: document ?? 'other',
    codes: codes.size === 0 ? undefined : textOf(codes),
    lookups,
    ms: Math.round(tookMs * 10) / 10,
    caller: callerOf(caller, auditKey),
    correlator: correlator.name,
  };
}

function textOf(codes: ReadonlyMap<string, number>): string {
  return Array.from(codes, ([code, count]) => (count === 1 ? code : `${code}×${count}`)).join(' ');
}

/** As in the audit log, so that a caller's lines can be found there; cut short, since a line is for people. */
function callerOf(caller: Identity | undefined, auditKey: string | undefined): string | undefined {
  switch (caller?.kind) {
    case undefined:
      return undefined;
    case 'anonymous':
      return 'anonymous';
    case 'token':
      return auditKey === undefined ? undefined : auditHash(auditKey, caller.subject).slice(0, 16);
  }
}
