import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  trace,
  TraceFlags,
  type Context,
  type HrTime,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  RandomIdGenerator,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import { BUILD } from '../system/build.ts';
import { withinTime, type Clock } from '../system/clock.ts';
import {
  consentChannel,
  exchangeChannel,
  listen,
  lookupChannel,
  MessageNotes,
  planChannel,
  requestChannel,
  tokenChannel,
  type ExchangeMessage,
  type TraceParent,
  type WorkChannel,
} from '../log/diagnostics.ts';
import { writeTraceparent } from '../wire/headers.ts';
import type { Log } from '../log/log.ts';
import { CONSENT, EXCHANGE, LOOKUP, PLAN, REQUEST, TOKEN, type SpanShape } from './attributes.ts';
import type { SpanOutcome } from './metricDefinitions.ts';
import { OtlpSender } from './otlpSender.ts';
import { SpanQueue } from './spanQueue.ts';
import type { TracingSettings } from '../config/tracing.ts';

/** The longest that a drain waits for a collector. */
export const TRACING_CLOSE_LIMIT_MS = 2000;

export interface TracingParts {
  readonly settings: TracingSettings;
  readonly clock: Clock;
  readonly log: Log;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  readonly onSpans: (outcome: SpanOutcome, spans: number) => void;
}

interface RecordedScope {
  readonly isRecorded: true;
  readonly context: Context;
  /** The innermost; it may end before its children. */
  readonly span: Span;
  /** From the monotonic clock to the wall clock, fixed for a trace, so that spans keep their order. */
  readonly toWallMs: number;
}

/** A trace that is not recorded: it has no span, and an id for one where exchanges name it. */
class UnrecordedTrace {
  readonly isRecorded = false;
  readonly traceId: string;
  #spanId: string | undefined;

  constructor(traceId: string) {
    this.traceId = traceId;
  }

  get spanId(): string {
    return (this.#spanId ??= RANDOM_IDS.generateSpanId());
  }
}

type Scope = RecordedScope | UnrecordedTrace;

/**
 * Makes spans from the messages of the diagnostics channels until it is closed. A trace that is not sampled has only an
 * id: it costs one look into a store for each piece of work.
 */
export class Tracing {
  readonly #parts: TracingParts;
  readonly #sender: OtlpSender;
  readonly #queue: SpanQueue;
  readonly #sampler: Sampler;
  readonly #tracer: Tracer;
  /** The id of the trace that begins. */
  #traceId = '';
  readonly #scopes = new AsyncLocalStorage<Scope | undefined>();
  readonly #recorded = new MessageNotes<RecordedScope>();
  readonly #undo: (() => void)[] = [];

  constructor(parts: TracingParts) {
    const { settings } = parts;
    this.#parts = parts;
    this.#sender = new OtlpSender(parts);
    this.#queue = new SpanQueue({
      send: (spans) =>
        this.#sender.send(SERIALIZERS[settings.protocol].serializeRequest([...spans]) ?? NO_BYTES),
      report: (...what) => this.#report(...what),
    });
    this.#sampler = samplerOf(settings.sampler);
    const provider = new TracerProvider({
      resource: resourceOf(settings.resource),
      // Only for traces that are recorded.
      sampler: new AlwaysOnSampler(),
      idGenerator: {
        generateTraceId: () => this.#traceId,
        generateSpanId: () => RANDOM_IDS.generateSpanId(),
      },
      spanProcessors: [this.#queue],
    });
    this.#tracer = provider.getTracer('sim-swap-subgraph');
    this.#listen(requestChannel, REQUEST, ({ parent }) => parent);
    this.#listen(planChannel, PLAN);
    this.#listen(consentChannel, CONSENT);
    this.#listen(tokenChannel, TOKEN);
    this.#listen(lookupChannel, LOOKUP);
    this.#listen(exchangeChannel, EXCHANGE);
    if (settings.reachesOperators) {
      const unlisten = listen(exchangeChannel.start, (message) =>
        addTraceparent(message, this.#scopes),
      );
      this.#undo.push(unlisten);
    }
  }

  /** The trace of the work under way. */
  get traceId(): string | undefined {
    const scope = this.#scopes.getStore();
    return scope && placeOf(scope).traceId;
  }

  /** Sends the waiting spans within the limit, and drops the rest. Never rejects. */
  async close(): Promise<void> {
    for (const undo of this.#undo) undo();
    const sent = this.#queue.shutdown();
    await withinTime(this.#parts.clock, TRACING_CLOSE_LIMIT_MS, sent, undefined);
    this.#queue.drop();
    await this.#sender.close();
    // A batch under way has failed by now.
    await sent;
  }

  /** @param parentOf the caller's span; where absent, the message belongs to the surrounding work */
  #listen<Message extends object>(
    channel: WorkChannel<Message>,
    shape: SpanShape<Message>,
    parentOf?: (message: Message) => TraceParent | undefined,
  ): void {
    channel.start.bindStore(this.#scopes, (message) => {
      const outer = parentOf === undefined ? this.#scopes.getStore() : undefined;
      if (outer === undefined) return this.#begin(message, shape, parentOf?.(message));
      return outer.isRecorded ? this.#record(message, shape, outer.context, outer.toWallMs) : outer;
    });
    const unlisten = listen(channel.asyncEnd, (message) => {
      const scope = this.#recorded.get(message);
      if (scope === undefined) return;
      const { span } = scope;
      const { attributes, status } = shape.end(message);
      span.setAttributes(attributes);
      if (status !== undefined) span.setStatus(status);
      span.end(this.#time(scope));
    });
    this.#undo.push(() => {
      channel.start.unbindStore(this.#scopes);
      unlisten();
    });
  }

  /** Whether a trace is recorded is decided at its beginning, before anything else is made for it. */
  #begin<Message extends object>(
    message: Message,
    shape: SpanShape<Message>,
    parent: TraceParent | undefined,
  ): Scope {
    const context = remoteContext(parent);
    const traceId = parent?.traceId ?? RANDOM_IDS.generateTraceId();
    const { decision } = this.#sampler.shouldSample(context, traceId, '', SpanKind.SERVER, {}, []);
    if (decision === SamplingDecision.NOT_RECORD) return new UnrecordedTrace(traceId);
    this.#traceId = traceId;
    const { clock } = this.#parts;
    return this.#record(message, shape, context, clock.nowMs() - clock.monotonicMs());
  }

