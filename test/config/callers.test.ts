import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { TemporaryFiles } from '../tls/temporaryFiles.ts';
import { namesIn, problemsOf } from './problems.ts';

const SECRET = 'a-secret-of-thirty-two-characters';
const OTHER_SECRET = 'another-one-of-thirty-two-characters';
const JWT = {
  JWT_JWKS_URL: 'https://issuer.example/jwks',
  JWT_ISSUER: 'https://issuer.example',
  JWT_AUDIENCE: 'sim-swap',
};
const OPERATOR = {
  OPERATOR_AUTH_URL: 'https://operator.example',
  OPERATOR_SIM_SWAP_URL: 'https://operator.example/sim-swap',
  OPERATOR_CLIENT_ID: 'client',
  OPERATOR_CLIENT_SECRET: 'client-secret',
};
const AUDIT = { AUDIT_KEY: SECRET };
const SUBGRAPH = { ROLE: 'subgraph' };
const EVERYWHERE = { HOST: '0.0.0.0' };
const PRODUCTION = { NODE_ENV: 'production' };

const files = new TemporaryFiles();
afterAll(() => files[Symbol.dispose]());
const EMPTY = files.write('empty', '\n');
const FULL = files.write('full', `${SECRET}\n`);

describe('a server that strangers can reach', () => {
  const MISSING = ['AUDIT_KEY', 'JWT_AUDIENCE', 'JWT_ISSUER', 'JWT_JWKS_URL'];

  it.each(['127.0.0.1', '127.8.9.10', 'localhost', '::1'])('is not that at %s', (host) => {
    expect(namesIn({ HOST: host })).toEqual([]);
  });

  const ELSEWHERE = '0.0.0.0 :: ::ffff:10.0.0.1 10.0.0.7 128.0.0.1 a.example localhost.example';
  it.each([...ELSEWHERE.split(' '), '127.0.0.1.example'])(
    'refuses to start, and lists what is missing: at %s',
    (host) => {
      expect(namesIn({ HOST: host })).toEqual(MISSING);
    },
  );

  it.each<[string, Environment, readonly string[]]>([
    ['in production, on loopback', { ...PRODUCTION, ...OPERATOR }, MISSING],
    ['as a subgraph', { ...EVERYWHERE, ...SUBGRAPH }, [...MISSING, 'ROUTER_SECRET']],
    [
      'in production, with nothing',
      { ...PRODUCTION, ...SUBGRAPH },
      [...MISSING, ...Object.keys(OPERATOR), 'ROUTER_SECRET'],
    ],
    ['as a BFF that lacks nothing', { ...EVERYWHERE, ...JWT, ...AUDIT }, []],
    [
      'as a subgraph that lacks nothing',
      { ...EVERYWHERE, ...SUBGRAPH, ROUTER_SECRET: SECRET, ...JWT, ...AUDIT },
      [],
    ],
    ['with a part of it', { ...EVERYWHERE, ...JWT, ...AUDIT, JWT_ISSUER: '' }, ['JWT_ISSUER']],
  ])('refuses to start, and lists what is missing: %s', (_what, environment, missing) => {
    expect(namesIn(environment)).toEqual(missing.toSorted());
  });
});

describe('METRICS_PORT', () => {
  const EXPOSED = { ...JWT, ...AUDIT };

  it.each([
    ['4100', '4100'],
    ['04100', '4100'],
    ['4100', '0004100'],
  ])('is not the port of the service: PORT=%s METRICS_PORT=%s', (PORT, METRICS_PORT) => {
    for (const HOST of ['0.0.0.0', '127.0.0.1']) {
      expect(problemsOf({ ...EXPOSED, HOST, PORT, METRICS_PORT })).toEqual([
        expect.stringContaining('METRICS_PORT must be another port than PORT'),
      ]);
    }
  });

  it.each([
    ['another port', { PORT: '4100', METRICS_PORT: '4101' }],
    ['any that is free, twice', { PORT: '0', METRICS_PORT: '0' }],
  ])('may be %s', (_, settings) => {
    expect(problemsOf({ ...EXPOSED, ...EVERYWHERE, ...settings })).toEqual([]);
  });
});

