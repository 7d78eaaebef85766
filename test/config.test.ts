import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { loadLimits } from '../src/config/loadLimits.ts';
import { readConfig } from '../src/config/config.ts';
import { ConfigError, type Environment } from '../src/config/environment.ts';
import { settingNames } from './settingNames.ts';

const OPERATOR = {
  OPERATOR_AUTH_URL: 'https://auth.example',
  OPERATOR_SIM_SWAP_URL: 'https://api.example/sim-swap/v2',
  OPERATOR_CLIENT_ID: 'client',
  OPERATOR_CLIENT_SECRET: 's3cret-value',
};

const folder = mkdtempSync(join(tmpdir(), 'config-'));

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function keyFile(name: string, pem: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, pem);
  return path;
}

function ecKey(namedCurve: string): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve });
  return keyFile(`${namedCurve}.pem`, privateKey.export({ format: 'pem', type: 'pkcs8' }));
}

function rsaKey(modulusLength: number): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength });
  return keyFile(`${modulusLength}.pem`, privateKey.export({ format: 'pem', type: 'pkcs8' }));
}

function errorOf(environment: Environment): ConfigError {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('The settings were taken.');
}

/** The settings that the problems are about, in the order of the alphabet. */
function namesIn(problems: readonly string[]): string[] {
  return problems.map((problem) => problem.split(' ', 1).join('')).toSorted();
}

describe('without settings', () => {
  test('the defaults are those of the documentation', () => {
    expect(readConfig({})).toEqual({
      listen: { host: '127.0.0.1', port: 4000 },
      role: 'bff',
      production: false,
      allowedOrigins: [],
      logLevel: 'info',
      metricsPort: undefined,
      operators: [],
      simulator: {
        name: 'operator',
        prefixes: ['default'],
        others: [],
        keepFactsSeconds: 0,
        flow: '2-legged',
        grant: {
          type: 'client_credentials',
          username: { before: 'tel:', form: 'with-plus', after: '' },
          inQuery: [],
        },
        operations: new Set(['retrieve-date', 'check']),
        scopes: {
          operations: { 'retrieve-date': 'retrieve-sim-swap-date', check: 'check-sim-swap' },
          openid: false,
          joinedBy: ' ',
        },
        tokens: { use: 'once', marginSeconds: 5, defaultLifetimeSeconds: 60 },
        phoneNumber: { send: 'auto', place: { in: 'body' }, form: 'with-plus' },
        maxAgeHours: 2400,
        dateMarginHours: 48,
        trustMonitoredPeriod: true,
        reading: {
          members: {
            phoneNumber: 'phoneNumber',
            maxAge: 'maxAge',
            swapped: 'swapped',
            latestSimChange: 'latestSimChange',
            monitoredPeriod: 'monitoredPeriod',
          },
          maxAgeUnit: 'hours',
          nullMeans: { kind: 'not-disclosed' },
          sentinelDates: [],
        },
        retriesLookups: false,
        oneCallPerNumber: false,
        errors: { wordAt: [], rules: [] },
        correlator: { header: 'x-correlator', form: 'traceable', echo: 'auto' },
        http2: 'auto',
        tokenMismatch: 'accepted',
        headers: [],
        limits: { timeoutMs: 5000, connections: 256, permits: 256 },
      },
      directory: undefined,
      requestTimeoutMs: 10_000,
      trustedDocumentsFile: undefined,
      drainGraceMs: 0,
      consent: {
        waitMs: 3000,
        doubtSeconds: 300,
        deniedSeconds: 600,
        failureSeconds: 60,
        resultSeconds: 60,
      },
      load: loadLimits(undefined, 100),
      limits: { maxNumbersPerOperation: 100, maxQuestionsPerNumber: 10, maxReplyBytes: 2_000_000 },
      callers: { tokens: undefined, routerSecrets: [], purposes: ['fraud-prevention'] },
      quotas: {
        numbersPerHour: 10_000,
        lookupsPerHour: 50_000,
        promptsPerHour: 10,
        promptsPerHourAllCallers: 20,
        clients: new Map(),
      },
      audit: undefined,
    });
  });

  test('an empty variable is not set', () => {
    const empty = Object.fromEntries(settingNames().map((name) => [name, '']));

    expect(readConfig(empty)).toEqual(readConfig({}));
  });
});

