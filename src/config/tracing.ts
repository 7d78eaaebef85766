import * as z from 'zod';
import { egressTo, type Egress } from './egress.ts';
import type { EnvironmentReader } from './environment.ts';
import { numberIn, oneOfTexts } from './settings.ts';
import { HEADER_NAME, HEADER_TEXT } from '../wire/headers.ts';

/** The first is the default. */
const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;

/** The formats of spans (OTLP 1, "OTLP/HTTP"). The first is the default. */
const PROTOCOLS = ['http/protobuf', 'http/json'] as const;

export type TracingSettings = NonNullable<ReturnType<typeof readTracing>>;

const OTLP = 'OTEL_EXPORTER_OTLP_';

/** The collector, by OpenTelemetry's variables ("OTLP Exporter Configuration"); `undefined` without an endpoint. */
export function readTracing(read: EnvironmentReader, egress: Egress) {
  const reachesOperators = read.value('TRACE_OPERATORS');
  const isDisabled = read.namedVariable('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  const exporter = oneOf(read, 'OTEL_TRACES_EXPORTER', ['otlp', 'none']);
  const url = readUrl(read);
  const attributes = readPairs(read, 'OTEL_RESOURCE_ATTRIBUTES');
  const service =
    read.namedVariable('OTEL_SERVICE_NAME') ??
    attributes.get('service.name') ??
    'sim-swap-subgraph';
  const settings = {
    protocol: oneOf(read, tracesVariable(read, 'PROTOCOL'), PROTOCOLS),
    /** Keyed by name; the values may be secrets. */
    headers: new Map([
      ...readHeaders(read, `${OTLP}HEADERS`),
      ...readHeaders(read, `${OTLP}TRACES_HEADERS`),
    ]),
    /** The limit for one batch, with its retries. */
    timeoutMs: read.parsed(tracesVariable(read, 'TIMEOUT'), TIMEOUT_MS),
    resource: new Map([...attributes, ['service.name', service]]),
    /** Which traces are recorded; the ratio, from 0 to 1, is for samplers by the trace's id. */
    sampler: {
      name: oneOf(read, 'OTEL_TRACES_SAMPLER', SAMPLERS),
      ratio: read.parsed('OTEL_TRACES_SAMPLER_ARG', RATIO),
    },
    /** Whether exchanges send their trace and span to operators. */
    reachesOperators: reachesOperators,
  };
  if (isDisabled || exporter === 'none' || url === undefined) return undefined;
  return { url, connection: egressTo(egress, url), ...settings };
}

/** The name of the variable for traces, or of the one for all signals where that is not set. */
function tracesVariable(read: EnvironmentReader, what: string): string {
  const [own, common] = [`${OTLP}TRACES_${what}`, `${OTLP}${what}`];
  return read.namedVariable(own) === undefined ? common : own;
}

/** The first value is the default. */
function oneOf<const Value extends string>(
  read: EnvironmentReader,
  name: string,
  values: readonly [Value, ...Value[]],
): Value {
  return read.parsed(name, oneOfTexts(values).default(values[0]));
}

const TIMEOUT_MS = numberIn(1, 300_000).default(10_000);
const RATIO = numberIn(
  0,
  1,
  /^(?:\d+(?:\.\d*)?|\.\d+)$/,
  'must be a number from 0 to 1, such as 0.01',
).default(1);

/** A collector is near the service: plain http is usual. */
const ADDRESS = z
  .string()
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), {
    error: 'must be an address that starts with http:// or https://',
    abort: true,
  })
  .refine(
    (text) => !/[?#]/.test(text) && new URL(text).username + new URL(text).password === '',
    'must be an address without user, password, query and fragment: credentials go into OTEL_EXPORTER_OTLP_HEADERS',
  )
  .transform((text) => new URL(text).href)
  .optional();

/** The endpoint for traces is the whole address; the one for all signals is the folder of a known path. */
function readUrl(read: EnvironmentReader): string | undefined {
  const common = read.parsed(`${OTLP}ENDPOINT`, ADDRESS);
  const own = read.parsed(`${OTLP}TRACES_ENDPOINT`, ADDRESS);
  return own ?? (common && `${common.replace(/\/+$/, '')}/v1/traces`);
}

function readHeaders(read: EnvironmentReader, name: string): ReadonlyMap<string, string> {
  const pairs = readPairs(read, name);
  for (const [header, value] of pairs) {
    if (HEADER_NAME.test(header) && HEADER_TEXT.test(value)) continue;
    read.problem(name, 'has a header that cannot be sent');
  }
  return pairs;
}

/** `name=value,name=value`, percent-encoded where necessary (W3C Baggage §3.3.1). The values are not quoted. */
function readPairs(read: EnvironmentReader, name: string): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  const texts = (read.namedVariable(name) ?? '').split(',').filter((one) => one.trim() !== '');
  for (const pair of texts) {
    const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    try {
      if (key.trim() === '') throw new URIError('There is no name.');
      pairs.set(key.trim(), decodeURIComponent(value.trim()));
    } catch {
      read.problem(name, 'must be name=value pairs with commas between, percent-encoded');
    }
  }
  return pairs;
}
