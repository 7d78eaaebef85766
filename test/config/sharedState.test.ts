import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/environment.ts';
import { readConfig } from '../../src/config.ts';
import { createCertificate } from '../tls/certificate.ts';

const REDIS_URL = 'redis://user:hidden@127.0.0.1:6379';
const BYTES = Buffer.alloc(32, 7);

function problemsOf(environment: Record<string, string>): string {
  try {
    readConfig(environment);
    return '';
  } catch (error) {
    return error instanceof ConfigError ? error.message : 'another error';
  }
}

describe('REDIS_URL and STATE_KEY', () => {
  it.each([
    ['base64', BYTES.toString('base64')],
    ['base64url', BYTES.toString('base64url')],
    ['hex', BYTES.toString('hex')],
  ])('takes a key in %s', (_name, STATE_KEY) => {
    const { sharedState } = readConfig({ REDIS_URL, STATE_KEY });
    expect(sharedState?.redis).toEqual({
      topology: { kind: 'single', server: { host: '127.0.0.1', port: 6379 }, database: 0 },
      credentials: { username: 'user', password: 'hidden' },
      tls: undefined,
    });
    expect(Buffer.from(sharedState?.stateKeys[0] ?? [])).toEqual(BYTES);
  });

  it.each([
    ['', 0],
    ['/', 0],
    ['/0', 0],
    ['/15', 15],
  ])('takes a database in its path: %j', (path, database) => {
    const redisUrl = `${REDIS_URL}${path}`;
    const { sharedState } = readConfig({ REDIS_URL: redisUrl, STATE_KEY: BYTES.toString('hex') });
    expect(sharedState?.redis.topology).toMatchObject({ kind: 'single', database });
  });

  it('keeps consents in the process where there is no Redis', () => {
    expect(readConfig({}).sharedState).toBeUndefined();
  });

  it.each([
    ['no key', { REDIS_URL }, 'STATE_KEY is missing'],
    ['a short key', { REDIS_URL, STATE_KEY: 'c2hvcnQ=' }, 'STATE_KEY must be 32 bytes'],
    ['a password for a key', { REDIS_URL, STATE_KEY: 'hunter2' }, 'STATE_KEY must be 32 bytes'],
    [
      'another kind of address',
      { REDIS_URL: 'https://cache.example', STATE_KEY: BYTES.toString('hex') },
      'REDIS_URL must be an address',
    ],
    [
      'a path that is no database',
      { REDIS_URL: `${REDIS_URL}/hidden`, STATE_KEY: BYTES.toString('hex') },
      'REDIS_URL has a path that names no database',
    ],
    [
      'a password that is not encoded',
      { REDIS_URL: 'redis://user:hidden%zz@127.0.0.1', STATE_KEY: BYTES.toString('hex') },
      'REDIS_URL has a user or password that is not percent-encoded',
    ],
  ])('refuses %s, and quotes nothing of it', (_name, environment, problem) => {
    const problems = problemsOf(environment);
    expect(problems).toContain(problem);
    expect(problems).not.toMatch(/hidden|hunter2|c2hvcnQ/);
  });
});

const KEYED = { STATE_KEY: BYTES.toString('hex') };
const OWN = createCertificate();
const OTHER = createCertificate();

function redisOf(environment: Record<string, string>) {
  return readConfig({ ...KEYED, ...environment }).sharedState?.redis;
}

