import type { Clock } from '../system/clock.ts';
import type { Redis } from './redis.ts';
import type { RedisSettings } from './redisSettings.ts';
import { COMMAND_TIMEOUT_MS } from './sharedStateLost.ts';

/** How often connections are tried that the server does not take yet. */
const TRY_AGAIN_MS = 1000;

/** A Redis to which connections are made again when its certificates or its password change. */
export class RenewableRedis implements Redis {
  readonly #make: (settings: RedisSettings) => Redis;
  readonly #clock: Clock;
  readonly #backListeners: (() => void)[] = [];
  readonly #closing = new AbortController();
  #current: Redis;
  /** To take its place. */
  #next: Redis | undefined;

  constructor(make: (settings: RedisSettings) => Redis, settings: RedisSettings, clock: Clock) {
    this.#make = make;
    this.#clock = clock;
    this.#current = make(settings);
  }

  open(): Promise<void> {
    return this.#current.open();
  }

  run(...script: Parameters<Redis['run']>): Promise<unknown> {
    return this.#current.run(...script);
  }

  serverOf(key: string): string {
    return this.#current.serverOf(key);
  }

  onBack(listener: () => void): void {
    this.#backListeners.push(listener);
    this.#current.onBack(listener);
  }

  close(): void {
    this.#closing.abort();
    this.#next?.close();
    this.#current.close();
  }

  /** The connections that there are go on until others are taken: nothing is lost in between. Never rejects. */
  async renew(settings: RedisSettings): Promise<void> {
    const next = this.#make(settings);
    this.#next?.close();
    this.#next = next;
    await next.open();
    const isTaken = await this.#isTaken(next);
    if (!isTaken) return;
    const before = this.#current;
    this.#current = next;
    this.#next = undefined;
    for (const listener of this.#backListeners) next.onBack(listener);
    // What was sent over the former connections has its reply by then, or is lost.
    await this.#clock.sleep(COMMAND_TIMEOUT_MS, this.#closing.signal).catch(() => undefined);
    before.close();
  }

  /** Waits until it answers; `false` when others are to be made, or none. */
  async #isTaken(next: Redis): Promise<boolean> {
    while (this.#next === next && !this.#closing.signal.aborted) {
      try {
        await next.run('return 1', ['sim-swap:ready']);
        return this.#next === next;
      } catch {
        await this.#clock.sleep(TRY_AGAIN_MS, this.#closing.signal).catch(() => undefined);
      }
    }
    return false;
  }
}
