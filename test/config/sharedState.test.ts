import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { TemporaryFiles } from '../tls/temporaryFiles.ts';
import { createCertificate } from '../tls/certificate.ts';
import { problemsOf } from './problems.ts';

const REDIS_URL = 'redis://user:hidden@127.0.0.1:6379';
const BYTES = Buffer.alloc(32, 7);
const KEYED = { STATE_KEY: BYTES.toString('hex') };
const OWN = createCertificate();
const OTHER = createCertificate();
const files = new TemporaryFiles();
afterAll(() => files[Symbol.dispose]());
const REDIS_TLS_CA_FILE = files.write('ca.pem', OWN.cert);
const REDIS_TLS_CERT_FILE = files.write('own.pem', OWN.cert);
const REDIS_TLS_KEY_FILE = files.write('own.key', OWN.key);

function redisOf(environment: Record<string, string>) {
  return readConfig({ ...KEYED, ...environment }).sharedState?.redis;
}

describe('STATE_KEY', () => {
  it.each(['base64', 'base64url', 'hex'] as const)('may be in %s', (encoding) => {
    const { sharedState } = readConfig({ REDIS_URL, STATE_KEY: BYTES.toString(encoding) });
    expect(Buffer.from(sharedState?.stateKeys[0] ?? [])).toEqual(BYTES);
  });

  it.each([
    [{}, 'STATE_KEY is missing'],
    [{ STATE_KEY: 'c2hvcnQ=' }, 'STATE_KEY must be 32 bytes'],
    [{ STATE_KEY: 'hunter2' }, 'STATE_KEY must be 32 bytes'],
  ])('is not quoted where it is refused: %j', (key, problem) => {
    const problems = problemsOf({ REDIS_URL, ...key });
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems.join()).not.toMatch(/hidden|hunter2|c2hvcnQ/);
  });
});

