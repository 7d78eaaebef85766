import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SharedCounts } from '../../src/caller/quotas/sharedCounts.ts';
import { ANONYMOUS_IDENTITY } from '../../src/domain/identity.ts';
import { RedisFactCache } from '../../src/lookups/redisFactCache.ts';
import { RedisConnector } from '../../src/sharedState/redisConnector.ts';
import { createRedis } from '../../src/sharedState/redisClient.ts';
import type { Redis, RedisCredentials, RedisTls } from '../../src/sharedState/redis.ts';
import { StateSeals } from '../../src/sharedState/stateSeals.ts';
import { systemClock } from '../../src/system/clock.ts';
import { RedisConsentStore } from '../../src/consents/redisConsentStore.ts';
import { RedisRefusals } from '../../src/consents/redisRefusals.ts';
import { RecordedLog } from '../support/recordedLog.ts';
import { command } from '../support/redisCommands.ts';
import { NO_REDIS, startRedis, type RedisServer } from '../support/redisServer.ts';
import { createCertificate } from '../tls/certificate.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { ALICE, changed, purposeNamed } from '../support/values.ts';
import { answers, until } from './until.ts';

/** The permissions of the service's user in docs/reliability.md. */
const RULES =
  'on resetkeys ~sim-swap:* nocommands +ping +eval +evalsha +info +role +asking +cluster|slots +time +hget +hmget +hset +hdel +hgetall +hexists +hincrby +del +pexpire +pexpireat +pttl';

let log = new RecordedLog();
const connections: Redis[] = [];

async function connect(
  port: number,
  access: { credentials?: RedisCredentials; tls?: RedisTls } = {},
  into = log,
): Promise<Redis> {
  const server = { host: '127.0.0.1', port };
  const topology = { kind: 'single', server, database: 0 } as const;
  const settings = { topology, credentials: access.credentials, tls: access.tls };
  const connection = createRedis(settings, systemClock, into);
  connections.push(connection);
  await connection.open();
  return connection;
}

afterEach(() => {
  log = new RecordedLog();
});
afterAll(() => {
  for (const connection of connections) connection.close();
});

describe.skipIf(NO_REDIS !== undefined)(`a Redis with users ${NO_REDIS ?? ''}`, () => {
  let redis: RedisServer;
  const password = randomBytes(12).toString('hex');
  beforeAll(async () => {
    redis = await startRedis();
    const rules = RULES.split(' ');
    await command(redis.port, ['ACL', 'SETUSER', 'sim-swap', `>${password}`, ...rules]);
    await command(redis.port, ['ACL', 'SETUSER', 'blind', `>${password}`, ...rules, '-info']);
    await command(redis.port, ['CONFIG', 'SET', 'requirepass', password]);
    return () => redis.kill();
  });

  it('needs no more than the permissions in docs/reliability.md, for everything that is kept there', async () => {
    const credentials = { username: 'sim-swap', password };
    const connection = await connect(redis.port, { credentials });
    const seals = new StateSeals([randomBytes(32)]);
    const settings = { seals, doubtMs: 1000 };
    const consents = new RedisConsentStore(connection, systemClock, settings);
    await consents.open();
    const { version } = await consents.read(ALICE);
    expect(await consents.write(ALICE, version, { ends: [] }, 1000)).not.toBe('conflict');
    const refusals = new RedisRefusals(connection, systemClock, { seals, operator: 'one' });
    await refusals.refuse(ALICE, 'check', 2, 1000);
    await refusals.answered('check');

    const facts = new RedisFactCache(connection, systemClock, {
      seals,
      keptFor: () => ({ keepMs: 60_000, resultMs: 0 }),
    });
    const callerKey = { caller: ANONYMOUS_IDENTITY, purpose: purposeNamed('fraud-prevention') };
    const leftAtMs = systemClock.monotonicMs();
    await facts.keep(callerKey, ALICE, { ...changed(30), leftAtMs });
    expect((await facts.recall(callerKey, ALICE, leftAtMs)).facts).toHaveLength(1);

    const counts = new SharedCounts(connection, seals, systemClock, log);
    const window = counts.windowOf('caller', 'anna');
    const claimed = await counts.claim(window, [{ count: 'numbers', limit: 9, member: 'a' }], 1000);
    await claimed.giveBack();
    await counts.claim(window, [{ count: 'numbers', limit: 9 }], 1000);
    // Another process counts on from there, so it was Redis that counted.
    const other = new SharedCounts(connection, seals, systemClock, log);
    expect((await other.read(window, ['numbers'], 1000)).counts).toEqual([1]);
    expect(log.lines).toEqual([]);
  });

  it.each([
    ['why it refuses another user', 'sim-swap', 'hidden', 'The shared store is lost.'],
    ['that its eviction policy cannot be read', 'blind', password, 'It is not known what'],
  ])('logs %s, without the password', async (_what, username, given, message) => {
    await connect(redis.port, { credentials: { username, password: given } });
    await until(() => log.lines.some((line) => line.message.includes(message)));
    expect(log.lines[0]).toMatchObject(
      username === 'blind' ? { maxmemoryPolicy: 'unknown' } : { reason: 'WRONGPASS' },
    );
    expect(JSON.stringify(log.lines)).not.toContain(given);
  });

  it.each([
    ['noeviction', false],
    ['volatile-ttl', true],
    ['allkeys-lru', true],
  ])('with maxmemory-policy %s is logged as forgetful: %s', async (policy, isWarned) => {
    await command(redis.port, ['CONFIG', 'SET', 'maxmemory-policy', policy], password);
    const credentials = { username: undefined, password };
    const connection = await connect(redis.port, { credentials });
    expect(await answers(connection)).toBe(true);
    if (isWarned) await until(() => log.lines[0]?.message.includes('may forget consents') === true);
    expect(log.lines.map((line) => line['maxmemoryPolicy'])).toEqual(isWarned ? [policy] : []);
  });
});

