import { generateKeyPairSync, randomUUID, type KeyPairKeyObjectResult } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { loadLimits } from '../src/config/loadLimits.ts';
import { readConfig } from '../src/config/config.ts';
import { namesIn, problemsOf } from './config/problems.ts';
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

function pemOf({ privateKey }: KeyPairKeyObjectResult): string {
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' });
  return keyFile(`${randomUUID()}.pem`, pem);
}

const P_256 = pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }));

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
      simulator: expect.any(Function) as unknown,
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

    expect({ ...readConfig(empty), simulator: undefined }).toEqual({
      ...readConfig({}),
      simulator: undefined,
    });
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
    ['ES256', P_256],
    ['PS256', pemOf(generateKeyPairSync('rsa', { modulusLength: 2048 }))],
  ])('may know us by assertions signed with %s, by the key, and no secret', (alg, path) => {
    const [operator] = readConfig({
      ...OPERATOR,
      OPERATOR_CLIENT_SECRET: '',
      OPERATOR_ASSERTION_KEY_FILE: path,
    }).operators;

    expect(operator?.clientAuthentication).toMatchObject({
      method: 'private_key_jwt',
      assertion: { alg, lifetimeSeconds: 60, audience: 'https://auth.example' },
    });
  });

  test.each([
    ['kpn', {}, '2-legged'],
    ['orange', { OPERATOR_ASSERTION_KEY_FILE: P_256, OPERATOR_CLIENT_SECRET: '' }, '3-legged'],
    ['nokia', { OPERATOR_AUTH_URL: '' }, '2-legged'],
  ])('has the flow of the profile %s, which has one', (profile, settings, flow) => {
    const { operators } = readConfig({ ...OPERATOR, OPERATOR_PROFILE: profile, ...settings });
    expect(operators[0]?.flow).toBe(flow);
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
    ['KEEP_FACTS_SECONDS', '301', 'must be a whole number from 0 to 300'],
    ['MAX_NUMBERS_PER_OPERATION', '0', 'must be a whole number from 1 to 10000'],
    ['MAX_QUESTIONS_PER_NUMBER', '0', 'must be a whole number from 1 to 1000'],
    ['OPERATOR_FLOW', '2legged', 'must be one of 2-legged, 3-legged'],
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
    ['OPERATOR_CLIENT_SECRET', '', 'is missing: the profile vodafone shows who we are by basic'],
    ['OPERATOR_PROFILE', 'vodafon', 'Did you mean vodafone?'],
  ];
  test.each(cases)('%s=%s', (name, value, what) => {
    const problems = problemsOf({ ...OPERATOR, [name]: value });

    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name} `));
    expect(problems[0]).toContain(what);
  });

  test.each([
    ['no key', keyFile('none.pem', 'no key')],
    ['a key on another curve', pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }))],
    ['a short RSA key', pemOf(generateKeyPairSync('rsa', { modulusLength: 1024 }))],
    ['no file', join(folder, 'missing.pem')],
  ])('OPERATOR_ASSERTION_KEY_FILE: %s', (_name, path) => {
    expect(problemsOf({ ...OPERATOR, OPERATOR_ASSERTION_KEY_FILE: path })).toEqual([
      expect.stringMatching(/^OPERATOR_ASSERTION_KEY_FILE /),
    ]);
  });

  test('OPERATOR_PROFILE: one that takes an option', () => {
    expect(problemsOf({ ...OPERATOR, OPERATOR_PROFILE: 'aggregator-in' })).toEqual([
      'OPERATOR_PROFILE takes an entry of OPERATORS_FILE, which has options.realm: it is missing: the realm of Keycloak.',
    ]);
  });

  test.each(Object.keys(OPERATOR))('%s alone is no operator, and no simulator either', (name) => {
    expect(problemsOf({ [name]: OPERATOR[name as keyof typeof OPERATOR] })).toHaveLength(3);
  });
});

describe('several bad settings', () => {
  test('are reported at once, each by its name', () => {
    const names = 'CONSENT_WAIT_MS OPERATOR_AUTH_URL OPERATOR_FLOW PORT ROLE'.split(' ');
    const environment = Object.fromEntries(names.map((name) => [name, 'x']));
    const missing = ['OPERATOR_CLIENT_ID', 'OPERATOR_CLIENT_SECRET', 'OPERATOR_SIM_SWAP_URL'];

    expect(() => readConfig(environment)).toThrow(problemsOf(environment).join('\n  '));
    expect(namesIn(environment)).toEqual([...names, ...missing].toSorted());
  });

  test.each(['prod', 'Production', 'production ', 'PRODUCTION', 'staging', 'production,'])(
    'NODE_ENV=%j beside an operator is one of them: no door is open by a typo',
    (word) => {
      expect(problemsOf({ ...OPERATOR, NODE_ENV: word }).join()).toContain(
        `NODE_ENV must be one of development, test, production, not ${JSON.stringify(word)}.`,
      );
    },
  );

  test('NODE_ENV=production has no built-in simulator', () => {
    const problems = problemsOf({ NODE_ENV: 'production' }).join();
    expect(problems).toContain('there is no built-in simulator');
  });
});

describe('.env.example', () => {
  const text = readFileSync(new URL('../.env.example', import.meta.url), 'utf8');

  test('has every setting, and nothing else', () => {
    expect(Object.keys(parseEnv(text)).toSorted()).toEqual(settingNames().toSorted());
  });

  test('holds the defaults', () => {
    expect({ ...readConfig(parseEnv(text)), simulator: undefined }).toEqual({
      ...readConfig({}),
      simulator: undefined,
    });
  });

  test('explains every setting, or the group that it is in', () => {
    const lines = text.split('\n').map((line) => line.trim());
    const unexplained = lines.filter(
      (line, index) => line !== '' && lines[index - 1] === '' && !line.startsWith('#'),
    );

    expect(unexplained).toEqual([]);
  });
});