describe('a setting of callers', () => {
  it.each<[string, Environment, readonly string[]]>([
    [
      'half of an issuer, on loopback',
      { JWT_ISSUER: 'https://issuer.example' },
      ['JWT_AUDIENCE', 'JWT_JWKS_URL'],
    ],
    ['keys over http', { ...JWT, JWT_JWKS_URL: 'http://issuer.example/jwks' }, ['JWT_JWKS_URL']],
    ['keys over http on loopback', { ...JWT, JWT_JWKS_URL: 'http://[::1]:4011/jwks' }, []],
    [
      'an operator over http',
      { ...OPERATOR, OPERATOR_AUTH_URL: 'http://operator.example' },
      ['OPERATOR_AUTH_URL'],
    ],
    ['a setting that is none', { JWT_SECRET: 'x' }, ['JWT_SECRET']],
    ['a purpose with a space', { PURPOSES: 'fraud prevention' }, ['PURPOSES']],
    ['no purpose', { PURPOSES: ',' }, ['PURPOSES']],
    ['an audit log without a key', { AUDIT_LOG: EMPTY }, ['AUDIT_KEY']],
    ['an audit log with a short key', { AUDIT_KEY: 'short' }, ['AUDIT_KEY']],
    ['an audit log with a short earlier key', { AUDIT_KEY: `${SECRET},short` }, ['AUDIT_KEY']],
    ['an audit log that is a directory', { ...AUDIT, AUDIT_LOG: tmpdir() }, ['AUDIT_LOG']],
    ['an audit log nowhere', { ...AUDIT, AUDIT_LOG: '/nowhere/audit.jsonl' }, ['AUDIT_LOG']],
    ['an audit log that is yet to be', { ...AUDIT, AUDIT_LOG: `${files.folder}/yet.jsonl` }, []],
    ['a router before a BFF', { ROUTER_SECRET: SECRET }, ['ROUTER_SECRET']],
  ])('%s', (_what, environment, problems) => {
    expect(namesIn(environment)).toEqual(problems);
  });

  it.each([
    ['one', { ROUTER_SECRET: SECRET }, [SECRET]],
    ['two', { ROUTER_SECRET: `${SECRET},${OTHER_SECRET}` }, [SECRET, OTHER_SECRET]],
    ['two, with a space', { ROUTER_SECRET: `${SECRET}, ${OTHER_SECRET}` }, [SECRET, OTHER_SECRET]],
    ['one in a file, less its line break', { ROUTER_SECRET_FILE: FULL }, [SECRET]],
  ])('router secrets: %s', (_what, environment, secrets) => {
    expect(readConfig({ ...SUBGRAPH, ...environment }).callers.routerSecrets).toEqual(secrets);
  });

  it.each([
    ['a comma alone, which would ask for no proof', { ROUTER_SECRET: ',' }],
    ['three', { ROUTER_SECRET: `${SECRET},${OTHER_SECRET},${SECRET}x` }],
    ['a short one', { ROUTER_SECRET: 'short' }],
    ['one that no header can carry', { ROUTER_SECRET: `${SECRET} ü` }],
    ['a comma where strangers come', { ...EVERYWHERE, ROUTER_SECRET: ',', ...JWT, ...AUDIT }],
  ])('no router secrets: %s', (_what, environment) => {
    expect(namesIn({ ...SUBGRAPH, ...environment })).toEqual(['ROUTER_SECRET']);
  });

  it.each([
    ['that is not there', { OPERATOR_CLIENT_SECRET_FILE: '/nowhere/secret' }, 1],
    ['that is empty', { OPERATOR_CLIENT_SECRET_FILE: EMPTY }, 1],
    [
      'beside the secret itself',
      { OPERATOR_CLIENT_SECRET_FILE: FULL, OPERATOR_CLIENT_SECRET: 'x' },
      1,
    ],
    ['that holds it', { OPERATOR_CLIENT_SECRET_FILE: FULL }, 0],
  ])('a secret in a file %s', (_what, environment, count) => {
    const problems = namesIn({ ...OPERATOR, OPERATOR_CLIENT_SECRET: '', ...environment });
    expect(problems).toEqual(['OPERATOR_CLIENT_SECRET_FILE'].slice(0, count));
  });

  it('is never quoted where it may be a secret', () => {
    const secret = 'canary secret';
    const problems = problemsOf({ ...SUBGRAPH, ROUTER_SECRET: secret, JWT_JWKS_URL: secret });
    expect(problems).not.toEqual([]);
    expect(problems.join()).not.toContain(secret);
  });
});

