import { isIP } from 'node:net';
import {
  checkServerIdentity,
  connect,
  createSecureContext,
  type ConnectionOptions,
  type SecureContext,
  type SecureContextOptions,
  type TLSSocket,
} from 'node:tls';
import type { Clock } from '../../system/clock.ts';

/** A resumed handshake does not look at the certificate again: so often, at the least, one is looked at. */
const MAX_RESUMED_MS = 3_600_000;

/**
 * A server that TLS is agreed on with, and what it is agreed by. All connections share one context and the latest
 * session: all but the first are resumed where the server allows it, and cost about two thirds. No early data
 * is sent: it could be replayed.
 */
export class TlsPeer {
  readonly #name: string;
  readonly #options: SecureContextOptions;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #context: SecureContext | undefined;
  #session: Buffer | undefined;
  #verifiedAtMs = -Infinity;

  /** @param name what the server's certificate must be for: a host, or an IP address */
  constructor(name: string, options: SecureContextOptions, clock: Pick<Clock, 'monotonicMs'>) {
    this.#name = name;
    this.#options = options;
    this.#clock = clock;
  }

  /** Begins a handshake, on a connection that there is or on one of its own. */
  connect(way: Pick<ConnectionOptions, 'host' | 'port' | 'socket' | 'ALPNProtocols'>): TLSSocket {
    this.#context ??= createSecureContext(this.#options);
    const beganAtMs = this.#clock.monotonicMs();
    if (beganAtMs - this.#verifiedAtMs >= MAX_RESUMED_MS) this.#session = undefined;
    const socket = connect({
      ...way,
      // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
      rejectUnauthorized: true,
      // The name may be another than that of the host.
      checkServerIdentity: (_host, certificate) => checkServerIdentity(this.#name, certificate),
      ...(isIP(this.#name) === 0 ? { servername: this.#name } : {}),
      secureContext: this.#context,
      ...(this.#session === undefined ? {} : { session: this.#session }),
    });
    // A session that the server chokes on is not offered again.
    const forget = (): void => {
      this.#session = undefined;
    };
    socket
      .once('error', forget)
      .once('secureConnect', () => {
        socket.off('error', forget);
        if (!socket.isSessionReused()) this.#verifiedAtMs = beganAtMs;
      })
      .on('session', (session) => {
        this.#session = session;
      });
    return socket;
  }
}
