import type { Clock } from './clock.ts';
import type { WatchFiles } from './fileWatch.ts';
import type { Log } from './log.ts';
import type { SpanOutcome } from './tracing/spanOutcome.ts';
import type { Tracing } from './tracing/tracing.ts';
import type { TracingSettings } from './tracing/tracingSettings.ts';

/** What tracing is opened with. */
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
  const { Tracing: Opened } = await import('./tracing/tracing.ts');
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
