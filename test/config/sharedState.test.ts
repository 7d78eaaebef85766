import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/environment.ts';
import { readConfig } from '../../src/config.ts';

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
    expect(Buffer.from(sharedState?.stateKey ?? [])).toEqual(BYTES);
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