describe('REDIS_TOPOLOGY', () => {
  it('takes some servers of a cluster, and one user for all', () => {
    expect(
      redisOf({
        REDIS_TOPOLOGY: 'cluster',
        REDIS_URL: 'redis://a.example, redis://b.example:7000,redis://[::1]:7001',
        REDIS_USERNAME: 'sim-swap',
        REDIS_PASSWORD: 'hidden',
      }),
    ).toEqual({
      topology: {
        kind: 'cluster',
        servers: [
          { host: 'a.example', port: 6379 },
          { host: 'b.example', port: 7000 },
          { host: '::1', port: 7001 },
        ],
      },
      credentials: { username: 'sim-swap', password: 'hidden' },
      tls: undefined,
    });
  });

  it('takes sentinels, which have a password of their own', () => {
    expect(
      redisOf({
        REDIS_TOPOLOGY: 'sentinel',
        REDIS_URL: 'rediss://a.example/2,rediss://b.example/2',
        REDIS_SENTINEL_MASTER: 'mymaster',
        REDIS_PASSWORD: 'hidden',
        REDIS_SENTINEL_PASSWORD: 'hidden too',
        REDIS_TLS_CA: OWN.cert,
        REDIS_TLS_CERT: OWN.cert,
        REDIS_TLS_KEY: OWN.key,
      }),
    ).toEqual({
      topology: {
        kind: 'sentinel',
        sentinels: [
          { host: 'a.example', port: 26_379 },
          { host: 'b.example', port: 26_379 },
        ],
        masterName: 'mymaster',
        sentinelCredentials: { username: undefined, password: 'hidden too' },
        database: 2,
      },
      credentials: { username: undefined, password: 'hidden' },
      tls: { ca: OWN.cert, client: OWN, serverName: undefined },
    });
  });

  it('takes a password with a comma for one address', () => {
    const redis = redisOf({ REDIS_URL: 'redis://:a,b@127.0.0.1' });
    expect(redis?.credentials?.password).toBe('a,b');
  });

  const CLUSTER = { REDIS_TOPOLOGY: 'cluster', REDIS_URL: 'redis://127.0.0.1:7000' };
  const SENTINEL = { REDIS_TOPOLOGY: 'sentinel', REDIS_URL: 'redis://127.0.0.1:26379' };
  it.each<[string, Record<string, string>, string]>([
    [
      'several servers that are no cluster',
      { REDIS_URL: 'redis://127.0.0.1:1,redis://127.0.0.1:2' },
      'REDIS_URL has several addresses: set REDIS_TOPOLOGY',
    ],
    [
      'servers with different passwords',
      { ...CLUSTER, REDIS_URL: 'redis://:hidden1@127.0.0.1:1,redis://:hidden2@127.0.0.1:2' },
      'REDIS_URL has addresses that differ in more than host and port',
    ],
    [
      'a database of a cluster',
      { ...CLUSTER, REDIS_URL: 'redis://127.0.0.1:7000/1' },
      'REDIS_URL names a database, of which a cluster has none',
    ],
    ['sentinels without a master', SENTINEL, 'REDIS_SENTINEL_MASTER is missing'],
    [
      'a master without sentinels',
      { ...CLUSTER, REDIS_SENTINEL_MASTER: 'mymaster' },
      'REDIS_SENTINEL_MASTER is for REDIS_TOPOLOGY=sentinel',
    ],
    [
      'a user in the address of a sentinel',
      { ...SENTINEL, REDIS_SENTINEL_MASTER: 'm', REDIS_URL: 'redis://:hidden@127.0.0.1' },
      'REDIS_URL has a user or password: set REDIS_PASSWORD for the Redis itself',
    ],
    [
      'two passwords',
      { REDIS_URL, REDIS_PASSWORD: 'hidden' },
      'REDIS_PASSWORD is set although REDIS_URL has a user or password',
    ],
    [
      'a user without a password',
      { ...CLUSTER, REDIS_USERNAME: 'sim-swap' },
      'REDIS_USERNAME is set without REDIS_PASSWORD',
    ],
    [
      'an authority without TLS',
      { ...CLUSTER, REDIS_TLS_CA: OWN.cert },
      'REDIS_URL must start with rediss://',
    ],
    [
      'a certificate without its key',
      { ...CLUSTER, REDIS_URL: 'rediss://127.0.0.1', REDIS_TLS_CERT: OWN.cert },
      'REDIS_TLS_KEY is missing',
    ],
    [
      "another certificate's key",
      {
        ...CLUSTER,
        REDIS_URL: 'rediss://127.0.0.1',
        REDIS_TLS_CERT: OWN.cert,
        REDIS_TLS_KEY: OTHER.key,
      },
      'REDIS_TLS_KEY is not the key of the certificate',
    ],
    [
      'an authority that is no certificate',
      { ...CLUSTER, REDIS_URL: 'rediss://127.0.0.1', REDIS_TLS_CA: 'hidden' },
      'REDIS_TLS_CA must be one or more certificates',
    ],
  ])('refuses %s', (_name, environment, problem) => {
    const problems = problemsOf({ ...KEYED, ...environment });
    expect(problems).toContain(problem);
    expect(problems).not.toMatch(/hidden/);
  });
});
