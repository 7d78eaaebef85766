import type { ServerResponse } from 'node:http';
import { RecordingServer, type Received } from '../wire/recordingServer.ts';

/** A span as OTLP writes it in JSON, its attributes by name. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface Written {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

type WrittenSpan = Omit<CollectedSpan, 'startMs' | 'endMs' | 'attributes'> & {
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Written[];
};

interface WrittenTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Written[] };
    readonly scopeSpans: readonly { readonly spans: readonly WrittenSpan[] }[];
  }[];
}

type Reply = (response: ServerResponse, count: number) => void;

/** A collector of traces by OTLP over HTTP: a real server, which keeps all that it is sent. */
export class Collector implements AsyncDisposable {
  readonly #server: RecordingServer;

  private constructor(server: RecordingServer) {
    this.#server = server;
  }

  /** @param answer to each POST; 200 where absent */
  static async start(answer: Reply = accept): Promise<Collector> {
    const server = await RecordingServer.start((_, response) =>
      answer(response, server.received.length),
    );
    return new Collector(server);
  }

  get url(): string {
    return this.#server.url;
  }

  get received(): readonly Received[] {
    return this.#server.received;
  }

  /** The settings of a service that sends its traces here, as JSON. */
  get settings(): Readonly<Record<string, string>> {
    return { OTEL_EXPORTER_OTLP_ENDPOINT: this.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  }

  /** All bodies, as they were sent. */
  get text(): string {
    return this.received.map(({ body }) => body).join('\n');
  }

  /** Spans in the order in which they began. */
  get spans(): readonly CollectedSpan[] {
    return this.#traces
      .flatMap(({ resourceSpans }) => resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
      .map(({ startTimeUnixNano, endTimeUnixNano, attributes, parentSpanId, ...span }) => ({
        ...span,
        parentSpanId: parentSpanId === '' ? undefined : parentSpanId,
        startMs: Number(startTimeUnixNano) / 1e6,
        endMs: Number(endTimeUnixNano) / 1e6,
        attributes: valuesOf(attributes),
      }))
      .toSorted((a, b) => a.startMs - b.startMs);
  }

  /** The process, as the first batch names it. */
  get resource(): Readonly<Record<string, unknown>> {
    return valuesOf(this.#traces[0]?.resourceSpans[0]?.resource.attributes ?? []);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }

  get #traces(): readonly WrittenTraces[] {
    return this.received.map(({ body }) => JSON.parse(body) as WrittenTraces);
  }
}

export function accept(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
}

/** Names of spans from the root to this one. */
export function pathOf(span: CollectedSpan, spans: readonly CollectedSpan[]): readonly string[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return parent === undefined ? [span.name] : [...pathOf(parent, spans), span.name];
}

function valuesOf(attributes: readonly Written[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [text] = Object.values(value);
      return [key, 'intValue' in value ? Number(text) : text];
    }),
  );
}
