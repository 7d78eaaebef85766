import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { ConfigError, type Environment } from '../../src/config/environment.ts';
import { isLoopback } from '../../src/http/address.ts';

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

/** The names of the settings that are complained of, each once. */
function complaints(environment: Environment): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [...new Set(error.problems.map((problem) => problem.split(' ', 1)[0] ?? ''))].toSorted();
  }
}

function fileOf(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'settings-')), 'secret');
  writeFileSync(path, text);
  return path;
}

describe('a server that strangers can reach', () => {
  const MISSING = ['AUDIT_KEY', 'JWT_AUDIENCE', 'JWT_ISSUER', 'JWT_JWKS_URL'];
  it.each([
    ['on loopback nothing is needed', {}, []],
    ['on loopback by name', { HOST: 'localhost' }, []],
    ['on loopback by IPv6', { HOST: '::1' }, []],
    ['everywhere', { HOST: '0.0.0.0' }, MISSING],
    ['everywhere by IPv6', { HOST: '::' }, MISSING],
    ['at an address', { HOST: '10.0.0.7' }, MISSING],
    ['at a name', { HOST: 'service.example' }, MISSING],
    ['at a name that starts like loopback', { HOST: '127.0.0.1.example' }, MISSING],
    ['in production, on loopback', { NODE_ENV: 'production', ...OPERATOR }, MISSING],
    ['as a subgraph', { HOST: '0.0.0.0', ROLE: 'subgraph' }, [...MISSING, 'ROUTER_SECRET']],
    [
      'in production, with nothing',
      { NODE_ENV: 'production', ROLE: 'subgraph' },
      [
        'AUDIT_KEY',
        'JWT_AUDIENCE',
        'JWT_ISSUER',
        'JWT_JWKS_URL',
        'OPERATOR_AUTH_URL',
        'OPERATOR_CLIENT_ID',
        'OPERATOR_CLIENT_SECRET',
        'OPERATOR_SIM_SWAP_URL',
        'ROUTER_SECRET',
      ],
    ],
    ['as a BFF that lacks nothing', { HOST: '0.0.0.0', ...JWT, ...AUDIT }, []],
    [
      'as a subgraph that lacks nothing',
      { HOST: '0.0.0.0', ROLE: 'subgraph', ROUTER_SECRET: SECRET, ...JWT, ...AUDIT },
      [],
    ],
    ['with a part of it', { HOST: '0.0.0.0', ...JWT, ...AUDIT, JWT_ISSUER: '' }, ['JWT_ISSUER']],
  ])('refuses to start, and lists what is missing: %s', (_what, environment, missing) => {
    expect(complaints(environment)).toEqual(missing);
  });
});

describe('a setting of callers', () => {
  it.each([
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
    ['an audit log without a key', { AUDIT_LOG: fileOf('') }, ['AUDIT_KEY']],
    ['an audit log with a short key', { AUDIT_KEY: 'short' }, ['AUDIT_KEY']],
    ['an audit log with a short earlier key', { AUDIT_KEY: `${SECRET},short` }, ['AUDIT_KEY']],
    ['an audit log that is a directory', { ...AUDIT, AUDIT_LOG: tmpdir() }, ['AUDIT_LOG']],
    [
      'an audit log in no directory',
      { ...AUDIT, AUDIT_LOG: '/nowhere/audit.jsonl' },
      ['AUDIT_LOG'],
    ],
    [
      'an audit log that is yet to be',
      { ...AUDIT, AUDIT_LOG: join(tmpdir(), 'yet-to-be.jsonl') },
      [],
    ],
    ['a router before a BFF', { ROUTER_SECRET: SECRET }, ['ROUTER_SECRET']],
  ])('%s', (_what, environment, problems) => {
    expect(complaints(environment)).toEqual(problems);
  });

  it.each([
    ['one', { ROUTER_SECRET: SECRET }, [SECRET]],
    [
      'two in one variable',
      { ROUTER_SECRET: `${SECRET}, ${OTHER_SECRET}` },
      [SECRET, OTHER_SECRET],
    ],
    [
      'two in a variable each',
      { ROUTER_SECRET: `${SECRET},${OTHER_SECRET}` },
      [SECRET, OTHER_SECRET],
    ],
    ['one in a file, less its line break', { ROUTER_SECRET_FILE: fileOf(`${SECRET}\n`) }, [SECRET]],
  ])('router secrets: %s', (_what, environment, secrets) => {
    expect(readConfig({ ROLE: 'subgraph', ...environment }).callers.routerSecrets).toEqual(secrets);
  });

  it.each([
    ['a comma alone, which would ask for no proof', { ROUTER_SECRET: ',' }],
    ['three', { ROUTER_SECRET: `${SECRET},${OTHER_SECRET},${SECRET}x` }],
    ['a short one', { ROUTER_SECRET: 'short' }],
    ['one that no header can carry', { ROUTER_SECRET: `${SECRET} ü` }],
    [
      'a comma alone, where strangers come',
      { HOST: '0.0.0.0', ROUTER_SECRET: ',', ...JWT, ...AUDIT },
    ],
  ])('no router secrets: %s', (_what, environment) => {
    expect(complaints({ ROLE: 'subgraph', ...environment })).toEqual(['ROUTER_SECRET']);
  });

  it.each([
    [
      'that is not there',
      { OPERATOR_CLIENT_SECRET_FILE: '/nowhere/secret' },
      ['OPERATOR_CLIENT_SECRET_FILE'],
    ],
    [
      'that is empty',
      { OPERATOR_CLIENT_SECRET_FILE: fileOf('\n') },
      ['OPERATOR_CLIENT_SECRET_FILE'],
    ],
    [
      'beside the secret itself',
      { OPERATOR_CLIENT_SECRET_FILE: fileOf('x'), OPERATOR_CLIENT_SECRET: 'x' },
      ['OPERATOR_CLIENT_SECRET_FILE'],
    ],
    ['that holds it', { OPERATOR_CLIENT_SECRET_FILE: fileOf('x') }, []],
  ])('a secret in a file %s', (_what, environment, problems) => {
    const { OPERATOR_CLIENT_SECRET: _secret, ...operator } = OPERATOR;
    expect(complaints({ ...operator, ...environment })).toEqual(problems);
  });

  it('never quotes a secret', () => {
    const secret = 'canary secret';
    const environment = { ROLE: 'subgraph', ROUTER_SECRET: secret, JWT_JWKS_URL: secret };
    expect(() => readConfig(environment)).toThrow(ConfigError);
    expect(() => readConfig(environment)).not.toThrow(secret);
  });
});

describe('loopback', () => {
  it.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['127.8.9.10', true],
    ['::1', true],
    ['[::1]', true],
    ['0.0.0.0', false],
    ['::', false],
    ['', false],
    ['localhost.example', false],
    ['127.0.0.1.example', false],
    ['128.0.0.1', false],
    ['::ffff:10.0.0.1', false],
  ])('%s: %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });
});