  #record<Message extends object>(
    message: Message,
    shape: SpanShape<Message>,
    parent: Context,
    toWallMs: number,
  ): RecordedScope {
    const { name, kind, attributes } = shape.begin(message);
    const startTime = this.#time({ toWallMs });
    const span = this.#tracer.startSpan(name, { kind, attributes, startTime }, parent);
    const context = trace.setSpan(parent, span);
    const scope: RecordedScope = { isRecorded: true, context, span, toWallMs };
    this.#recorded.set(message, scope);
    return scope;
  }

  #time({ toWallMs }: Pick<RecordedScope, 'toWallMs'>): HrTime {
    const ms = this.#parts.clock.monotonicMs() + toWallMs;
    const seconds = Math.floor(ms / 1000);
    return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
  }

  #report(outcome: SpanOutcome, spans: number, reason: string | undefined): void {
    const { log, onSpans } = this.#parts;
    onSpans(outcome, spans);
    switch (outcome) {
      case 'sent':
        return;
      case 'failed':
        log.warn('Spans could not be sent. Check the collector at OTEL_EXPORTER_OTLP_ENDPOINT.', {
          reason,
        });
        return;
      case 'dropped':
        log.warn(
          'Spans were dropped: the collector is too slow. Sample fewer traces (OTEL_TRACES_SAMPLER_ARG).',
        );
    }
  }
}

const NO_BYTES = new Uint8Array();

const RANDOM_IDS = new RandomIdGenerator();

const SERIALIZERS = { 'http/protobuf': ProtobufTraceSerializer, 'http/json': JsonTraceSerializer };

/** Describes the SDK, this build and this process, unless the settings name others. */
function resourceOf(attributes: TracingSettings['resource']) {
  return defaultResource().merge(
    resourceFromAttributes({
      'service.version': BUILD.version,
      'service.instance.id': randomUUID(),
      ...Object.fromEntries(attributes),
    }),
  );
}

function remoteContext(parent: TraceParent | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled, state } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(state === undefined ? {} : { traceState: createTraceState(state) }),
  });
}

function addTraceparent(
  message: ExchangeMessage,
  scopes: AsyncLocalStorage<Scope | undefined>,
): void {
  const scope = scopes.getStore();
  if (scope === undefined) return;
  const { traceId, spanId } = placeOf(scope);
  const { isRecorded: isSampled } = scope;
  message.addHeader('traceparent', writeTraceparent({ traceId, spanId, isSampled }));
}

function placeOf(scope: Scope): Pick<TraceParent, 'traceId' | 'spanId'> {
  return scope.isRecorded ? scope.span.spanContext() : scope;
}

function samplerOf({ name, ratio }: TracingSettings['sampler']): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}
