import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { entryAt, OperatorsFile } from '../support/operatorsFile.ts';
import { TemporaryFiles } from '../support/temporary.ts';

const files = new TemporaryFiles();
const discovery = { issuer: 'https://auth.operator.example' };
const operators = new OperatorsFile(
  [entryAt('https://api.operator.example', { authUrl: undefined, discovery })],
  { directory: { url: 'https://numbers.internal/of' } },
);
const FILE = files.write('file.pem', 'it is checked where it is used');
const file = { kind: 'file', path: FILE };

const OTHERS = {
  JWT_JWKS_URL: 'https://keys.issuer.example/jwks',
  JWT_ISSUER: 'https://issuer.example',
  JWT_AUDIENCE: 'sim-swap',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.internal:4318',
  OPERATORS_FILE: operators.path,
};

/** The connections to all four, and to the operator. */
function connectionsWith(settings: Environment) {
  const config = readConfig({ ...OTHERS, ...settings });
  const { callers, tracing, directory } = config;
  const [operator] = config.operators;
  const { authorization } = operator ?? {};
  return {
    issuer: callers.tokens?.jwksConnection,
    collector: tracing?.connection,
    directory: { tls: directory?.tls, proxy: directory?.proxy },
    discovery: authorization?.from === 'discovery' ? authorization.connection : undefined,
    operator: { tls: operator?.tls, proxy: operator?.proxy },
  };
}

const EGRESS_PROXY_URL = 'http://egress.internal:3128';
const NOTHING = { tls: undefined, proxy: undefined };

describe('everything but an operator is reached', () => {
  it('directly, with the authorities of Node, where nothing is set', () => {
    const [directory, operator] = [NOTHING, NOTHING];
    const nothing = { issuer: {}, collector: {}, directory, discovery: {}, operator };
    expect(connectionsWith({})).toEqual(nothing);
  });

  it('through one proxy and with the same authorities, but not an operator', () => {
    const tls = { ca: file };
    const all = { tls, proxy: { url: EGRESS_PROXY_URL, credentials: file } };
    const connections = connectionsWith({
      EGRESS_PROXY_URL,
      EGRESS_PROXY_CREDENTIALS_FILE: FILE,
      EGRESS_CA_FILE: FILE,
      EGRESS_NO_PROXY: 'keys.issuer.example',
    });
    const issuer = { tls };
    const others = { collector: all, directory: all, discovery: all, operator: NOTHING };
    expect(connections).toEqual({ issuer, ...others });
  });

  it('through a proxy with TLS, with the same authorities', () => {
    const url = 'https://egress.internal:3129';
    const overTls = { EGRESS_PROXY_URL: url };
    const { issuer } = connectionsWith({ ...overTls, EGRESS_CA_FILE: FILE });
    expect(issuer).toEqual({ tls: { ca: file }, proxy: { url, ca: file } });
    expect(connectionsWith(overTls).issuer).toEqual({ proxy: { url } });
  });

  it.each([
    ['numbers.internal', ['directory']],
    ['.internal', ['directory', 'collector']],
    ['Collector.Internal,auth.operator.example', ['collector', 'discovery']],
    ['.example,.internal', ['issuer', 'collector', 'directory', 'discovery']],
    ['internal,issuer.example,.issuer', []],
  ])('directly, with EGRESS_NO_PROXY=%s: %j', (EGRESS_NO_PROXY, direct) => {
    const { operator: _, ...others } = connectionsWith({ EGRESS_PROXY_URL, EGRESS_NO_PROXY });
    const found = Object.entries(others).filter(([, one]) => one?.proxy === undefined);
    expect(found.map(([name]) => name).toSorted()).toEqual(direct.toSorted());
  });

  it('directly where it has no TLS: on this machine, or a collector nearby', () => {
    const { collector, issuer } = connectionsWith({
      EGRESS_PROXY_URL,
      EGRESS_CA_FILE: FILE,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      JWT_JWKS_URL: 'http://127.0.0.1:9/jwks',
    });
    expect([collector, issuer]).toEqual([{}, {}]);
  });
});
