import { egressTo, type Egress } from './egress.ts';
import type { EnvironmentReader } from './environment.ts';
import { isHeaderName, isHeaderText } from '../operator/lookupRequest.ts';
import type { ConnectionSettings } from '../http/wireSettings.ts';

/** The first is the default. */
const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;

/** Which traces are recorded (OpenTelemetry, "SDK Environment Variables"). */
export interface SamplerSettings {
  readonly name: (typeof SAMPLERS)[number];
  /** From 0 to 1; of the samplers that go by the trace's id. */
  readonly ratio: number;
}

/** How spans are written (OTLP 1, "OTLP/HTTP"). The first is the default. */
const PROTOCOLS = ['http/protobuf', 'http/json'] as const;

export interface TracingSettings {
  readonly url: string;
  readonly connection: ConnectionSettings;
  readonly protocol: (typeof PROTOCOLS)[number];
  /** By name; they may hold a secret. */
  readonly headers: ReadonlyMap<string, string>;
  /** For one batch, with its retries. */
  readonly timeoutMs: number;
  readonly resource: ReadonlyMap<string, string>;
  readonly sampler: SamplerSettings;
  /** Whether exchanges tell operators which trace and span they belong to. */
  readonly tellsOperators: boolean;
}

const SERVICE_NAME = 'sim-swap-subgraph';

/**
 * Reads where traces go, from OpenTelemetry's own variables ("Environment Variable Specification", "OTLP
 * Exporter Configuration"); `undefined` where there are to be none: no endpoint is named.
 */
export function readTracing(read: EnvironmentReader, egress: Egress): TracingSettings | undefined {
  const tellsOperators = read.boolean('TRACE_OPERATORS');
  const isDisabled = variable(read, 'OTEL_SDK_DISABLED').text?.toLowerCase() === 'true';
  const exporter = oneOf(read, variable(read, 'OTEL_TRACES_EXPORTER'), ['otlp', 'none']);
  const url = readUrl(read);
  const settings = {
    protocol: oneOf(read, ofTraces(read, 'PROTOCOL'), PROTOCOLS),
    headers: new Map([
      ...readHeaders(read, variable(read, 'OTEL_EXPORTER_OTLP_HEADERS')),
      ...readHeaders(read, variable(read, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS')),
    ]),
    timeoutMs: readTimeout(read),
    resource: readResource(read),
    sampler: readSampler(read),
    tellsOperators,
  };
  if (isDisabled || exporter === 'none' || url === undefined) return undefined;
  return { url, connection: egressTo(egress, url), ...settings };
}

/** A variable of OpenTelemetry's. */
interface Variable {
  readonly name: string;
  readonly text: string | undefined;
}

function variable(read: EnvironmentReader, name: string): Variable {
  return { name, text: read.namedVariable(name) };
}

/** What is said of traces alone goes before what is said of all signals. */
function ofTraces(read: EnvironmentReader, what: string): Variable {
  const own = variable(read, `OTEL_EXPORTER_OTLP_TRACES_${what}`);
  return own.text === undefined ? variable(read, `OTEL_EXPORTER_OTLP_${what}`) : own;
}

function oneOf<Value extends string>(
  read: EnvironmentReader,
  { name, text }: Variable,
  values: readonly [Value, ...Value[]],
): Value {
  const found = values.find((one) => one === (text ?? values[0]));
  if (found === undefined) read.unfit(name, `must be one of ${values.join(', ')}`);
  return found ?? values[0];
}

/** The one of traces is the whole address; below the one for all signals, that of traces is known. */
function readUrl(read: EnvironmentReader): string | undefined {
  const common = readAddress(read, variable(read, 'OTEL_EXPORTER_OTLP_ENDPOINT'));
  const own = readAddress(read, variable(read, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'));
  if (own !== undefined || common === undefined) return own;
  return `${common.replace(/\/+$/, '')}/v1/traces`;
}

/** A collector stands beside the service, or in its network: plain http is usual. */
function readAddress(read: EnvironmentReader, { name, text }: Variable): string | undefined {
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

function readTimeout(read: EnvironmentReader): number {
  const { name, text = '10000' } = ofTraces(read, 'TIMEOUT');
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= 300_000) return value;
  read.unfit(name, 'must be a whole number from 1 to 300000');
  return 1;
}

function readHeaders(read: EnvironmentReader, headers: Variable): ReadonlyMap<string, string> {
  const pairs = readPairs(read, headers);
  for (const [header, value] of pairs) {
    if (!isHeaderName(header) || !isHeaderText(value)) {
      read.problem(headers.name, 'has a header that cannot be sent');
    }
  }
  return pairs;
}

function readResource(read: EnvironmentReader): ReadonlyMap<string, string> {
  const attributes = readPairs(read, variable(read, 'OTEL_RESOURCE_ATTRIBUTES'));
  const own = variable(read, 'OTEL_SERVICE_NAME').text;
  const name = own ?? attributes.get('service.name') ?? SERVICE_NAME;
  return new Map([...attributes, ['service.name', name]]);
}

function readSampler(read: EnvironmentReader): SamplerSettings {
  const name = oneOf(read, variable(read, 'OTEL_TRACES_SAMPLER'), SAMPLERS);
  const argument = variable(read, 'OTEL_TRACES_SAMPLER_ARG');
  const { text = '1' } = argument;
  const ratio = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (ratio >= 0 && ratio <= 1) return { name, ratio };
  read.unfit(argument.name, 'must be a number from 0 to 1, such as 0.01');
  return { name, ratio: 1 };
}

/** `name=value,name=value`, percent-encoded where need be (W3C Baggage §3.3.1). The values are not quoted. */
function readPairs(
  read: EnvironmentReader,
  { name, text = '' }: Variable,
): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const pair of text.split(',').filter((one) => one.trim() !== '')) {
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