describe('QUOTA_CLIENTS', () => {
  it('gives clients quotas of their own; what is not named is as for everyone', () => {
    const { quotas } = readConfig({
      ...JWT,
      QUOTA_NUMBERS_PER_HOUR: '7',
      QUOTA_CLIENTS:
        '{"risk-desk": {"numbersPerHour": 20000, "lookupsPerHour": 90000}, "__proto__": {"promptsPerHour": 1}}',
    });
    expect(quotas.numbersPerHour).toBe(7);
    expect(quotas.clients).toEqual(
      new Map([
        ['risk-desk', { numbersPerHour: 20_000, lookupsPerHour: 90_000 }],
        ['__proto__', { promptsPerHour: 1 }],
      ]),
    );
  });

  it.each([
    ...['nonsense', '[]', '7', '{"a": 7}', '{"a": null}'].map((value) => [
      value,
      'must be a JSON object',
    ]),
    ['{"": {"numbersPerHour": 1}}', 'has a client without a name'],
    ['{"a": {}}', 'sets no quota for the client "a"'],
    ['{"a": {"numbersPerHour": 1}, "a": {"numbersPerHour": 2}}', 'has a member twice'],
    [
      '{"a": {"numbersPerHuor": 1}}',
      'has "numbersPerHuor" for the client "a", which is not one of numbersPerHour, lookupsPerHour, promptsPerHour',
    ],
    // The owner of a number is guarded against all callers together, for every client.
    ['{"a": {"promptsPerHourAllCallers": 1}}', 'has "promptsPerHourAllCallers" for the client "a"'],
    ...['"5"', '0', '1.5', '1e9'].map((quota) => [
      `{"a": {"numbersPerHour": ${quota}}}`,
      'must have whole numbers from 1 to 999999999',
    ]),
  ])('%s is refused', (value, problem) => {
    expect(problemsOf({ ...JWT, QUOTA_CLIENTS: value })).toEqual([
      expect.stringContaining(`QUOTA_CLIENTS ${problem}`),
    ]);
  });
});

describe('BATCH_SCOPE', () => {
  it('is none unless it is set', () => {
    expect(readConfig(JWT).callers.tokens?.batchScope).toBeUndefined();
    const set = readConfig({ ...JWT, BATCH_SCOPE: 'sim-swap:batch' });
    expect(set.callers.tokens?.batchScope).toBe('sim-swap:batch');
  });

  it.each(['two scopes', 'a"quote', 'ümlaut', 'back\\slash'])('is not %j', (scope) => {
    expect(problemsOf({ ...JWT, BATCH_SCOPE: scope })).toEqual([
      expect.stringContaining('BATCH_SCOPE must be one scope'),
    ]);
  });
});

it.each([
  ['QUOTA_CLIENTS', '{"a": {"numbersPerHour": 1}}'],
  ['BATCH_SCOPE', 'sim-swap:batch'],
])('%s is for callers that are known', (name, value) => {
  expect(problemsOf({ [name]: value })).toEqual([
    `${name} is for callers with a token: set JWT_JWKS_URL, JWT_ISSUER and JWT_AUDIENCE.`,
  ]);
});
