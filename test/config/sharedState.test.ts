import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { createCertificate } from '../tls/certificate.ts';
import { REDIS_URL } from './problems.ts';

const BYTES = Buffer.alloc(32, 7);
const KEYED = { STATE_KEY: BYTES.toString('hex') };
const OWN = createCertificate();
const OTHER = createCertificate();
const files = new TemporaryFiles();
const REDIS_TLS_CA_FILE = files.write('ca.pem', OWN.cert);
const REDIS_TLS_CERT_FILE = files.write('own.pem', OWN.cert);
const REDIS_TLS_KEY_FILE = files.write('own.key', OWN.key);

const serverAt = (host: string, port: number) => ({ host, port });

function redisOf(environment: Record<string, string>) {
  return readConfig({ ...KEYED, ...environment }).sharedState?.redis;
}

it.each(['base64', 'base64url', 'hex'] as const)('STATE_KEY may be in %s', (encoding) => {
  const { sharedState } = readConfig({ REDIS_URL, STATE_KEY: BYTES.toString(encoding) });
  expect(Buffer.from(sharedState?.stateKeys[0] ?? [])).toEqual(BYTES);
});

describe('REDIS_URL says how Redis is run', () => {
  it('is not set where consents are kept in the process', () => {
    expect(readConfig({}).sharedState).toBeUndefined();
  });

  it.each([
    ['', 0],
    ['/', 0],
    ['/0', 0],
    ['/15', 15],
  ])('names one server, and a database in its path: %j', (path, database) => {
    expect(redisOf({ REDIS_URL: `${REDIS_URL}${path}` })).toEqual({
      topology: { kind: 'single', server: { host: '127.0.0.1', port: 6379 }, database },
      credentials: { username: 'user', password: 'hidden' },
      tls: undefined,
    });
  });

  it('names some servers of a cluster, and one user for all', () => {
    const address = 'redis+cluster://sim-swap:h%40dden@a.example,b.example:7000,[::1]:7001';
    const [a, b] = [serverAt('a.example', 6379), serverAt('b.example', 7000)];
    expect(redisOf({ REDIS_URL: address })).toEqual({
      topology: { kind: 'cluster', servers: [a, b, serverAt('::1', 7001)] },
      credentials: { username: 'sim-swap', password: 'h@dden' },
      tls: undefined,
    });
  });

  it('names sentinels, which may have their own login', () => {
    const address =
      'rediss+sentinel://:hidden@a.example,b.example:7000/mymaster/2?sentinelPassword=hidden+too&serverName=redis.internal';
    const tls = { REDIS_TLS_CA_FILE, REDIS_TLS_CERT_FILE, REDIS_TLS_KEY_FILE };
    expect(redisOf({ REDIS_URL: address, ...tls })).toEqual({
      topology: {
        kind: 'sentinel',
        sentinels: [serverAt('a.example', 26_379), serverAt('b.example', 7000)],
        masterName: 'mymaster',
        sentinelCredentials: { username: undefined, password: 'hidden too' },
        database: 2,
      },
      credentials: { username: undefined, password: 'hidden' },
      tls: { ca: OWN.cert, client: { cert: OWN.cert, key: OWN.key }, serverName: 'redis.internal' },
    });
  });

  it('may have a password with a comma and a colon', () => {
    expect(redisOf({ REDIS_URL: 'redis://:a,b:c@127.0.0.1' })?.credentials?.password).toBe('a,b:c');
  });
});

describe('the files of a Redis, when they change', () => {
  const REDIS_URL_FILE = files.write('url', 'rediss://user:first@127.0.0.1');
  const settings = { REDIS_URL_FILE, REDIS_TLS_CA_FILE };
  const rereadWith = (path: string, text: string | undefined) => {
    const again = readConfig({ ...KEYED, ...settings }).sharedState?.redisFromFiles;
    return again?.read(new Map([...again.texts, [path, text]]));
  };

  it('may have another login and other authorities', async () => {
    expect(await rereadWith(REDIS_URL_FILE, 'rediss://user:second@127.0.0.1')).toMatchObject({
      kind: 'read',
      value: { credentials: { username: 'user', password: 'second' } },
    });
    expect(await rereadWith(REDIS_TLS_CA_FILE, OTHER.cert)).toMatchObject({
      value: { tls: { ca: OTHER.cert } },
    });
  });

  it.each([
    ['missing', REDIS_URL_FILE, undefined, 'cannot be read'],
    ['empty', REDIS_URL_FILE, '', 'is empty'],
    ['not a certificate', REDIS_TLS_CA_FILE, 'hidden', 'the CA file holds no certificate'],
    [
      'another Redis',
      REDIS_URL_FILE,
      'rediss://user:hidden@another.example',
      'names another Redis, which takes a restart',
    ],
  ])('are refused where one is %s', async (_what, path, text, flaw) => {
    const reread = await rereadWith(path, text);
    expect(reread).toMatchObject({ kind: 'flawed', flaw: expect.stringContaining(flaw) as string });
    expect(JSON.stringify(reread)).not.toContain('hidden');
  });
});
