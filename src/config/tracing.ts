import {
  SAMPLERS,
  type Protocol,
  type SamplerSettings,
  type TracingSettings,
} from '../tracing/tracingSettings.ts';
import type { EnvironmentReader } from './environment.ts';

type EndpointName = 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
type HeadersName = 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_EXPORTER_OTLP_TRACES_HEADERS';

const SERVICE_NAME = 'sim-swap-subgraph';

/** RFC 9110 §5.1. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** What a header may hold: nothing that ends it. */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/**
 * Reads where traces go, from OpenTelemetry's own variables ("Environment Variable Specification", "OTLP
 * Exporter Configuration"); `undefined` where there are to be none: no endpoint is named.
 */
export function readTracing(read: EnvironmentReader): TracingSettings | undefined {
  const isDisabled = read.text('OTEL_SDK_DISABLED').toLowerCase() === 'true';
  const exporter = read.oneOf('OTEL_TRACES_EXPORTER');
  const url = readUrl(read);
  const settings = {
    protocol: readProtocol(read),
    headers: new Map([
      ...readHeaders(read, 'OTEL_EXPORTER_OTLP_HEADERS'),
      ...readHeaders(read, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
    ]),
    timeoutMs: readTimeout(read),
    resource: readResource(read),
    sampler: readSampler(read),
    tellsOperators: read.boolean('TRACE_OPERATORS'),
  };
  if (isDisabled || exporter === 'none' || url === undefined) return undefined;
  return { url, ...settings };
}

/** The one of traces is the whole address; below the one for all signals, that of traces is known. */
function readUrl(read: EnvironmentReader): string | undefined {
  const common = readAddress(read, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  const ofTraces = readAddress(read, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  if (ofTraces !== undefined || common === undefined) return ofTraces;
  return `${common.replace(/\/+$/, '')}/v1/traces`;
}

/** A collector stands beside the service, or in its network: plain http is usual. */
function readAddress(read: EnvironmentReader, name: EndpointName): string | undefined {
  const text = read.text(name);
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

function readProtocol(read: EnvironmentReader): Protocol {
  const common = read.oneOf('OTEL_EXPORTER_OTLP_PROTOCOL');
  const name = 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL';
  return read.isSet(name) ? read.oneOf(name) : common;
}

function readTimeout(read: EnvironmentReader): number {
  const common = read.integer('OTEL_EXPORTER_OTLP_TIMEOUT');
  return read.integer('OTEL_EXPORTER_OTLP_TRACES_TIMEOUT') ?? common;
}

function readHeaders(read: EnvironmentReader, name: HeadersName): ReadonlyMap<string, string> {
  const headers = readPairs(read, name, (read.secret(name) ?? '').split(','));
  for (const [header, value] of headers) {
    if (!HEADER_NAME.test(header) || !HEADER_VALUE.test(value)) {
      read.problem(name, 'has a header that cannot be sent');
    }
  }
  return headers;
}

function readResource(read: EnvironmentReader): ReadonlyMap<string, string> {
  const attributesName = 'OTEL_RESOURCE_ATTRIBUTES';
  const attributes = readPairs(read, attributesName, read.list(attributesName));
  const name = read.text('OTEL_SERVICE_NAME') ?? attributes.get('service.name') ?? SERVICE_NAME;
  return new Map([...attributes, ['service.name', name]]);
}

function readSampler(read: EnvironmentReader): SamplerSettings {
  const samplerName = 'OTEL_TRACES_SAMPLER';
  const sampler = read.text(samplerName);
  const name = SAMPLERS.find((one) => one === sampler);
  if (name === undefined) read.unfit(samplerName, `must be one of ${SAMPLERS.join(', ')}`);
  const argument = 'OTEL_TRACES_SAMPLER_ARG';
  const text = read.text(argument);
  const ratio = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (ratio >= 0 && ratio <= 1) return { name: name ?? SAMPLERS[0], ratio };
  read.unfit(argument, 'must be a number from 0 to 1, such as 0.01');
  return { name: name ?? SAMPLERS[0], ratio: 1 };
}

/** `name=value,name=value`, percent-encoded where need be (W3C Baggage §3.3.1). The values are not quoted. */
function readPairs(
  read: EnvironmentReader,
  name: HeadersName | 'OTEL_RESOURCE_ATTRIBUTES',
  written: readonly string[],
): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const pair of written.filter((one) => one.trim() !== '')) {
    const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    const decoded = decode(value.trim());
    if (key.trim() === '' || decoded === undefined) {
      read.problem(name, 'must be name=value pairs with commas between, percent-encoded');
    } else {
      pairs.set(key.trim(), decoded);
    }
  }
  return pairs;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