describe('REDIS_URL says how Redis is run', () => {
  it('keeps consents in the process without it', () => {
    expect(readConfig({}).sharedState).toBeUndefined();
  });

  it.each([
    ['', 0],
    ['/', 0],
    ['/0', 0],
    ['/15', 15],
  ])('takes one server, and a database in its path: %j', (path, database) => {
    expect(redisOf({ REDIS_URL: `${REDIS_URL}${path}` })).toEqual({
      topology: { kind: 'single', server: { host: '127.0.0.1', port: 6379 }, database },
      credentials: { username: 'user', password: 'hidden' },
      tls: undefined,
    });
  });

  it('takes some servers of a cluster, and one user for all', () => {
    expect(
      redisOf({
        REDIS_URL: 'redis+cluster://sim-swap:h%40dden@a.example,b.example:7000,[::1]:7001',
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
      credentials: { username: 'sim-swap', password: 'h@dden' },
      tls: undefined,
    });
  });

  it('takes sentinels, which may have a login of their own', () => {
    expect(
      redisOf({
        REDIS_URL:
          'rediss+sentinel://:hidden@a.example,b.example:7000/mymaster/2?sentinelPassword=hidden+too&serverName=redis.internal',
        REDIS_TLS_CA_FILE,
        REDIS_TLS_CERT_FILE,
        REDIS_TLS_KEY_FILE,
      }),
    ).toEqual({
      topology: {
        kind: 'sentinel',
        sentinels: [
          { host: 'a.example', port: 26_379 },
          { host: 'b.example', port: 7000 },
        ],
        masterName: 'mymaster',
        sentinelCredentials: { username: undefined, password: 'hidden too' },
        database: 2,
      },
      credentials: { username: undefined, password: 'hidden' },
      tls: { ca: OWN.cert, client: { cert: OWN.cert, key: OWN.key }, serverName: 'redis.internal' },
    });
  });

  it('takes a password with a comma and a colon for one server', () => {
    expect(redisOf({ REDIS_URL: 'redis://:a,b:c@127.0.0.1' })?.credentials?.password).toBe('a,b:c');
  });

  it.each<[string, string]>([
    ['https://cache.example', 'REDIS_URL must be an address such as'],
    ['valkey://127.0.0.1', 'REDIS_URL must be an address such as'],
    ['redis://a:hidden', 'REDIS_URL must be an address'],
    [`${REDIS_URL}/hidden`, 'REDIS_URL has a path that names no database'],
    [
      'redis://user:hidden%zz@127.0.0.1',
      'REDIS_URL has a user or password that is not percent-encoded',
    ],
    ['redis://127.0.0.1:1,127.0.0.1:2', 'has several servers: start it with redis+cluster://'],
    ['redis://127.0.0.1:1,redis://127.0.0.1:2', 'REDIS_URL must be an address such as'],
    ['redis+cluster://127.0.0.1:7000/1', 'names a database, of which a cluster has none'],
    [
      'redis+sentinel://127.0.0.1:26379',
      'REDIS_URL lacks the name under which the sentinels know the master',
    ],
    ['redis://127.0.0.1?sentinelPassword=hidden', 'REDIS_URL has a login of sentinels'],
    ['redis://127.0.0.1?db=hidden', 'REDIS_URL has a query'],
  ])('refuses %s, and quotes no secret', (url, problem) => {
    const problems = problemsOf({ ...KEYED, REDIS_URL: url });
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems.join()).not.toContain('hidden');
  });

  const CLUSTER = { REDIS_URL: 'redis+cluster://127.0.0.1:7000' };
  const TLS = { REDIS_URL: 'rediss://127.0.0.1' };
  it.each<[string, Record<string, string>, string]>([
    ['an authority without TLS', { ...CLUSTER, REDIS_TLS_CA_FILE }, 'must start with rediss where'],
    [
      'a certificate without its key',
      { ...TLS, REDIS_TLS_CERT_FILE },
      'REDIS_TLS_KEY_FILE is missing',
    ],
    [
      "another certificate's key",
      { ...TLS, REDIS_TLS_CERT_FILE, REDIS_TLS_KEY_FILE: files.write('other.key', OTHER.key) },
      'REDIS_TLS_CERT_FILE cannot be used: the certificate is of another key',
    ],
    [
      'an authority that is no certificate',
      { ...TLS, REDIS_TLS_CA_FILE: files.write('none.pem', 'hidden') },
      'REDIS_TLS_CA_FILE cannot be used: the CA file holds no certificate',
    ],
    [
      'settings that went',
      { ...CLUSTER, REDIS_PASSWORD: 'hidden', REDIS_TOPOLOGY: 'cluster' },
      'REDIS_PASSWORD went: REDIS_URL says it',
    ],
  ])('refuses %s', (_name, environment, problem) => {
    const problems = problemsOf({ ...KEYED, ...environment }).join();
    expect(problems).toContain(problem);
    expect(problems).not.toContain('hidden');
  });
});

describe('the files of a Redis, when they change', () => {
  const REDIS_URL_FILE = files.write('url', 'rediss://user:first@127.0.0.1');
  const settings = { REDIS_URL_FILE, REDIS_TLS_CA_FILE };
  const rereadWith = (path: string, text: string | undefined) => {
    const again = readConfig({ ...KEYED, ...settings }).sharedState?.redisFromFiles;
    return again?.read(new Map([...again.texts, [path, text]]));
  };

  it('may have another login and other authorities', () => {
    expect(rereadWith(REDIS_URL_FILE, 'rediss://user:second@127.0.0.1')).toMatchObject({
      kind: 'read',
      value: { credentials: { username: 'user', password: 'second' } },
    });
    expect(rereadWith(REDIS_TLS_CA_FILE, OTHER.cert)).toMatchObject({
      value: { tls: { ca: OTHER.cert } },
    });
  });

  it.each([
    ['gone', REDIS_URL_FILE, undefined, 'cannot be read'],
    ['empty', REDIS_URL_FILE, '', 'is empty'],
    ['no certificate', REDIS_TLS_CA_FILE, 'hidden', 'the CA file holds no certificate'],
    [
      'another Redis',
      REDIS_URL_FILE,
      'rediss://user:hidden@another.example',
      'names another Redis, which takes a restart',
    ],
  ])('are refused where one is %s', (_what, path, text, flaw) => {
    const reread = rereadWith(path, text);
    expect(reread).toMatchObject({ kind: 'flawed', flaw: expect.stringContaining(flaw) as string });
    expect(JSON.stringify(reread)).not.toContain('hidden');
  });
});
