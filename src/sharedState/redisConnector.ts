import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions as TlsOptions } from 'node:tls';
import { AbstractConnector } from 'ioredis';
import { ReplyBound } from './replyBound.ts';
import type { RedisAddress, RedisCredentials, RedisTls } from './redisSettings.ts';

const CONNECT_TIMEOUT_MS = 2500;
const MIN_RECONNECT_MS = 50;
const MAX_RECONNECT_MS = 1000;

/** A reply that takes longer is without an end, however it drips. */
const MAX_REPLY_MS = 3000;

const SILENCE_MS = 2500;
const LOOK_EVERY_MS = 250;

/** What a connection's options have beside those of the library. */
interface ConnectorOptions extends RedisAddress {
  readonly tls?: TlsOptions;
}

/** Makes connections whose replies have a bound in bytes and in time, and which end at once. */
export class RedisConnector extends AbstractConnector {
  readonly #options: ConnectorOptions;

  constructor(options: unknown) {
    super(0);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library hands over what it was given
    this.#options = options as ConnectorOptions;
  }

  override async connect(): Promise<Socket> {
    this.connecting = true;
    const { host, port } = await this.address();
    if (!this.connecting) throw new Error('Connection is closed.');
    const { tls } = this.#options;
    const socket =
      tls === undefined ? connectTcp({ host, port }) : connectTls({ host, port, ...tls });
    // What waits for a reply has a timer for it.
    socket.unref();
    // TLS may raise a second one, which has no listener by then: it would end the process.
    socket.on('error', (error) => {
      this.firstError ??= error;
    });
    boundReplies(socket);
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

function boundReplies(socket: Socket): void {
  const bound = new ReplyBound();
  let openedAtMs = 0;
  socket.on('data', (chunk) => {
    const { isOpen, replies } = bound;
    // Text comes only where an encoding is set.
    const isBounded = typeof chunk !== 'string' && bound.admits(chunk);
    const nowMs = performance.now();
    if (!isOpen || bound.replies > replies) openedAtMs = nowMs;
    if (!isBounded || nowMs - openedAtMs > MAX_REPLY_MS)
      socket.destroy(new BadReply('ENDLESS_REPLY'));
  });
}

/**
 * Ends a connection on which a reply is missing, whatever is written to it meanwhile. The library's own time limit
 * (`socketTimeout`) ends one whose replies wait for a process that stood still to read them.
 */
function endInSilence(socket: Socket): void {
  let answeredBytes = 0;
  let heardAtMs = performance.now();
  socket.on('data', () => {
    answeredBytes = socket.bytesWritten;
    heardAtMs = performance.now();
  });
  const look = (): void => {
    if (socket.bytesWritten === answeredBytes) heardAtMs = performance.now();
    else if (performance.now() - heardAtMs > SILENCE_MS) socket.destroy(new BadReply('NO_REPLY'));
  };
  // Sockets are read before `look`, however late the timer is.
  const looking = setInterval(() => setImmediate(look), LOOK_EVERY_MS).unref();
  socket.once('close', () => clearInterval(looking));
}

class BadReply extends Error {
  override readonly name = 'BadReply';
  readonly code: string;

  constructor(code: 'ENDLESS_REPLY' | 'NO_REPLY') {
    super('A reply of Redis has no end, or does not come.');
    this.code = code;
  }
}

/** What the library is to do on every connection: it queues no command, and a connection that comes back repeats none. */
export type ClientOptions = ReturnType<typeof clientOptions>;

/** Options of the library for connections to servers that let these credentials in. */
export function clientOptions(
  credentials: RedisCredentials | undefined,
  tls: RedisTls | undefined,
) {
  return {
    // What bounds replies reads this version of the protocol.
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
    ...(tls === undefined ? {} : { tls: tlsOptions(tls) }),
  } as const;
}

export function retryDelayMs(tries: number): number {
  return Math.min(MAX_RECONNECT_MS, MIN_RECONNECT_MS * 2 ** Math.min(tries - 1, 5));
}

function tlsOptions({ ca, client, serverName }: RedisTls): TlsOptions {
  return {
    // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
    ...client,
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
}
