import type { Clock } from '../system/clock.ts';
import type { WatchFiles } from '../system/fromFiles.ts';
import type { Log } from '../log/log.ts';
import type { SpanOutcome } from './metricDefinitions.ts';
import type { Tracing } from './tracing.ts';
import type { TracingSettings } from '../config/tracing.ts';

export interface OpenTracingParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Reads the files by which the collector is reached. */
  readonly watchFiles: WatchFiles;
  /** Told what became of spans, once each. */
  onSpans?(outcome: SpanOutcome, spans: number): void;
}

/** Loads the packages of OpenTelemetry: a process that records no traces has none of them in its memory. */
export async function openTracing(
  settings: TracingSettings,
  parts: OpenTracingParts,
): Promise<Tracing> {
  const { Tracing: Opened } = await import('./tracing.ts');
  return new Opened({ settings, ...parts, random: Math.random });
}

/** The log, with the trace of what each line is written for. */
export function tracedLog(log: Log, tracing: Pick<Tracing, 'traceId'>): Log {
  const write =
    (level: keyof Log): Log['info'] =>
    (message, details) => {
      const { traceId } = tracing;
      log[level](message, traceId === undefined ? details : { ...details, trace_id: traceId });
    };
  return { info: write('info'), warn: write('warn'), error: write('error') };
}
