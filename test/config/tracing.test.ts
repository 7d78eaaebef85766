import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { problemsOf } from './problems.ts';

const OTLP = 'OTEL_EXPORTER_OTLP_';
const pairs = (members: Record<string, string>) => new Map(Object.entries(members));
const COLLECTOR = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('traces', () => {
  it.each<readonly [string, Environment]>([
    ['nothing is said', {}],
    ['no endpoint is named', { OTEL_TRACES_SAMPLER: 'always_on', OTEL_SERVICE_NAME: 'one' }],
    ['they are disabled', { ...COLLECTOR, OTEL_SDK_DISABLED: 'true' }],
    ['they are disabled loudly', { ...COLLECTOR, OTEL_SDK_DISABLED: 'TRUE' }],
    ['there is no exporter', { ...COLLECTOR, OTEL_TRACES_EXPORTER: 'none' }],
  ])('are not recorded where %s', (_where, environment) => {
    expect(readConfig(environment).tracing).toBeUndefined();
  });

  it('are recorded as OpenTelemetry has it where nothing but the endpoint is named', () => {
    expect(readConfig({ ...COLLECTOR, OTEL_SDK_DISABLED: 'no' }).tracing).toEqual({
      url: 'http://collector:4318/v1/traces',
      connection: {},
      protocol: 'http/protobuf',
      headers: new Map(),
      timeoutMs: 10_000,
      resource: new Map([['service.name', 'sim-swap-subgraph']]),
      sampler: { name: 'parentbased_always_on', ratio: 1 },
      tellsOperators: false,
    });
  });

  it.each<readonly [string, Environment, object]>([
    [
      'a path before that of traces',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://vendor.example/otlp/' },
      { url: 'https://vendor.example/otlp/v1/traces' },
    ],
    [
      'the whole address of traces',
      { ...COLLECTOR, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://vendor.example/spans' },
      { url: 'https://vendor.example/spans' },
    ],
    [
      'what is said of traces before what is said of all',
      {
        ...COLLECTOR,
        [`${OTLP}PROTOCOL`]: 'http/protobuf',
        [`${OTLP}TRACES_PROTOCOL`]: 'http/json',
        [`${OTLP}TIMEOUT`]: '9000',
        [`${OTLP}TRACES_TIMEOUT`]: '3000',
        [`${OTLP}HEADERS`]: 'a=1,b=2',
        [`${OTLP}TRACES_HEADERS`]: 'b=3',
      },
      { protocol: 'http/json', timeoutMs: 3000, headers: pairs({ a: '1', b: '3' }) },
    ],
    [
      'pairs with blanks, and values with signs',
      {
        ...COLLECTOR,
        OTEL_EXPORTER_OTLP_HEADERS: ' authorization = Basic%20YTpi== , x-scope=a%2Cb ',
        OTEL_RESOURCE_ATTRIBUTES: 'service.name=named,team=risk',
      },
      {
        headers: pairs({ authorization: 'Basic YTpi==', 'x-scope': 'a,b' }),
        resource: pairs({ 'service.name': 'named', team: 'risk' }),
      },
    ],
    [
      'one trace in a hundred',
      { ...COLLECTOR, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '.01' },
      { sampler: { name: 'traceidratio', ratio: 0.01 } },
    ],
  ])('take %s', (_what, environment, read) => {
    expect(readConfig(environment).tracing).toMatchObject(read);
  });

  it('do not touch what belongs to others', () => {
    expect(problemsOf({ OTEL_METRICS_EXPORTER: 'none', TRACE_LEVEL: 'all' })).toEqual([]);
  });
});
