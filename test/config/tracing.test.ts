import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { problemsOf } from './problems.ts';

const OTLP = 'OTEL_EXPORTER_OTLP_';
const pairs = (members: Record<string, string>) => new Map(Object.entries(members));
const COLLECTOR = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('traces', () => {
  it.each<readonly [string, Environment]>([
    ['nothing is set', {}],
    ['no endpoint is set', { OTEL_TRACES_SAMPLER: 'always_on', OTEL_SERVICE_NAME: 'one' }],
    ['they are disabled', { ...COLLECTOR, OTEL_SDK_DISABLED: 'true' }],
    ['they are disabled in capitals', { ...COLLECTOR, OTEL_SDK_DISABLED: 'TRUE' }],
    ['there is no exporter', { ...COLLECTOR, OTEL_TRACES_EXPORTER: 'none' }],
  ])('are not recorded where %s', (_where, environment) => {
    expect(readConfig(environment).tracing).toBeUndefined();
  });

  it('have the defaults of OpenTelemetry where only the endpoint is set', () => {
    expect(readConfig({ ...COLLECTOR, OTEL_SDK_DISABLED: 'no' }).tracing).toEqual({
      url: 'http://collector:4318/v1/traces',
      connection: {},
      protocol: 'http/protobuf',
      headers: new Map(),
      timeoutMs: 10_000,
      resource: new Map([['service.name', 'sim-swap-subgraph']]),
      sampler: { name: 'parentbased_always_on', ratio: 1 },
      reachesOperators: false,
    });
  });

  it.each<readonly [string, Environment, object]>([
    [
      'a path before that of traces',
      { [`${OTLP}ENDPOINT`]: 'https://vendor.example/otlp/' },
      { url: 'https://vendor.example/otlp/v1/traces' },
    ],
    [
      'the whole address of traces',
      { [`${OTLP}TRACES_ENDPOINT`]: 'https://vendor.example/spans' },
      { url: 'https://vendor.example/spans' },
    ],
    [
      'the settings of traces before those of all signals',
      {
        [`${OTLP}TRACES_PROTOCOL`]: 'http/json',
        [`${OTLP}PROTOCOL`]: 'http/protobuf',
        [`${OTLP}TRACES_TIMEOUT`]: '3000',
        [`${OTLP}TIMEOUT`]: '9000',
        [`${OTLP}TRACES_HEADERS`]: 'b=3',
        [`${OTLP}HEADERS`]: 'a=1,b=2',
      },
      { protocol: 'http/json', timeoutMs: 3000, headers: pairs({ a: '1', b: '3' }) },
    ],
    [
      'pairs with blanks, and values with signs',
      { [`${OTLP}HEADERS`]: ' authorization = Basic%20YTpi== , x-scope=a%2Cb ' },
      { headers: pairs({ authorization: 'Basic YTpi==', 'x-scope': 'a,b' }) },
    ],
    [
      'attributes of the process',
      { OTEL_RESOURCE_ATTRIBUTES: 'service.name=named,team=risk' },
      { resource: pairs({ 'service.name': 'named', team: 'risk' }) },
    ],
    [
      'one trace in a hundred',
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '.01' },
      { sampler: { name: 'traceidratio', ratio: 0.01 } },
    ],
  ])('take %s', (_what, settings, read) => {
    expect(readConfig({ ...COLLECTOR, ...settings }).tracing).toMatchObject(read);
  });

  it('leave the settings of other programs alone', () => {
    expect(problemsOf({ OTEL_METRICS_EXPORTER: 'none', TRACE_LEVEL: 'all' })).toEqual([]);
  });
});