describe.skipIf(NO_REDIS !== undefined)(`a Redis behind TLS ${NO_REDIS ?? ''}`, () => {
  const server = createCertificate();
  const client = createCertificate();
  const stranger = createCertificate();
  const files = new TemporaryFiles();
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis(undefined, {
      'tls-auth-clients': 'yes',
      'tls-cert-file': files.write('server.pem', server.cert),
      'tls-key-file': files.write('server.key', server.key),
      'tls-ca-cert-file': files.write('clients.pem', client.cert),
    });
    return () => redis.kill();
  });

  const TLS: RedisTls = { ca: server.cert, client, serverName: undefined };

  it('is used with an authority and a client certificate of our own', async () => {
    const connection = await connect(redis.port, { tls: TLS });
    await until(() => answers(connection));
    expect(log.lines).toEqual([]);
  });

  const REFUSED: readonly [what: string, tls: RedisTls, reason: RegExp][] = [
    ['with an unknown authority', { ...TLS, ca: undefined }, /SELF_SIGNED/],
    ['with another name', { ...TLS, serverName: 'redis.example' }, /ALTNAME_INVALID/],
    ['that does not trust our certificate', { ...TLS, client: stranger }, /SSL|ECONNRESET|Socket/],
    ['that gets no certificate of ours', { ...TLS, client: undefined }, /SSL|ECONNRESET|Socket/],
  ];

  // At the same time: each waits for a second.
  describe('is not used', { concurrent: true }, () => {
    it.each(REFUSED)('%s', async (_which, tls, reason) => {
      const own = new RecordedLog();
      const connection = await connect(redis.port, { tls }, own);
      await until(() => own.lines.some(({ message }) => message === 'The shared store is lost.'));
      expect(own.lines[0]?.['reason']).toMatch(reason);
      expect(await answers(connection)).toBe(false);
    });
  });

  it('survives a second error of a connection, which TLS raises at times', async () => {
    const stream = await new RedisConnector({ host: '127.0.0.1', port: redis.port }).connect();
    try {
      const [first, second] = [new Error('the first'), new Error('the second')];
      stream.emit('error', first);
      expect(() => stream.emit('error', second)).not.toThrow();
    } finally {
      stream.destroy();
    }
  });
});
