import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions as TlsOptions } from 'node:tls';
import { AbstractConnector } from 'ioredis';
import { withinTime, type Clock } from '../system/clock.ts';
import {
  SharedStateLost,
  type RedisAddress,
  type RedisCredentials,
  type RedisTls,
} from './redis.ts';

const CONNECT_TIMEOUT_MS = 2500;
const MIN_RECONNECT_MS = 50;
const MAX_RECONNECT_MS = 1000;

/** More than any reply to our scripts, or a map of a cluster, has. */
const MAX_REPLY_BYTES = 8 * 2 ** 20;
/** A reply that takes longer counts as endless, even if bytes keep arriving. */
const MAX_REPLY_MS = 3000;
/** Longer than any line of a reply that ends. */
const MAX_LINE_BYTES = 64 * 1024;

const SILENCE_MS = 2500;
const LOOK_EVERY_MS = 250;

interface ConnectorOptions extends RedisAddress {
  readonly tls?: TlsOptions;
}

/** Makes connections whose replies are limited in bytes and in time, and which end at once. */
export class RedisConnector extends AbstractConnector {
  readonly #options: ConnectorOptions;

  constructor(options: unknown) {
    super(0);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library passes on what it was given
    this.#options = options as ConnectorOptions;
  }

  override async connect(): Promise<Socket> {
    this.connecting = true;
    const { host, port } = await this.address();
    if (!this.connecting) throw new Error('Connection is closed.');
    const { tls } = this.#options;
    const socket =
      tls === undefined ? connectTcp({ host, port }) : connectTls({ host, port, ...tls });
    // Each command has a timer of its own.
    socket.unref();
    // TLS may raise a second one, which has no listener by then: it would end the process.
    socket.on('error', (error) => {
      this.firstError ??= error;
    });
    const bound = new ReplyBound();
    socket.on('data', (chunk) => {
      // Text arrives only where an encoding is set.
      if (typeof chunk === 'string' || !bound.admits(chunk))
        socket.destroy(badReply('ENDLESS_REPLY'));
    });
    endInSilence(socket);
    this.stream = socket;
    return socket;
  }

  override disconnect(): void {
    this.connecting = false;
    this.stream?.destroy();
  }

  protected address(): Promise<RedisAddress> {
    return Promise.resolve(this.#options);
  }
}

const LF = 10;

/** A line of RESP 2. The library might read anything else as another reply, such as an endless one. */
const LINE = /^(?:[$*](?<count>-1|\d{1,10})|[+:-][^\r\n]*)\r\n$/;

/** Follows replies (RESP 2) to detect an endless one: the library buffers each until it is complete. */
class ReplyBound {
  /** Values of the reply under way that are still to come. */
  #open = 0;
  /** Bytes of a text that are still to come, including its end. */
  #left = 0;
  #replyBytes = 0;
  #beganAtMs = 0;
  #line = '';

  /** `false` when the reply is longer than any of ours, takes longer, or is malformed. */
  admits(chunk: Buffer): boolean {
    const nowMs = performance.now();
    if (this.#replyBytes === 0) this.#beganAtMs = nowMs;
    let at = 0;
    while (at < chunk.length) {
      const from = at;
      if (this.#left > 0) {
        at = Math.min(chunk.length, at + this.#left);
        this.#left -= at - from;
      } else {
        const end = chunk.indexOf(LF, at);
        at = end < 0 ? chunk.length : end + 1;
        this.#line += chunk.toString('latin1', from, at);
        if (this.#line.length > MAX_LINE_BYTES) return false;
        if (end >= 0) {
          if (!this.#begin(this.#line)) return false;
          this.#line = '';
        }
      }
      this.#replyBytes += at - from;
      if (this.#replyBytes + this.#left > MAX_REPLY_BYTES) return false;
      if (this.#left > 0 || this.#open > 0 || this.#line !== '') continue;
      this.#replyBytes = 0;
      this.#beganAtMs = nowMs;
    }
    return nowMs - this.#beganAtMs <= MAX_REPLY_MS;
  }

  /** A value begins, or is complete with this line; `false` where it is not a line. */
  #begin(line: string): boolean {
    const found = LINE.exec(line);
    if (found === null) return false;
    if (this.#open > 0) this.#open -= 1;
    const count = Number(found.groups?.['count'] ?? 0);
    if (line.startsWith('$')) this.#left = count < 0 ? 0 : count + 2;
    else if (line.startsWith('*')) this.#open += Math.max(0, count);
    return true;
  }
}

/**
 * Ends a connection on which a reply is missing, even while commands are written to it. The library's own time limit
 * (`socketTimeout`) also ends one whose replies wait for a process that was suspended.
 */
function endInSilence(socket: Socket): void {
  let answeredBytes = 0;
  let receivedAtMs = performance.now();
  socket.on('data', () => {
    answeredBytes = socket.bytesWritten;
    receivedAtMs = performance.now();
  });
  const look = (): void => {
    if (socket.bytesWritten === answeredBytes) receivedAtMs = performance.now();
    else if (performance.now() - receivedAtMs > SILENCE_MS) socket.destroy(badReply('NO_REPLY'));
  };
  // Sockets are read before `look` runs, even where the timer is late.
  const looking = setInterval(() => setImmediate(look), LOOK_EVERY_MS).unref();
  socket.once('close', () => clearInterval(looking));
}

function badReply(code: 'ENDLESS_REPLY' | 'NO_REPLY'): Error {
  return Object.assign(new Error('A reply of Redis has no end, or does not arrive.'), { code });
}

export type ClientOptions = ReturnType<typeof clientOptions>;

/** The library queues no command, and a connection that comes back repeats none. */
export function clientOptions(
  credentials: RedisCredentials | undefined,
  tls: RedisTls | undefined,
) {
  return {
    // ReplyBound reads this version of the protocol.
    protocol: 2,
    lazyConnect: true,
    enableOfflineQueue: false,
    // INFO and CLIENT are not among the commands that a user must be allowed.
    enableReadyCheck: false,
    disableClientInfo: true,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: retryDelayMs,
    Connector: RedisConnector,
    ...credentials,
    // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
    ...(tls && {
      tls: { rejectUnauthorized: true, ca: tls.ca, ...tls.client, servername: tls.serverName },
    }),
  } as const;
}

export function retryDelayMs(tries: number): number {
  return Math.min(MAX_RECONNECT_MS, MIN_RECONNECT_MS * 2 ** Math.min(tries - 1, 5));
}

/** @throws {SharedStateLost} when it takes longer */
export async function inTime<T>(clock: Clock, running: Promise<T>, timeoutMs: number): Promise<T> {
  // A busy process may get to its timers before a reply that arrived long ago: sockets are read first.
  const after: Clock['after'] = (ms, act) => clock.after(ms, () => setImmediate(act));
  const reply = await withinTime({ after }, timeoutMs, running, COMMAND_DEADLINE_EXCEEDED);
  if (reply === COMMAND_DEADLINE_EXCEEDED) throw new SharedStateLost();
  return reply;
}

const COMMAND_DEADLINE_EXCEEDED = Symbol('late');