describe('an operator', () => {
  test('has two addresses, and replaces the simulator', () => {
    const { operators, simulator } = readConfig(OPERATOR);

    expect(simulator).toBeUndefined();
    expect(operators).toMatchObject([
      {
        authorization: {
          from: 'settings',
          addresses: {
            token: 'https://auth.example/oauth/v1/token',
            backchannelAuthentication: 'https://auth.example/openIDConnectCIBA/v1/bc-authorize',
            cibaToken: 'https://auth.example/openIDConnectCIBA/v1/token',
          },
        },
        lookupAddresses: {
          retrieveDate: 'https://api.example/sim-swap/v2/retrieve-date',
          check: 'https://api.example/sim-swap/v2/check',
        },
        clientId: 'client',
        clientAuthentication: { method: 'basic', secret: 's3cret-value' },
        flow: '2-legged',
      },
    ]);
  });

  test('slashes at the end of an address are dropped', () => {
    const [operator] = readConfig({
      ...OPERATOR,
      OPERATOR_SIM_SWAP_URL: 'http://localhost:4010//',
    }).operators;

    expect(operator?.lookupAddresses.check).toBe('http://localhost:4010/check');
  });

  test.each([
    [{}, 0],
    [{ OPERATOR_FLOW: '3-legged' }, 60],
    [{ OPERATOR_FLOW: '3-legged', KEEP_FACTS_SECONDS: '0' }, 0],
    [{ KEEP_FACTS_SECONDS: '300' }, 300],
  ])('with %j keeps facts for %d s', (settings, seconds) => {
    expect(readConfig({ ...OPERATOR, ...settings }).operators[0]?.keepFactsSeconds).toBe(seconds);
  });

  test.each([
    ['ES256', ecKey('P-256')],
    ['PS256', rsaKey(2048)],
    ['RS256', rsaKey(2048)],
  ])('may know us by assertions signed with %s, and no secret', (alg, path) => {
    const [operator] = readConfig({
      ...OPERATOR,
      OPERATOR_CLIENT_SECRET: '',
      OPERATOR_CLIENT_AUTH: 'private_key_jwt',
      OPERATOR_ASSERTION_KEY_FILE: path,
      OPERATOR_ASSERTION_ALG: alg,
      OPERATOR_ASSERTION_KID: 'key-1',
      OPERATOR_ASSERTION_AUDIENCE: 'https://auth.example',
    }).operators;

    expect(operator?.clientAuthentication).toEqual({
      method: 'private_key_jwt',
      assertion: {
        privateKeyPem: readFileSync(path, 'utf8'),
        alg,
        kid: 'key-1',
        lifetimeSeconds: 60,
        audience: {
          token: 'https://auth.example',
          backchannelAuthentication: 'https://auth.example',
          cibaToken: 'https://auth.example',
        },
      },
    });
  });
});

