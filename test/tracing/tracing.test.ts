import type { ServerResponse } from 'node:http';
import { describe, expect, it, test } from 'vitest';
import { ServerProcess } from '../endToEnd/serverProcess.ts';
import { deadUrl } from '../wire/recordingServer.ts';
import { startService } from '../support/service.ts';
import { BUILD } from '../../src/system/build.ts';
import { WiredOperator, type OperatorScript } from '../support/wiredOperator.ts';
import { Collector, pathOf } from './collector.ts';

const NUMBER = '+447700900004';
const ASK =
  'query ($number: ID!) { phoneNumber(e164: $number) { simSwappedWithin(maxAgeHours: 24) } }';

const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';

type Settings = Readonly<Record<string, string>>;

function parent(flags: string): Settings {
  return { traceparent: `00-${TRACE_ID}-${SPAN_ID}-${flags}` };
}

const reset: OperatorScript['lookUp'] = ({ connection }) => connection.socket.resetAndDestroy();

/** But for its api, which the clients of Redis and Prometheus load. */
const SAYS_WHAT_IS_LOADED: Settings = {
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(`import { registerHooks } from 'node:module';
    registerHooks({
      load(url, context, next) {
        const [, name] = /node_modules\\/(@opentelemetry\\/(?!api\\/)[^/]+)/.exec(url) ?? [];
        if (name !== undefined) console.log(JSON.stringify({ msg: 'loaded', name }));
        return next(url, context);
      },
    });`)}`,
};

function namesLoadedBy(server: ServerProcess): readonly unknown[] {
  return server.logged('loaded').map(({ name }) => name);
}

/** Answers one request, and stops: all that waits is sent at the end. */
async function spansOf(
  settings: Settings = {},
  headers: Settings = {},
  script: OperatorScript = {},
) {
  await using operator = await WiredOperator.start(script);
  await using collector = await Collector.start();
  const service = await startService(operator.url, { ...collector.settings, ...settings });
  await service.ask(ASK, { number: NUMBER }, headers);
  await service.stop();
  const { spans, text, resource, received } = collector;
  return { spans, text, resource, received, operator };
}

describe('a trace that arrives by OTLP', () => {
  it('2-legged: has request, plan, token and lookup in their order, with the right parents', async () => {
    const { spans, operator } = await spansOf({}, { 'x-correlator': 'ticket-4711' });
    for (const { headers } of operator.received) expect(headers).not.toHaveProperty('traceparent');

    expect(spans.map((span) => pathOf(span, spans).join(' > '))).toEqual([
      'POST /graphql',
      'POST /graphql > plan',
      'POST /graphql > plan > token client_credentials',
      'POST /graphql > plan > token client_credentials > POST token',
      'POST /graphql > plan > lookup check',
      'POST /graphql > plan > lookup check > POST check',
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const [request, plan, token, , lookup, exchange] = spans;
    expect(request?.parentSpanId).toBeUndefined();
    expect(request).toMatchObject({
      kind: SERVER,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/graphql',
        'url.path': '/graphql',
        'url.scheme': 'http',
        'server.address': '127.0.0.1',
        'server.port': expect.any(Number) as number,
        'network.protocol.version': '1.1',
        'graphql.operation.type': 'query',
        'http.response.status_code': 200,
        'sim_swap.outcome': 'ok',
        'sim_swap.correlator': expect.stringMatching(/^ticket-4711-\w{12}$/) as string,
      },
    });
    expect(plan?.attributes).toMatchObject({ 'sim_swap.questions': 1, 'sim_swap.facts': 1 });
    expect(token?.attributes).toMatchObject({
      'sim_swap.operator': 'operator',
      'sim_swap.outcome': 'issued',
    });
    expect(lookup?.attributes).toMatchObject({
      'sim_swap.operation': 'check',
      'sim_swap.max_age_hours': 24,
      'sim_swap.attempts': 1,
      'sim_swap.outcome': 'answered',
    });
    const { hostname, port } = new URL(operator.url);
    const [sent] = operator.lookups;
    expect(exchange).toMatchObject({
      kind: CLIENT,
      attributes: {
        'http.request.method': 'POST',
        'http.response.status_code': 200,
        'url.full': `${new URL(operator.url).origin}${sent?.path}`,
        'server.address': hostname,
        'server.port': Number(port),
        'sim_swap.correlator': sent?.correlator,
      },
    });
    for (const span of spans) expect(span.endMs).toBeGreaterThanOrEqual(span.startMs);
    for (const span of spans) expect(span.endMs).toBeLessThanOrEqual(request?.endMs ?? 0);
  });

  it('3-legged: has the wait for the owner, the prompt and the poll', async () => {
    const { spans, text } = await spansOf({ OPERATOR_FLOW: '3-legged' });
    const consent = 'POST /graphql > plan > consent check';
    expect(spans.map((span) => pathOf(span, spans).join(' > '))).toEqual([
      'POST /graphql',
      'POST /graphql > plan',
      consent,
      `${consent} > POST bc-authorize`,
      `${consent} > token ciba`,
      `${consent} > token ciba > POST CIBA token`,
      `${consent} > lookup check`,
      `${consent} > lookup check > POST check`,
    ]);
    expect(text).not.toMatch(/7700900004|operator-token|consent-/);
  });

  it('of a failure: names it in each span that it broke, and nothing that was sent', async () => {
    const { spans, text } = await spansOf({}, {}, { lookUp: reset });
    const failed = spans.filter(({ status }) => status.code === ERROR);
    expect(failed.map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
      ['POST /graphql', 'OPERATOR_UNAVAILABLE'],
      ['plan', 'OPERATOR_UNAVAILABLE'],
      ['lookup check', 'OPERATOR_UNAVAILABLE'],
      ['POST check', 'connection'],
    ]);
    expect(failed.at(-1)?.status.message).toBe('ECONNRESET');
    expect(text).not.toMatch(/7700900004|operator-token/);
  });

  it('of a retry: has another exchange, with its count', async () => {
    let asked = 0;
    const token: OperatorScript['token'] = ({ connection }, response) => {
      asked += 1;
      if (asked === 1) connection.socket.resetAndDestroy();
      else response.end();
    };
    const { spans } = await spansOf({}, {}, { token });
    const exchanges = spans.filter(({ name }) => name === 'POST token');
    expect(exchanges.map(({ attributes }) => attributes['http.request.resend_count'])).toEqual([
      undefined,
      1,
    ]);
  });

  it('has no number, whichever header a caller puts it in', async () => {
    const { spans, text } = await spansOf(
      {},
      {
        'x-correlator': NUMBER,
        traceparent: `00-${'447700900004'.padStart(32, '0')}-${'447700900004'.padStart(16, '0')}-01`,
        tracestate: `number=${NUMBER.slice(1)}`,
        baggage: `number=${NUMBER.slice(1)}`,
      },
    );
    expect(spans).toHaveLength(6);
    expect(text).not.toMatch(/7700900004/);
  });

  it('names the process by the settings', async () => {
    const { resource, received } = await spansOf({
      OTEL_SERVICE_NAME: 'sim-swap-uk',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging,team=fraud%20desk',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=fraud%2Crisk',
    });
    expect(resource).toEqual({
      'service.name': 'sim-swap-uk',
      'service.version': BUILD.version,
      'service.instance.id': expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      'telemetry.sdk.name': 'opentelemetry',
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.version': expect.any(String),
      'deployment.environment.name': 'staging',
      team: 'fraud desk',
    });
    expect(received[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'x-tenant': 'fraud,risk', 'content-type': 'application/json' },
    });
  });

  it('is written as protobuf by default', async () => {
    await using operator = await WiredOperator.start();
    await using collector = await Collector.start();
    const service = await startService(operator.url, {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/elsewhere`,
    });
    await service.ask(ASK, { number: NUMBER });
    await service.stop();
    const [first] = collector.received;
    expect(first?.path).toBe('/elsewhere');
    expect(first?.headers['content-type']).toBe('application/x-protobuf');
    expect(first?.body.includes('lookup check')).toBe(true);
  });
});

