import { KEEP, RECALL } from '../../src/lookups/redisFactCache.ts';
import {
  SharedStateLost,
  type PlainRedis,
  type ScriptValues,
} from '../../src/sharedState/redis.ts';
import { SharedRedis } from '../../src/sharedState/sharedRedis.ts';
import type { Clock } from '../../src/system/clock.ts';
import { silentLog } from '../support/silentLog.ts';
import type { TestClock } from '../support/testClock.ts';

/** A Redis that takes time to receive a command and to reply, and has a clock of its own. */
export class SlowRedis implements PlainRedis {
  commandMs = 0;
  /** How far its clock is ahead of the test's. */
  aheadMs = 5_000_000;
  readonly #time: TestClock;
  readonly #hashes = new Map<string, Map<string, string>>();

  constructor(time: TestClock) {
    this.#time = time;
  }

  /** The connection of a process with this clock. */
  sharedBy(clock: Clock): SharedRedis {
    return new SharedRedis(this, clock, silentLog);
  }

  async run(
    script: string,
    [key = '']: readonly string[],
    [firstMoment = 0, lastMoment = 0, ...values]: ScriptValues = [],
  ): Promise<unknown> {
    const { commandMs } = this;
    await this.#time.sleep(commandMs);
    const nowMs = this.#time.monotonicMs() + this.aheadMs;
    const now = nowMs.toFixed(3);
    const isTimely = nowMs >= Number(firstMoment) && nowMs <= Number(lastMoment);
    const reply = isTimely
      ? [now, 'done', this.#runNow(script, key, values.map(String), now)]
      : [now, 'untimely'];
    await this.#time.sleep(commandMs);
    return reply;
  }

  open(): Promise<void> {
    return Promise.resolve();
  }

  serverOf(): string {
    return 'slow';
  }

  onBack(): void {}

  close(): void {}

  #runNow(
    script: string,
    key: string,
    [name = '', end = '', sealed = '', , heard = '']: string[],
    now: string,
  ): unknown {
    const fields = this.#hashes.get(key) ?? new Map<string, string>();
    if (script.includes(KEEP)) {
      if (heard === 'unheard' && fields.has(name)) return 'done';
      this.#hashes.set(key, fields.set(name, `${end} ${sealed}`));
      return 'done';
    }
    if (!script.includes(RECALL)) throw new SharedStateLost();
    return [now, ...[...fields].flatMap(([field, kept]) => [field, kept.replace(/^\d+ /, '')])];
  }
}
