import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { TemporaryFiles } from '../tls/temporaryFiles.ts';

const files = new TemporaryFiles();
afterAll(() => files[Symbol.dispose]());
const FILE = files.write('file.pem', 'what it holds is judged where it is used');
const file = { kind: 'file', path: FILE };

const OTHERS = {
  JWT_JWKS_URL: 'https://keys.issuer.example/jwks',
  JWT_ISSUER: 'https://issuer.example',
  JWT_AUDIENCE: 'sim-swap',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.internal:4318',
  OPERATORS_FILE: files.write(
    'operators.json',
    JSON.stringify({
      directory: { url: 'https://numbers.internal/of' },
      operators: [
        {
          name: 'alpha',
          prefixes: ['default'],
          flow: '2-legged',
          discovery: { issuer: 'https://auth.operator.example' },
          simSwapUrl: 'https://api.operator.example',
          client: { method: 'basic', id: 'client', secret: { variable: 'SECRET' } },
        },
      ],
    }),
  ),
  SECRET: 'secret',
};

/** How each of the four is reached, and the operator itself. */
function connectionsWith(settings: Environment) {
  const { callers, tracing, directory, operators } = readConfig({ ...OTHERS, ...settings });
  const [operator] = operators;
  const { authorization } = operator ?? {};
  return {
    issuer: callers.tokens?.jwksConnection,
    collector: tracing?.connection,
    directory: { tls: directory?.tls, proxy: directory?.proxy },
    discovery: authorization?.from === 'discovery' ? authorization.connection : undefined,
    operator: { tls: operator?.tls, proxy: operator?.proxy },
  };
}

const NOTHING = { tls: undefined, proxy: undefined };

describe('what is not an operator is reached', () => {
  it('directly, and by the authorities of Node, where nothing is set', () => {
    const [directory, operator] = [NOTHING, NOTHING];
    const nothing = { issuer: {}, collector: {}, directory, discovery: {}, operator };
    expect(connectionsWith({})).toEqual(nothing);
  });

  it('through one proxy and by the same authorities, and an operator by none of it', () => {
    const proxy = { url: 'http://egress.internal:3128', credentials: file };
    const tls = { ca: file };
    const connections = connectionsWith({
      EGRESS_PROXY_URL: 'http://egress.internal:3128',
      EGRESS_PROXY_CREDENTIALS_FILE: FILE,
      EGRESS_CA_FILE: FILE,
      EGRESS_NO_PROXY: 'keys.issuer.example',
    });
    expect(connections).toEqual({
      issuer: { tls },
      collector: { tls, proxy },
      directory: { tls, proxy },
      discovery: { tls, proxy },
      operator: NOTHING,
    });
  });

  it('where the proxy speaks TLS, with the authorities of all for it', () => {
    const EGRESS_PROXY_URL = 'https://egress.internal:3129';
    expect(connectionsWith({ EGRESS_PROXY_URL, EGRESS_CA_FILE: FILE }).issuer).toEqual({
      tls: { ca: file },
      proxy: { url: EGRESS_PROXY_URL, ca: file },
    });
    expect(connectionsWith({ EGRESS_PROXY_URL }).issuer).toEqual({
      proxy: { url: EGRESS_PROXY_URL },
    });
  });

  it.each([
    ['numbers.internal', ['directory']],
    ['.internal', ['directory', 'collector']],
    ['Collector.Internal,auth.operator.example', ['collector', 'discovery']],
    ['.example,.internal', ['issuer', 'collector', 'directory', 'discovery']],
    ['internal,issuer.example', []],
  ])('without it by EGRESS_NO_PROXY=%s: %j', (EGRESS_NO_PROXY, direct) => {
    const EGRESS_PROXY_URL = 'http://egress.internal:3128';
    const { operator: _, ...others } = connectionsWith({ EGRESS_PROXY_URL, EGRESS_NO_PROXY });
    const found = Object.entries(others).filter(([, one]) => one?.proxy === undefined);
    expect(found.map(([name]) => name).toSorted()).toEqual(direct.toSorted());
  });

  it('directly where it has no TLS: it is on this machine, or a collector nearby', () => {
    const { collector, issuer } = connectionsWith({
      EGRESS_PROXY_URL: 'http://egress.internal:3128',
      EGRESS_CA_FILE: FILE,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      JWT_JWKS_URL: 'http://127.0.0.1:9/jwks',
    });
    expect([collector, issuer]).toEqual([{}, {}]);
  });
});
