import { KEEP, NOW_MS, RECALL } from '../../src/lookups/redisFactCacheScripts.ts';
import { SharedStateLost } from '../../src/sharedState/sharedStateLost.ts';
import type { TestClock } from '../testClock.ts';

/** A Redis that takes its time to take a command and to reply, and has a clock of its own. */
export class SlowRedis {
  commandMs = 0;
  readonly #time: TestClock;
  readonly #hashes = new Map<string, Map<string, string>>();

  constructor(time: TestClock) {
    this.#time = time;
  }

  async run(
    script: string,
    [key = '']: readonly string[],
    values: readonly (string | number)[] = [],
  ): Promise<unknown> {
    const { commandMs } = this;
    await this.#time.sleep(commandMs);
    const reply = this.#runNow(script, key, values.map(String));
    await this.#time.sleep(commandMs);
    return reply;
  }

  #runNow(
    script: string,
    key: string,
    [name = '', end = '', sealed = '', , heard = '']: string[],
  ): unknown {
    const now = `${this.#time.monotonicMs() + 5_000_000}.000`;
    const fields = this.#hashes.get(key) ?? new Map<string, string>();
    switch (script) {
      case NOW_MS:
        return now;
      case KEEP:
        if (heard === 'unheard' && fields.has(name)) return 'done';
        this.#hashes.set(key, fields.set(name, `${end} ${sealed}`));
        return 'done';
      case RECALL:
        return [now, ...[...fields].flatMap(([field, kept]) => [field, kept.replace(/^\d+ /, '')])];
      default:
        throw new SharedStateLost();
    }
  }
}
