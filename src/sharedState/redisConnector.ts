import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions as TlsOptions } from 'node:tls';
import { AbstractConnector } from 'ioredis';
import { ReplyBound } from './replyBound.ts';
import type { RedisAddress } from './redisSettings.ts';

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
