import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { READ, REMOVE, WRITE } from '../../src/consents/redisScripts.ts';
import { KEEP, RECALL } from '../../src/lookups/redisFactCacheScripts.ts';
import { RedisProxy, type SeenCommand } from '../redisProxy.ts';
import { freshStateKey, NO_REDIS, startRedis } from '../redisServer.ts';
import { startService } from '../service.ts';
import { grant, pend, WiredOperator } from '../wiredOperator.ts';

/** What is sent about a number; quotas, and what an operator refuses, are not. */
const SCRIPTS = { READ, WRITE, REMOVE, KEEP, RECALL };

/** Counts scripts on their way to a Redis. Until it knows one it is sent by its text as well. */
class ScriptCounter {
  readonly #names = new Map<string, string>();
  #counts: Record<string, number> = {};

  note({ words: [command = '', script = ''] }: SeenCommand): void {
    const isText = command.toUpperCase() === 'EVAL';
    const hash = isText ? createHash('sha1').update(script).digest('hex') : script;
    const known = Object.entries(SCRIPTS).find(([, text]) => isText && script.includes(text));
    if (known !== undefined) this.#names.set(hash, known[0]);
    const name = this.#names.get(hash);
    if (name !== undefined) this.#counts[name] = (this.#counts[name] ?? 0) + 1;
  }

  of(script: keyof typeof SCRIPTS): number {
    return this.#counts[script] ?? 0;
  }

  /** The counts since the last time. */
  take(): Record<string, number> {
    const counted = this.#counts;
    this.#counts = {};
    return counted;
  }
}

test.skipIf(NO_REDIS !== undefined)(
  `a prompt, two polls, an answer, and the same answer again take as few commands as they can ${NO_REDIS ?? ''}`,
  async () => {
    const redis = await startRedis();
    const proxy = await RedisProxy.before(redis.port);
    const counter = new ScriptCounter();
    proxy.cutsAfter = (command) => {
      counter.note(command);
      return false;
    };
    let polls = 0;
    try {
      await using operator = await WiredOperator.start({
        token: (received, response) => {
          polls += 1;
          (polls === 1 ? pend : grant)(received, response);
        },
      });
      await using service = await startService(operator.url, {
        OPERATOR_FLOW: '3-legged',
        CONSENT_WAIT_MS: '5000',
        REDIS_URL: proxy.url,
        STATE_KEY: freshStateKey(),
      });
      counter.take();
      const answer = async () => {
        const query = '{ phoneNumber(e164: "+447700900500") { simSwappedWithin } }';
        return (await service.ask(query)).body;
      };

      const swappedNever = { data: { phoneNumber: { simSwappedWithin: false } } };
      expect(await answer()).toEqual(swappedNever);
      expect(polls).toBe(2);
      // The fact is kept again when its caller has heard it.
      await expect.poll(() => counter.of('KEEP')).toBe(2);
      expect(counter.take()).toEqual({ READ: 1, WRITE: 7, RECALL: 2, KEEP: 2 });
      expect(await answer()).toEqual(swappedNever);
      expect(counter.take()).toEqual({ RECALL: 1 });
      expect(operator.count('lookups')).toBe(1);
    } finally {
      await proxy.close();
      await redis.kill();
    }
  },
);
