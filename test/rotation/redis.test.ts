import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/system/clock.ts';
import { command } from '../support/redisCommands.ts';
import { freshStateKey, NO_REDIS, startRedis, type RedisServer } from '../support/redisServer.ts';
import { startServiceWith } from '../support/service.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { answerNever, grant, pend, WiredOperator } from '../support/wiredOperator.ts';

const WITHIN = '{ phoneNumber(e164: "+447700900001") { simSwappedWithin } }';

/** Reads files a hundred times as often. */
const readingOften: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms === 5000 || ms === 500 ? ms / 100 : ms, signal),
};

describe.skipIf(NO_REDIS !== undefined)(`the password of a Redis ${NO_REDIS ?? ''}`, () => {
  const files = new TemporaryFiles();
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
    return () => redis.kill();
  });

  it('is read again from its file, and a consent under way continues with one prompt', async () => {
    const allow = (user: string) =>
      command(redis.port, ['ACL', 'SETUSER', user, 'on', `>of-${user}`, '~*', '+@all']);
    const urlOf = (user: string) => `redis://${user}:of-${user}@127.0.0.1:${redis.port}`;
    await allow('first');
    await using operator = await WiredOperator.start({ token: pend });
    await using service = await startServiceWith(
      {
        ...operator.settings,
        PORT: '0',
        OPERATOR_FLOW: '3-legged',
        CONSENT_WAIT_MS: '0',
        REDIS_URL_FILE: files.write('url', urlOf('first')),
        STATE_KEY: freshStateKey(),
      },
      { clock: readingOften },
    );
    const ask = async () => {
      const { codes, data } = await service.ask(WITHIN);
      return codes[0] ?? data.phoneNumber.simSwappedWithin;
    };
    expect(await ask()).toBe('CONSENT_PENDING');
    // Redis does not know it yet: existing connections continue.
    files.write('url', urlOf('second'));
    const isRead = () => service.logged.some((line) => line.includes('were read again'));
    await expect.poll(isRead, { timeout: 15_000 }).toBe(true);
    expect(await ask()).toBe('CONSENT_PENDING');
    await allow('second');
    const users = async () => String(await command(redis.port, ['CLIENT', 'LIST']));
    await expect.poll(users, { timeout: 15_000 }).toContain('user=second');
    await expect.poll(users, { timeout: 15_000 }).not.toContain('user=first');
    await command(redis.port, ['ACL', 'DELUSER', 'first']);
    operator.script = { token: grant, lookUp: answerNever };
    await expect.poll(ask, { timeout: 15_000 }).toBe(false);
    expect(operator.prompts).toHaveLength(1);
    expect(service.logged.join()).not.toMatch(/of-(?:first|second)/);
  });
});
