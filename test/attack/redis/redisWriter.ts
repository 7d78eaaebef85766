import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import { clientTo } from '../../redisCommands.ts';
import { answerText, type WiredOperator } from '../../wiredOperator.ts';
import { SECRET_MARK, type Stage } from '../stage.ts';
import { answerIn, number, within } from '../values.ts';

const KEPT_SECONDS = 10;
const SWAPPED = number(2);
const UNSWAPPED = number(1);

/** One who can write to the Redis, and has not STATE_KEY. */
export const redisWriter: Attack = {
  name: 'redis-writer',
  tries: 'to make an old answer live on, to move one to another number, to read numbers, in Redis',
  holds:
    'no answer older than the setting, none about another number, no number in what lies there',
  needsRedis: true,
  async run(stage) {
    const { redis, settings } = await stage.redis();
    const { operator, target, token } = await stage.callers({
      ...settings,
      OPERATOR_FLOW: '3-legged',
      CONSENT_RESULT_SECONDS: String(KEPT_SECONDS),
      KEEP_FACTS_SECONDS: String(KEPT_SECONDS),
      CONSENT_WAIT_MS: '3000',
    });
    const ask = (e164: string) => target.ask(within(e164), { token });
    const client = clientTo(redis.port);
    stage.onEnd(async () => client.disconnect());

    stage.equals('before', answerIn(await ask(UNSWAPPED)), false);
    // What is kept is kept after it was returned.
    await sleep(300);
    const saved = await savedBy(client);
    answerSwapped(operator);
    stage.equals('the other line', answerIn(await ask(SWAPPED)), true);
    judgeContent(stage, await savedBy(client));

    // As if all that is known of the one line were known of the other.
    const others = (await savedBy(client)).filter(
      ({ key }) => !saved.some((one) => one.key === key),
    );
    for (const { key } of others) {
      for (const { bytes } of saved) {
        await restore(client, key, bytes);
        const moved = answerIn(await ask(SWAPPED));
        if (moved === false) stage.equals('moved to another number', moved, true);
      }
    }

    // Whatever was there is there again, and for ever.
    await sleep((KEPT_SECONDS + 1.5) * 1000);
    await client.flushall();
    for (const { key, bytes } of saved) await restore(client, key, bytes);
    await putOff(client);
    const lookups = operator.count('lookups');
    const old = answerIn(await ask(UNSWAPPED));
    const isOwn = operator.count('lookups') > lookups;
    stage.holds('an answer that is too old', old !== false || isOwn, isOwn ? 'asked anew' : old);

    target.end = 'in time';
    for (const spoil of [spoiltByText, spoiltByLists]) {
      await spoil(client);
      const { status, data, codes } = await ask(UNSWAPPED);
      stage.holds(`${spoil.name}: status`, status > 0 && status < 500, status);
      stage.holds(`${spoil.name}: no false`, answerIn({ data, codes }) !== false, codes);
    }
  },
};

function answerSwapped(operator: WiredOperator): void {
  operator.script = {
    lookUp: (received, response) => answerText(received, response, '{"swapped":true}'),
  };
}

interface Saved {
  readonly key: string;
  readonly bytes: Buffer;
}

type Client = ReturnType<typeof clientTo>;

async function savedBy(client: Client): Promise<readonly Saved[]> {
  const saved: Saved[] = [];
  for (const key of await numberKeys(client)) {
    saved.push({ key, bytes: await client.dumpBuffer(key) });
  }
  return saved;
}

/** All but the memories of buckets, of which each server has hundreds, that no number lies in. */
async function numberKeys(client: Client): Promise<readonly string[]> {
  const keys = await client.keys('*');
  const inUse = new Set(keys.filter((key) => !key.includes(':memory-')).map(bucketOf));
  return keys.filter((key) => inUse.has(bucketOf(key)));
}

async function restore(client: Client, key: string, bytes: Buffer): Promise<void> {
  await client.restore(key, 0, bytes, 'REPLACE');
}

/** Moves every end that can be read into a far future. */
async function putOff(client: Client): Promise<void> {
  for (const key of await client.keys('*')) {
    if ((await client.type(key)) !== 'hash') continue;
    for (const [field, value] of Object.entries(await client.hgetall(key))) {
      await client.hset(key, field, value.replaceAll(/\b\d{13}\b/g, '9999999999999'));
    }
  }
}

function judgeContent(stage: Stage, saved: readonly Saved[]): void {
  const text = saved.map(({ key, bytes }) => `${key} ${bytes.toString('latin1')}`).join('\n');
  stage.holds('what lies in Redis', saved.length > 0, `${saved.length} keys`);
  stage.holds('a number in Redis', !/7700900\d{3}/.test(text), 'none');
  stage.holds('a secret in Redis', !text.includes(SECRET_MARK), 'none');
}

async function spoiltByText(client: Client): Promise<void> {
  for (const key of await client.keys('*')) await client.set(key, 'rubbish');
}

async function spoiltByLists(client: Client): Promise<void> {
  for (const key of await client.keys('*')) {
    await client.del(key);
    await client.lpush(key, 'a', 'list');
  }
}

function bucketOf(key: string): string | undefined {
  return /\{\d+\}/.exec(key)?.[0];
}
