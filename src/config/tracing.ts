import * as z from 'zod';
import { egressTo, type Egress } from './egress.ts';
import type { EnvironmentReader } from './environment.ts';
import { oneOfTexts } from './settings.ts';
import { isHeaderName, isHeaderText } from '../wire/headers.ts';

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

/**
 * Reads the collector from OpenTelemetry's own variables ("Environment Variable Specification", "OTLP Exporter
 * Configuration"); `undefined` without an endpoint.
 */
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
    protocol: oneOf(read, ofTraces(read, 'PROTOCOL'), PROTOCOLS),
    /** By name; they may hold a secret. */
    headers: new Map([
      ...readHeaders(read, `${OTLP}HEADERS`),
      ...readHeaders(read, `${OTLP}TRACES_HEADERS`),
    ]),
    /** For one batch, with its retries. */
    timeoutMs: read.parsed(ofTraces(read, 'TIMEOUT'), TIMEOUT),
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

/** The variable of traces, or that of all signals where it is not set. */
function ofTraces(read: EnvironmentReader, what: string): string {
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

/** A number in the form, or the default. */
function numberIn(form: RegExp, min: number, max: number, fallback: number, must: string) {
  const number = z.string().regex(form, must).transform(Number);
  return number.refine((one) => one >= min && one <= max, must).default(fallback);
}

const TIMEOUT = numberIn(
  /^\d{1,6}$/,
  1,
  300_000,
  10_000,
  'must be a whole number from 1 to 300000',
);
const RATIO = numberIn(
  /^(?:\d+(?:\.\d*)?|\.\d+)$/,
  0,
  1,
  1,
  'must be a number from 0 to 1, such as 0.01',
);

/** The endpoint of traces is the whole address; that of all signals is the folder of a known path. */
function readUrl(read: EnvironmentReader): string | undefined {
  const common = readAddress(read, `${OTLP}ENDPOINT`);
  const own = readAddress(read, `${OTLP}TRACES_ENDPOINT`);
  if (own !== undefined || common === undefined) return own;
  return `${common.replace(/\/+$/, '')}/v1/traces`;
}

/** A collector is near the service: plain http is usual. */
function readAddress(read: EnvironmentReader, name: string): string | undefined {
  const text = read.namedVariable(name);
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    read.unfit(name, 'must be an address that starts with http:// or https://');
    return undefined;
  }
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text)) {
    const where = 'credentials go into OTEL_EXPORTER_OTLP_HEADERS';
    read.problem(name, `must be an address without user, password, query and fragment: ${where}`);
    return undefined;
  }
  return url.href;
}

function readHeaders(read: EnvironmentReader, name: string): ReadonlyMap<string, string> {
  const pairs = readPairs(read, name);
  for (const [header, value] of pairs) {
    if (isHeaderName(header) && isHeaderText(value)) continue;
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
