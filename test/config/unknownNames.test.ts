import { describe, expect, test } from 'vitest';
import type { Environment } from '../../src/config/environment.ts';
import { VARIABLE_NAMES } from '../../src/config/settings.ts';
import { problemsOf } from './problems.ts';

const SETTINGS: readonly string[] = [...VARIABLE_NAMES];

/** The problem with an address. */
function at(url: string): string | undefined {
  return problemsOf({ OPERATOR_AUTH_URL: url }).find((one) => one.startsWith('OPERATOR_AUTH_URL '));
}

/** What Kubernetes sets in each pod for a Service: https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables */
function serviceLinks(service: string, protocol: string): Environment {
  const name = service.toUpperCase().replaceAll('-', '_');
  const address = `${name}_PORT_4000_${protocol}`;
  return {
    [`${name}_SERVICE_HOST`]: '10.0.0.11',
    [`${name}_SERVICE_PORT`]: '4000',
    [`${name}_SERVICE_PORT_HTTP_GRAPHQL`]: '4000',
    [`${name}_PORT`]: 'tcp://10.0.0.11:4000',
    [address]: 'tcp://10.0.0.11:4000',
    [`${address}_PROTO`]: 'tcp',
    [`${address}_PORT`]: '4000',
    [`${address}_ADDR`]: '10.0.0.11',
  };
}

describe('a variable that Kubernetes sets for a Service is not a typo', () => {
  const SERVICES =
    'router operator operator-simulator consent audit jwt quota redis max-numbers request';
  test.each(SERVICES.split(' '))('%s', (service) => {
    const links = ['TCP', 'UDP', 'SCTP'].map((protocol) => serviceLinks(service, protocol));
    expect(problemsOf(Object.assign({}, ...links) as Environment)).toEqual([]);
  });
});

describe('a typo stops the start, with the name it resembles', () => {
  const TYPOS = `ROL ROLE|ROLES ROLE|MAX_NUMBER_PER_OPERATION MAX_NUMBERS_PER_OPERATION
    MAX_NUMBERS_PER_OPERATIONS MAX_NUMBERS_PER_OPERATION|REQUEST_TIMEOUT_SM REQUEST_TIMEOUT_MS
    DRAIN_GRACE_SM DRAIN_GRACE_MS|PURPOSE PURPOSES|REDIS_URI REDIS_URL|STATEKEY STATE_KEY
    LOGLEVEL LOG_LEVEL|TRUSTED_DOCUMENT TRUSTED_DOCUMENTS|OPERATOR_TIMEOUT OPERATOR_TIMEOUT_MS
    OPERATOR_CLIENT_SECERT OPERATOR_CLIENT_SECRET|OPERATOR_AUTHURL OPERATOR_AUTH_URL
    CONSENT_RESULT_SECCONDS CONSENT_RESULT_SECONDS|JWT_JWKS JWT_JWKS_URL|AUDIT_KEYS AUDIT_KEY
    ROUTER_SECRETS ROUTER_SECRET|QUOTA_NUMBERS QUOTA_NUMBERS_PER_HOUR`;
  test.each(TYPOS.split(/[|\n]/).map((pair) => pair.trim().split(' ')))(
    '%s: did you mean %s?',
    (typo = '', meant) => {
      expect(problemsOf({ [typo]: 's3cret-value' })).toEqual([
        `${typo} is not a known setting. Did you mean ${meant}?`,
      ]);
    },
  );

  test('a name that resembles none is reported without a guess', () => {
    expect(problemsOf({ OPERATOR_COLOUR_OF_THE_LOGO: 'green' })).toEqual([
      'OPERATOR_COLOUR_OF_THE_LOGO is not a known setting.',
    ]);
  });
});

test('beside REDIS_URL, variables that say how to reach a Redis are reported, and nothing of them is quoted', () => {
  const names =
    `REDIS_USERNAME REDIS_PASSWORD REDIS_PASSWORD_FILE REDIS_SENTINEL_MASTER REDIS_TOPOLOGY
    REDIS_TLS_SERVER_NAME REDIS_TLS_CA REDIS_TLS_CERT REDIS_TLS_KEY`.split(/\s+/);
  const variables = Object.fromEntries(names.map((name) => [name, 's3cret-value']));
  const redis = { REDIS_URL: 'redis://127.0.0.1', STATE_KEY: '0'.repeat(64) };
  const others = { REDIS_HOST: 'redis', REDIS_PORT: 'tcp://10.0.0.11:6379', REDIS_VERSION: '7' };
  expect(problemsOf({ ...redis, ...others, ...variables, REDIS_TLS_CA_FIL: 'ca.pem' })).toEqual([
    ...names.map((name) => expect.stringMatching(`^${name} is not a known setting. .* REDIS_URL`)),
    'REDIS_TLS_CA_FIL is not a known setting. Did you mean REDIS_TLS_CA_FILE?',
  ]);
  expect(problemsOf({ ...redis, ...variables }).join(' ')).not.toContain('s3cret');
});

test('common variables of a machine are ignored', () => {
  const names = `PATH HOME USER SHELL LANG PWD TERM HOSTNAME TZ NODE_OPTIONS NODE_VERSION NODE_PATH
    YARN_VERSION npm_lifecycle_event INIT_CWD LOGNAME MAIL CI HTTP_PROXY REDIS_HOST REDIS_PASSWORD
    LOG_FORMAT MAX_MEMORY REQUEST_ID STATE_DIRECTORY JWTS`.split(/\s+/);
  expect(problemsOf(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([]);
});

describe('a message repeats the value', () => {
  test.each<[Environment, string]>([
    [{ PORT: 'none' }, 'PORT must be a whole number from 0 to 65535, not "none".'],
    [{ ROLE: 'router' }, 'ROLE must be one of bff, subgraph, not "router".'],
    [{ PORT: '4000\n' }, String.raw`PORT must be a whole number from 0 to 65535, not "4000\n".`],
    [{ PORT: '9'.repeat(100) }, 'PORT must be a whole number from 0 to 65535.'],
  ])('%j', (environment, problem) => {
    expect(problemsOf(environment)).toEqual([problem]);
  });

  test('of an address, unless it may hold a secret', () => {
    expect(at('nowhere')).toBe(
      'OPERATOR_AUTH_URL must be an address that starts with http:// or https://, not "nowhere".',
    );
    expect(at('http://operator.example/v1')).toContain('not "http://operator.example/v1"');
    for (const secret of ['https://u:s3cret@auth.example', 'https://auth.example/?key=s3cret']) {
      expect(at(secret)).not.toContain('s3cret');
    }
  });

  test('unless it is a secret, or a secret elsewhere', () => {
    const secret = 's3cret-value';
    const names = [...SETTINGS, 'OPERATOR_SEKRET'];
    const environment = Object.fromEntries(names.map((name) => [name, secret]));
    expect(problemsOf(environment).join('\n')).not.toContain(secret);
    const problems = problemsOf({ STATE_KEY: 'short', REDIS_URL: 'htp:x' });
    expect(problems.join('\n')).not.toMatch(/short|htp/);
  });
});
