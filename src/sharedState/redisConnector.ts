import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions as TlsOptions } from 'node:tls';
import { AbstractConnector } from 'ioredis';
import { ReplyBound } from './replyBound.ts';
import type { RedisAddress } from './redisSettings.ts';

/** A reply that takes longer is without an end, however it drips. */
const MAX_REPLY_MS = 3000;

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
    // TLS may raise a second one, which nobody else listens for by then: it would end the process.
    socket.on('error', (error) => {
      this.firstError ??= error;
    });
    boundReplies(socket);
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
    if (!isBounded || nowMs - openedAtMs > MAX_REPLY_MS) socket.destroy(new EndlessReply());
  });
}

class EndlessReply extends Error {
  override readonly name = 'EndlessReply';
  readonly code = 'ENDLESS_REPLY';

  constructor() {
    super('A reply of Redis has no end.');
  }
}
