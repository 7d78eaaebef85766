import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from '../listening.ts';

/** A span as OTLP writes it in JSON, its attributes by name. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
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

/** One POST to the collector. */
export interface Collected {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A collector of traces by OTLP over HTTP: a real server, which keeps all that it is sent. */
export class Collector implements AsyncDisposable {
  readonly received: Collected[] = [];
  readonly #server: Server;
  #url = '';

  /** @param answer decides what each POST is answered with; 200 where absent */
  static async start(
    answer: (response: ServerResponse, count: number) => void = accept,
  ): Promise<Collector> {
    const collector = new Collector(answer);
    collector.#url = await listen(collector.#server);
    return collector;
  }

  private constructor(answer: (response: ServerResponse, count: number) => void) {
    this.#server = createServer((request, response) => {
      void this.#keep(request).then(() => answer(response, this.received.length));
    });
  }

  get url(): string {
    return this.#url;
  }

  /** The settings by which a service sends its traces here, as JSON, so that a test can read them. */
  get settings(): Readonly<Record<string, string>> {
    return { OTEL_EXPORTER_OTLP_ENDPOINT: this.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  }

  /** All texts that came, as they were sent. */
  get text(): string {
    return this.received.map(({ body }) => body.toString()).join('\n');
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

  /** What the first batch says of its process. */
  get resource(): Readonly<Record<string, unknown>> {
    return valuesOf(this.#traces[0]?.resourceSpans[0]?.resource.attributes ?? []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #keep(request: IncomingMessage): Promise<void> {
    const { url: path = '', headers } = request;
    this.received.push({ path, headers, body: await buffer(request) });
  }

  get #traces(): readonly WrittenTraces[] {
    return this.received.map(({ body }) => JSON.parse(body.toString()) as WrittenTraces);
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