describe('a bad setting is named', () => {
  const cases: [name: string, value: string, what: string][] = [
    ['PORT', '65536', 'must be a whole number from 0 to 65535'],
    ['PORT', '-1', 'must be a whole number from 0 to 65535'],
    ['PORT', '4e3', 'must be a whole number from 0 to 65535'],
    ['PORT', ' 4000', 'must be a whole number from 0 to 65535'],
    ['PORT', '0x10', 'must be a whole number from 0 to 65535'],
    ['ROLE', 'BFF', 'must be one of bff, subgraph'],
    ['LOG_LEVEL', 'verbose', 'must be one of info, debug, warn, error'],
    ['REQUEST_TIMEOUT_MS', '0', 'must be a whole number from 10 to 300000'],
    ['REQUEST_TIMEOUT_MS', '1.5', 'must be a whole number from 10 to 300000'],
    ['DRAIN_GRACE_MS', 'soon', 'must be a whole number from 0 to 300000'],
    ['CONSENT_WAIT_MS', '300001', 'must be a whole number from 0 to 300000'],
    ['CONSENT_DOUBT_SECONDS', '0', 'must be a whole number from 1 to 86400'],
    ['CONSENT_DENIED_SECONDS', '86401', 'must be a whole number from 0 to 86400'],
    ['CONSENT_FAILURE_SECONDS', '0', 'must be a whole number from 1 to 3600'],
    ['CONSENT_RESULT_SECONDS', '3601', 'must be a whole number from 10 to 3600'],
    ['CONSENT_RESULT_SECONDS', '9', 'must be a whole number from 10 to 3600'],
    ['CONSENT_RESULT_SECCONDS', '60', 'is not a known setting'],
    ['KEEP_FACTS_SECONDS', '301', 'must be a whole number from 0 to 300'],
    ['KEEP_FACTS_SECOND', '60', 'is not a known setting'],
    ['MAX_NUMBERS_PER_OPERATION', '0', 'must be a whole number from 1 to 10000'],
    ['MAX_QUESTIONS_PER_NUMBER', '0', 'must be a whole number from 1 to 1000'],
    ['OPERATOR_FLOW', '2legged', 'must be one of 2-legged, 3-legged'],
    ['OPERATOR_OPERATIONS', 'check,date', 'must be retrieve-date, check, or both'],
    ['OPERATOR_OPERATIONS', ',', 'must be retrieve-date, check, or both'],
    ['OPERATOR_CIBA_FIRST_POLL', 'now', 'must be one of at-once, after-interval'],
    ['OPERATOR_SEND_PHONE_NUMBER', 'yes', 'must be one of auto, always, never'],
    ['OPERATOR_MAX_AGE_HOURS', '2401', 'must be a whole number from 1 to 2400'],
    ['OPERATOR_DATE_MARGIN_HOURS', '-48', 'must be a whole number from 0 to 2400'],
    ['OPERATOR_TRUST_MONITORED_PERIOD', 'TRUE', 'must be true or false'],
    ['OPERATOR_RETRY_LOOKUPS', '1', 'must be true or false'],
    ['OPERATOR_CORRELATOR_ECHO', 'on', 'must be one of auto, always, never'],
    ['OPERATOR_HTTP2', 'always', 'must be one of auto, never'],
    ['OPERATOR_TOKEN_MISMATCH', 'maybe', 'must be one of accepted, refused'],
    ['OPERATOR_HEADERS', '[]', 'must be a JSON object'],
    ['OPERATOR_HEADERS', '{"x-a":1}', 'must be a JSON object'],
    ['OPERATOR_HEADERS', String.raw`{"x-a":"b\r\nx-c: d"}`, 'must be a JSON object'],
    ['OPERATOR_HEADERS', '{"x a":"b"}', 'must be a JSON object'],
    ['OPERATOR_HEADERS', '{"Authorization":"b"}', 'sets authorization'],
    ['OPERATOR_HEADERS', '{"X-Correlator":"b"}', 'sets x-correlator'],
    ['OPERATOR_HEADERS', '{"HTTP2-Settings":"b"}', 'sets http2-settings'],
    ['OPERATOR_TIMEOUT_MS', '120001', 'must be a whole number from 10 to 120000'],
    [
      'OPERATOR_AUTH_URL',
      'auth.example',
      'must be an address that starts with http:// or https://',
    ],
    ['OPERATOR_AUTH_URL', 'ftp://auth.example', 'must be an address that starts with'],
    ['OPERATOR_AUTH_URL', 'https://u:p@auth.example', 'must be an address without user'],
    ['OPERATOR_AUTH_URL', 'https://auth.example/?a', 'must be an address without user'],
    ['OPERATOR_AUTH_URL', '', 'is missing: an operator has two addresses'],
    ['OPERATOR_SIM_SWAP_URL', '', 'is missing: an operator has two addresses'],
    ['OPERATOR_SIM_SWAP_URL', 'https://api.example/#a', 'must be an address without user'],
    ['OPERATOR_CLIENT_ID', '', 'is missing'],
    ['OPERATOR_CLIENT_SECRET', '', 'is missing: OPERATOR_CLIENT_AUTH=basic needs it'],
    ['OPERATOR_CLIENT_AUTH', 'none', 'must be one of basic, private_key_jwt, both'],
    ['OPERATOR_ASERTION_ALG', 'ES256', 'is not a known setting'],
  ];
  test.each(cases)('%s=%s', (name, value, what) => {
    const { problems } = errorOf({ ...OPERATOR, [name]: value });

    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name} `));
    expect(problems[0]).toContain(what);
  });

  test.each([
    ['no key', keyFile('none.pem', 'no key'), 'ES256'],
    ['a key on another curve', ecKey('P-384'), 'ES256'],
    ['a key of another kind', rsaKey(2048), 'ES256'],
    ['an EC key', ecKey('P-256'), 'PS256'],
    ['a short RSA key', rsaKey(1024), 'RS256'],
    ['no file', join(folder, 'missing.pem'), 'ES256'],
  ])('OPERATOR_ASSERTION_KEY_FILE: %s', (_name, path, alg) => {
    const { problems } = errorOf({
      ...OPERATOR,
      OPERATOR_CLIENT_AUTH: 'both',
      OPERATOR_ASSERTION_ALG: alg,
      OPERATOR_ASSERTION_KEY_FILE: path,
      OPERATOR_ASSERTION_AUDIENCE: 'https://auth.example',
    });

    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^OPERATOR_ASSERTION_KEY_FILE names a file that /);
  });

  test('both kinds of client authentication need what each needs', () => {
    const { problems } = errorOf({
      ...OPERATOR,
      OPERATOR_CLIENT_SECRET: '',
      OPERATOR_CLIENT_AUTH: 'both',
    });

    expect(namesIn(problems)).toEqual([
      'OPERATOR_ASSERTION_AUDIENCE',
      'OPERATOR_ASSERTION_KEY_FILE',
      'OPERATOR_CLIENT_SECRET',
    ]);
  });

  test.each(Object.keys(OPERATOR))('%s alone is no operator, and no simulator either', (name) => {
    const value = OPERATOR[name as keyof typeof OPERATOR];

    expect(errorOf({ [name]: value }).problems).toHaveLength(3);
  });
});

describe('several bad settings', () => {
  test('are told at once, each by its name', () => {
    const { message, problems } = errorOf({
      PORT: 'x',
      ROLE: 'x',
      OPERATOR_FLOW: 'x',
      OPERATOR_AUTH_URL: 'x',
      CONSENT_WAIT_MS: 'x',
    });

    expect(namesIn(problems)).toEqual([
      'CONSENT_WAIT_MS',
      'OPERATOR_AUTH_URL',
      'OPERATOR_CLIENT_ID',
      'OPERATOR_CLIENT_SECRET',
      'OPERATOR_FLOW',
      'OPERATOR_SIM_SWAP_URL',
      'PORT',
      'ROLE',
    ]);
    for (const problem of problems) expect(message).toContain(problem);
  });

  test('are not quoted where they are a secret that stands in the wrong place', () => {
    const slip = 's3cret-value';
    const everywhere = Object.fromEntries(settingNames().map((name) => [name, slip]));

    expect(errorOf({ ...everywhere, OPERATOR_SEKRET: slip }).message).not.toContain(slip);
  });

  test('NODE_ENV=production names what is missing', () => {
    const { problems } = errorOf({ NODE_ENV: 'production' });

    expect(namesIn(problems)).toEqual([
      'AUDIT_KEY',
      'JWT_AUDIENCE',
      'JWT_ISSUER',
      'JWT_JWKS_URL',
      'OPERATOR_AUTH_URL',
      'OPERATOR_CLIENT_ID',
      'OPERATOR_CLIENT_SECRET',
      'OPERATOR_SIM_SWAP_URL',
    ]);
    expect(problems.join()).toContain('there is no built-in simulator');
  });
});

describe('.env.example', () => {
  const text = readFileSync(new URL('../.env.example', import.meta.url), 'utf8');

  test('has every setting, and nothing else', () => {
    expect(Object.keys(parseEnv(text)).toSorted()).toEqual(settingNames().toSorted());
  });

  test('holds the defaults', () => {
    expect(readConfig(parseEnv(text))).toEqual(readConfig({}));
  });

  test('explains every setting, or the group that it stands in', () => {
    const lines = text.split('\n').map((line) => line.trim());
    const unexplained = lines.filter(
      (line, index) => line !== '' && lines[index - 1] === '' && !line.startsWith('#'),
    );

    expect(unexplained).toEqual([]);
  });
});
