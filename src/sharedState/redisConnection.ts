import { createClient, ErrorReply } from '@redis/client';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { evictionPolicyOf } from './evictionPolicy.ts';
import type { Redis } from './redis.ts';
import {
  textOf,
  type RedisAddress,
  type RedisCredentials,
  type RedisTls,
} from './redisSettings.ts';
import { COMMAND_TIMEOUT_MS, SharedStateLost } from './sharedStateLost.ts';
import { inTime } from './timeLimit.ts';

const PING_INTERVAL_MS = 1000;
/** A connection that says nothing for so long, pings included, is given up. */
const SILENCE_MS = 3000;
const MAX_RECONNECT_MS = 1000;

/** One server, and what it takes to be let in. */
export interface RedisServerSettings {
  readonly server: RedisAddress;
  readonly database?: number;
  readonly credentials: RedisCredentials | undefined;
  readonly tls: RedisTls | undefined;
  /** Holds data (the default), watches over those that do, or is asked only which those are. */
  readonly duty?: keyof typeof NAMES;
}

/** What logs call a server. */
const NAMES = {
  data: 'the shared store',
  sentinel: 'a sentinel of the shared store',
  map: 'a server of the shared store',
} as const;

/** One connection to one server, made anew whenever it breaks. Commands are never queued for it. */
export class RedisConnection implements Redis {
  readonly #client: ReturnType<typeof clientOf>;
  readonly #settings: RedisServerSettings;
  readonly #clock: Clock;
  readonly #log: Log;
  #isClosed = false;
  #isLost = false;
  #opening: Promise<void> | undefined;
  readonly #backListeners: (() => void)[] = [];
  /** What the log was told last. */
  #evictionPolicy: string | undefined;

  constructor(settings: RedisServerSettings, clock: Clock, log: Log) {
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
    this.#client = clientOf(settings);
    // A client that is closed leaves a connection that is being made to its time limit. It must not keep the process;
    // who waits for a reply has a timer for it.
    this.#client.unref();
    this.#client.on('error', (error: unknown) => this.#onError(error));
    this.#client.on('ready', () => this.#onReady());
  }

  get isReady(): boolean {
    return this.#client.isReady;
  }

  open(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async run(
    script: string,
    keys: readonly string[],
    values: readonly (string | number)[] = [],
    timeoutMs = COMMAND_TIMEOUT_MS,
  ): Promise<unknown> {
    try {
      return await this.send(evalCommand(script, keys, values), timeoutMs);
    } catch (error) {
      throw asOutcome(error);
    }
  }

  serverOf(): string {
    return textOf(this.#settings.server);
  }

  /**
   * Sends one command, or several that nothing comes between, and tells what the last replied.
   *
   * @throws {ErrorReply} when the server refuses it
   * @throws {SharedStateLost} when it may or may not have been done
   */
  async send(
    command: readonly string[],
    timeoutMs: number,
    before: readonly string[] = [],
  ): Promise<unknown> {
    const first = before.length === 0 ? undefined : this.#client.sendCommand([...before]);
    first?.catch(() => undefined);
    const running = this.#client.sendCommand([...command]);
    try {
      return await inTime(this.#clock, running, timeoutMs);
    } catch (error) {
      throw error instanceof ErrorReply ? error : new SharedStateLost();
    }
  }

  onBack(listener: () => void): void {
    this.#backListeners.push(listener);
  }

  close(): void {
    if (!this.#isClosed) this.#client.destroy();
    this.#isClosed = true;
  }

  async #open(): Promise<void> {
    const connected = this.#client.connect().then(
      () => undefined,
      () => undefined,
    );
    await inTime(this.#clock, connected, COMMAND_TIMEOUT_MS).catch(() => undefined);
  }

  #onError(error: unknown): void {
    const { duty = 'data' } = this.#settings;
    if (!this.#isLost && duty !== 'map') {
      this.#log.warn(`${NAMES[duty]} is lost`, { host: this.serverOf(), reason: reasonOf(error) });
    }
    this.#isLost = true;
  }

  #onReady(): void {
    const { duty = 'data' } = this.#settings;
    if (this.#isLost && duty !== 'map')
      this.#log.info(`${NAMES[duty]} is back`, { host: this.serverOf() });
    const wasLost = this.#isLost;
    this.#isLost = false;
    if (wasLost) for (const listener of this.#backListeners) listener();
    if (duty === 'data') void this.#lookAtEviction();
  }

  /** A server that forgets what it was not told to forget loses consents, and nothing notices. */
  async #lookAtEviction(): Promise<void> {
    let policy: string;
    try {
      const info = await this.send(['INFO', 'memory'], COMMAND_TIMEOUT_MS);
      policy = evictionPolicyOf(info) ?? 'unknown';
    } catch (error) {
      if (!(error instanceof ErrorReply)) return;
      policy = 'unknown';
    }
    if (policy === this.#evictionPolicy) return;
    this.#evictionPolicy = policy;
    const details = { host: this.serverOf(), maxmemoryPolicy: policy };
    switch (policy) {
      case 'noeviction':
        return;
      case 'unknown':
        this.#log.warn(
          'it is not known what the shared store does when its memory is full: its user may not ask (INFO); see to it that maxmemory-policy is noeviction',
          details,
        );
        return;
      default:
        this.#log.warn(
          'the shared store may forget consents when its memory is full: set its maxmemory-policy to noeviction',
          details,
        );
    }
  }
}

/** Redis has no room left. */
export class OutOfMemory extends Error {
  override readonly name = 'OutOfMemory';
}

/** The command that runs a script. */
export function evalCommand(
  script: string,
  keys: readonly string[],
  values: readonly (string | number)[],
): readonly string[] {
  return ['EVAL', script, String(keys.length), ...keys, ...values.map(String)];
}

/** What an error means to what needed the script. */
export function asOutcome(error: unknown): OutOfMemory | SharedStateLost {
  return error instanceof ErrorReply && /\bOOM\b/.test(error.message)
    ? new OutOfMemory()
    : new SharedStateLost();
}

function clientOf({ server, database = 0, credentials, tls }: RedisServerSettings) {
  const socket = {
    ...server,
    connectTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
    reconnectStrategy: (tries: number) => Math.min(MAX_RECONNECT_MS, 50 * 2 ** Math.min(tries, 5)),
  };
  return createClient({
    RESP: 2,
    database,
    disableOfflineQueue: true,
    pingInterval: PING_INTERVAL_MS,
    ...(credentials?.username === undefined ? {} : { username: credentials.username }),
    ...(credentials === undefined ? {} : { password: credentials.password }),
    socket: tls === undefined ? socket : { ...socket, tls: true, ...tlsOptions(tls) },
  });
}

function tlsOptions({ ca, client, serverName }: RedisTls) {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...client,
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
}

/** One word that says why, such as WRONGPASS or ECONNREFUSED. */
function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return /^[A-Z][A-Z_]{2,40}\b/.exec(error.message)?.[0] ?? error.name;
}
