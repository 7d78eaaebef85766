import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { JWT, namesIn, OPERATOR, problemsOf } from './problems.ts';

const SECRET = 'a-secret-of-thirty-two-characters';
const OTHER_SECRET = 'another-one-of-thirty-two-characters';
const AUDIT = { AUDIT_KEY: SECRET };
const SUBGRAPH = { ROLE: 'subgraph' };
const EVERYWHERE = { HOST: '0.0.0.0' };
const PRODUCTION = { NODE_ENV: 'production' };

const files = new TemporaryFiles();
const FULL = files.write('full', `${SECRET}\n`);

describe('a server beyond this machine', () => {
  const MISSING = ['AUDIT_KEY', 'JWT_AUDIENCE', 'JWT_ISSUER', 'JWT_JWKS_URL'];

  it.each(['127.0.0.1', '127.8.9.10', 'localhost', '::1'])('is not one at %s', (host) => {
    expect(namesIn({ HOST: host })).toEqual([]);
  });

  const ELSEWHERE = '0.0.0.0 :: ::ffff:10.0.0.1 10.0.0.7 128.0.0.1 a.example localhost.example';
  it.each([...ELSEWHERE.split(' '), '127.0.0.1.example'])(
    'refuses to start, and lists what is missing: at %s',
    (host) => {
      expect(namesIn({ HOST: host })).toEqual(MISSING);
    },
  );

  const WITHOUT_OPERATOR = [...MISSING, ...Object.keys(OPERATOR), 'ROUTER_SECRET'];
  const KNOWN = { ...EVERYWHERE, ...JWT, ...AUDIT };
  it.each<[string, Environment, readonly string[]]>([
    ['in production, on loopback', { ...PRODUCTION, ...OPERATOR }, MISSING],
    ['as a subgraph', { ...EVERYWHERE, ...SUBGRAPH }, [...MISSING, 'ROUTER_SECRET']],
    ['in production, with nothing', { ...PRODUCTION, ...SUBGRAPH }, WITHOUT_OPERATOR],
    ['as a BFF that lacks nothing', KNOWN, []],
    ['as a subgraph that lacks nothing', { ...KNOWN, ...SUBGRAPH, ROUTER_SECRET: SECRET }, []],
    ['with a part of it', { ...KNOWN, JWT_ISSUER: '' }, ['JWT_ISSUER']],
  ])('refuses to start, and lists what is missing: %s', (_what, environment, missing) => {
    expect(namesIn(environment)).toEqual(missing.toSorted());
  });
});

it('METRICS_PORT must differ from PORT, unless that is any port', () => {
  const problem = 'METRICS_PORT must be another port than PORT.';
  expect(problemsOf({ PORT: '4100', METRICS_PORT: '0004100' })).toEqual([problem]);
  expect(problemsOf({ PORT: '4100', METRICS_PORT: '4101' })).toEqual([]);
  expect(problemsOf({ PORT: '0', METRICS_PORT: '0' })).toEqual([]);
});

describe('settings of callers', () => {
  it.each<Environment>([
    { ...JWT, JWT_JWKS_URL: 'http://[::1]:4011/jwks' },
    { ...AUDIT, AUDIT_LOG: `${files.folder}/yet.jsonl` },
    { ...OPERATOR, OPERATOR_CLIENT_SECRET: '', OPERATOR_CLIENT_SECRET_FILE: FULL },
  ])('may be %j', (environment) => {
    expect(problemsOf(environment)).toEqual([]);
  });

  it.each([
    ['one', { ROUTER_SECRET: SECRET }, [SECRET]],
    ['two', { ROUTER_SECRET: `${SECRET},${OTHER_SECRET}` }, [SECRET, OTHER_SECRET]],
    ['two, with a space', { ROUTER_SECRET: `${SECRET}, ${OTHER_SECRET}` }, [SECRET, OTHER_SECRET]],
    ['one in a file, less its line break', { ROUTER_SECRET_FILE: FULL }, [SECRET]],
  ])('router secrets: %s', (_what, environment, secrets) => {
    expect(readConfig({ ...SUBGRAPH, ...environment }).callers.routerSecrets).toEqual(secrets);
  });
});

it('QUOTA_CLIENTS sets quotas of clients, and leaves the others; BATCH_SCOPE is the scope for lists', () => {
  const QUOTA_CLIENTS =
    '{"risk-desk": {"numbersPerHour": 20000, "lookupsPerHour": 90000}, "__proto__": {"promptsPerHour": 1}}';
  const settings = { ...JWT, BATCH_SCOPE: 'sim-swap:batch', QUOTA_NUMBERS_PER_HOUR: '7' };
  const { quotas, callers } = readConfig({ ...settings, QUOTA_CLIENTS });
  expect(callers.batchScope).toBe('sim-swap:batch');
  expect(quotas.numbersPerHour).toBe(7);
  expect(Array.from(quotas.clients)).toEqual([
    ['risk-desk', { numbersPerHour: 20_000, lookupsPerHour: 90_000 }],
    ['__proto__', { promptsPerHour: 1 }],
  ]);
});