describe('the context of a trace', () => {
  it('has what is valid of the `tracestate` of its caller, which reaches no operator', async () => {
    const tracestate = 'vendor=t61rcWkgMzE,tenant@sys=a:b';
    const flawed = `Vendor=1,${tracestate},vendor,a=b=c,,k=\u00e9,v=${'x'.repeat(257)}`;
    const headers = { ...parent('01'), tracestate: flawed };
    const { spans, operator } = await spansOf({ TRACE_OPERATORS: 'true' }, headers);
    expect(new Set(spans.map(({ traceState }) => traceState))).toEqual(new Set([tracestate]));
    for (const { headers: sent } of operator.received)
      expect(sent).not.toHaveProperty('tracestate');
  });

  it('that a caller sends is continued, and reaches operators with TRACE_OPERATORS', async () => {
    const { spans, operator } = await spansOf({ TRACE_OPERATORS: 'true' }, parent('01'));
    expect(spans[0]).toMatchObject({ traceId: TRACE_ID, parentSpanId: SPAN_ID });
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE_ID]));
    const exchanges = spans.filter(({ kind }) => kind === CLIENT);
    expect(operator.received.map(({ headers }) => headers['traceparent'])).toEqual(
      exchanges.map(({ spanId }) => `00-${TRACE_ID}-${spanId}-01`),
    );
  });

  it.each([
    ['parentbased_always_on', '00', 0],
    ['parentbased_always_off', '01', 6],
    ['always_on', '00', 6],
    ['always_off', '01', 0],
    ['traceidratio', '01', 0],
  ])('is recorded by %s and flags %s', async (sampler, flags, recorded) => {
    const settings = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: '0' };
    const { spans } = await spansOf(settings, parent(flags));
    expect(spans).toHaveLength(recorded);
  });

  it('is in the line of the request, and in those of its exchanges', async () => {
    await using operator = await WiredOperator.start({
      lookUp: (_received, response) => response.writeHead(503).end(),
    });
    await using collector = await Collector.start();
    const settings = { ...collector.settings, ...SAYS_WHAT_IS_LOADED };
    await using server = await ServerProcess.start(operator.url, settings);
    expect(namesLoadedBy(server)).toContain('@opentelemetry/sdk-trace');
    await server.ask(ASK, { number: NUMBER }, parent('00'));
    await expect.poll(() => server.logged('request')).toHaveLength(1);
    expect(server.logged('request')).toMatchObject([{ trace_id: TRACE_ID }]);
    expect(server.logged('The operator is not available.')).toMatchObject([
      { endpoint: 'check', trace_id: TRACE_ID },
    ]);
    expect(server.logged('Listening.')[0]).not.toHaveProperty('trace_id');
  });
});

