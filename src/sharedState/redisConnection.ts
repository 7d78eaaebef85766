import { createClient, type RedisClientType } from '@redis/client';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { COMMAND_TIMEOUT_MS, SharedStateLost } from './sharedStateLost.ts';

const PING_INTERVAL_MS = 1000;
/** A connection that says nothing for so long, pings included, is given up. */
const SILENCE_MS = 3000;
const MAX_RECONNECT_MS = 1000;

/** One connection to a Redis, made anew whenever it breaks. Commands are never queued for it. */
export class RedisConnection {
  /** For libraries that bring commands of their own; they fail at once while the connection is lost. */
  readonly client: RedisClientType;
  readonly #clock: Clock;
  #isClosed = false;
  #opening: Promise<void> | undefined;

  constructor(url: string, clock: Clock, log: Log) {
    this.#clock = clock;
    this.client = createClient({
      url,
      disableOfflineQueue: true,
      pingInterval: PING_INTERVAL_MS,
      socket: {
        connectTimeout: SILENCE_MS,
        socketTimeout: SILENCE_MS,
        reconnectStrategy: (tries) => Math.min(MAX_RECONNECT_MS, 50 * 2 ** Math.min(tries, 5)),
      },
    });
    let isLost = false;
    this.client.on('error', () => {
      if (!isLost) log.warn('the shared store is lost');
      isLost = true;
    });
    this.client.on('ready', () => {
      if (isLost) log.info('the shared store is back');
      isLost = false;
    });
  }

  /** Starts to connect, and goes on for as long as it takes; resolves when connected, or after a while. */
  open(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async #open(): Promise<void> {
    const connected = this.client.connect().then(
      () => undefined,
      () => undefined,
    );
    await this.#inTime(connected, COMMAND_TIMEOUT_MS).catch(() => undefined);
  }

  /**
   * Runs a script on the given keys.
   *
   * @param timeoutMs how long to wait for its reply
   * @throws {SharedStateLost} when it may or may not have run
   * @throws {OutOfMemory} when Redis has no room for what the script writes
   */
  async run(
    script: string,
    keys: readonly string[],
    values: readonly (string | number)[] = [],
    timeoutMs = COMMAND_TIMEOUT_MS,
  ): Promise<unknown> {
    const running = this.client.eval(script, { keys: [...keys], arguments: values.map(String) });
    try {
      return await this.#inTime(running, timeoutMs);
    } catch (error) {
      if (error instanceof Error && /\bOOM\b/.test(error.message)) throw new OutOfMemory();
      throw new SharedStateLost();
    }
  }

  close(): void {
    if (!this.#isClosed) this.client.destroy();
    this.#isClosed = true;
  }

  async #inTime<T>(running: Promise<T>, timeoutMs: number): Promise<T> {
    const over = new AbortController();
    const timeout = this.#clock.sleep(timeoutMs, over.signal).then(() => {
      throw new SharedStateLost();
    });
    try {
      return await Promise.race([running, timeout]);
    } finally {
      timeout.catch(() => undefined);
      over.abort();
    }
  }
}

/** Redis has no room left. */
export class OutOfMemory extends Error {
  override readonly name = 'OutOfMemory';
}
