import { purposesOf } from '../src/domain/identity.ts';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { loadLimits } from '../src/config/loadLimits.ts';
import { readConfig } from '../src/config/config.ts';
import { keyFile, namesIn, OPERATOR, problemsOf } from './config/problems.ts';
import { VARIABLE_NAMES } from '../src/config/settings.ts';
import { TemporaryFiles } from './support/temporary.ts';

const files = new TemporaryFiles();

const P_256 = keyFile(files, generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const RSA = keyFile(files, generateKeyPairSync('rsa', { modulusLength: 2048 }));

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
        doubtMs: 300_000,
        deniedMs: 600_000,
        failureMs: 60_000,
        resultMs: 60_000,
      },
      load: loadLimits(undefined, 100, true),
      limits: { maxNumbersPerOperation: 100, maxQuestionsPerNumber: 10, maxReplyBytes: 2_000_000 },
      callers: {
        tokens: undefined,
        routerSecrets: [],
        purposes: purposesOf(['fraud-prevention=dpv:FraudPreventionAndDetection']),
      },
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
    const empty = Object.fromEntries([...VARIABLE_NAMES].map((name) => [name, '']));
    const simulator = expect.any(Function) as unknown;
    expect(readConfig(empty)).toEqual({ ...readConfig({}), simulator });
  });
});

describe('an operator', () => {
  test('has two addresses, without slashes at their ends, and replaces the simulator', () => {
    const OPERATOR_SIM_SWAP_URL = 'http://localhost:4010//';
    const { operators, simulator } = readConfig({ ...OPERATOR, OPERATOR_SIM_SWAP_URL });

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
          retrieveDate: 'http://localhost:4010/retrieve-date',
          check: 'http://localhost:4010/check',
        },
        clientId: 'client',
        clientAuthentication: { method: 'basic', secret: 's3cret-value' },
        flow: '2-legged',
      },
    ]);
  });

  test.each([
    ['ES256', P_256],
    ['PS256', RSA],
  ])('may have a key in place of a secret, for assertions with %s', (alg, path) => {
    const keyed = { OPERATOR_CLIENT_SECRET: '', OPERATOR_ASSERTION_KEY_FILE: path };
    const [operator] = readConfig({ ...OPERATOR, ...keyed }).operators;
    expect(operator?.clientAuthentication).toMatchObject({
      method: 'private_key_jwt',
      assertion: { alg, lifetimeSeconds: 60, audience: 'https://auth.example' },
    });
  });

  test.each([
    ['kpn', {}, '2-legged'],
    ['orange', { OPERATOR_ASSERTION_KEY_FILE: P_256, OPERATOR_CLIENT_SECRET: '' }, '3-legged'],
    ['nokia', { OPERATOR_AUTH_URL: '' }, '2-legged'],
  ])('has the only flow of the profile %s', (profile, settings, flow) => {
    const { operators } = readConfig({ ...OPERATOR, OPERATOR_PROFILE: profile, ...settings });
    expect(operators[0]?.flow).toBe(flow);
  });
});

test.each(Object.keys(OPERATOR))('only %s is neither an operator nor a simulator', (name) => {
  expect(problemsOf({ [name]: OPERATOR[name as keyof typeof OPERATOR] })).toHaveLength(3);
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
    'NODE_ENV=%j with an operator is one of them: a typo turns no check off',
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

test('.env.example has every setting, and nothing else, with its default', () => {
  const text = readFileSync(new URL('../.env.example', import.meta.url), 'utf8');
  const set = parseEnv(text);
  expect(Object.keys(set).toSorted()).toEqual([...VARIABLE_NAMES].toSorted());
  const simulator = expect.any(Function) as unknown;
  expect(readConfig(set)).toEqual({ ...readConfig({}), simulator });
});
