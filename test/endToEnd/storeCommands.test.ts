import { createHash } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { READ, REMOVE, WRITE } from '../../src/consents/redisScripts.ts';
import { KEEP, RECALL } from '../../src/lookups/redisFactCache.ts';
import { RedisProxy, type SeenCommand } from '../support/redisProxy.ts';
import { freshStateKey, NO_REDIS, startRedis } from '../support/redisServer.ts';
import { startWired } from '../support/service.ts';
import { grant, pend } from '../support/wiredOperator.ts';

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

  get counts(): Readonly<Record<string, number>> {
    return this.#counts;
  }

  reset(): void {
    this.#counts = {};
  }
}

test.skipIf(NO_REDIS !== undefined)(
  `a prompt, two polls, an answer, and the same answer again take as few commands as they can ${NO_REDIS ?? ''}`,
  // A process that is held up for a quarter of a second reads once more.
  { retry: 2 },
  async () => {
    const redis = await startRedis();
    const proxy = await RedisProxy.before(redis.port);
    onTestFinished(async () => {
      await proxy.close();
      await redis.kill();
    });
    const counter = new ScriptCounter();
    proxy.cutsAfter = (command) => {
      counter.note(command);
      return false;
    };
    let polls = 0;
    await using service = await startWired(
      {
        token: (received, response) => {
          polls += 1;
          (polls === 1 ? pend : grant)(received, response);
        },
      },
      {
        OPERATOR_FLOW: '3-legged',
        CONSENT_WAIT_MS: '5000',
        REDIS_URL: proxy.url,
        STATE_KEY: freshStateKey(),
      },
    );
    counter.reset();
    const answer = async () => {
      const query = '{ phoneNumber(e164: "+447700900500") { simSwappedWithin } }';
      return (await service.ask(query)).body;
    };

    const swappedNever = { data: { phoneNumber: { simSwappedWithin: false } } };
    expect(await answer()).toEqual(swappedNever);
    expect(polls).toBe(2);
    // The fact is kept again once its caller has it.
    const all = { READ: 1, WRITE: 8, RECALL: 1, KEEP: 2 };
    await expect.poll(() => counter.counts).toEqual(all);
    expect(await answer()).toEqual(swappedNever);
    expect(counter.counts).toEqual({ ...all, RECALL: 2 });
    expect(service.operator.count('lookups')).toBe(1);
  },
);