describe('a collector', () => {
  it.each<readonly [string, ((response: ServerResponse) => void) | undefined]>([
    ['hangs', () => undefined],
    ['refuses', (response) => void response.writeHead(400).end('what you sent')],
    ['cannot be reached', undefined],
  ])('that %s delays neither a request nor the end', async (_how, answer) => {
    await using operator = await WiredOperator.start();
    await using collector = await Collector.start(answer);
    const dead = { OTEL_EXPORTER_OTLP_ENDPOINT: await deadUrl() };
    const service = await startService(operator.url, answer ? collector.settings : dead);
    const { data } = await service.ask(ASK, { number: NUMBER });
    expect(data).toEqual({ phoneNumber: { simSwappedWithin: false } });
    const stoppingAtMs = performance.now();
    await service.stop();
    // A batch has ten seconds.
    expect(performance.now() - stoppingAtMs).toBeLessThan(8000);
    expect(service.logged.join('\n')).toContain('Spans could not be sent');
    expect(service.logged.join('\n')).not.toContain('what you sent');
  });
});

// With a collector they are: "is in the line of the request".
test('the packages of OpenTelemetry are not loaded without a collector', async () => {
  await using server = await ServerProcess.start('http://127.0.0.1:1', SAYS_WHAT_IS_LOADED);
  expect(namesLoadedBy(server)).toEqual([]);
}, 30_000);
