import { isIP } from 'node:net';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { errors } from 'undici';
import type { Clock } from '../../clock.ts';

/** A version of HTTP by its name in ALPN (RFC 7301). */
export type Protocol = 'h2' | 'http/1.1';

/** Takes the connection, or why there is none. Called once. */
export type OnConnected = (connected: TLSSocket | Error) => void;

/** A resumed handshake does not look at the certificate again: so often, at the least, one is looked at. */
const MAX_RESUMED_MS = 3_600_000;

/** Dead peers are noticed between exchanges too. */
const KEEP_ALIVE_AFTER_MS = 60_000;

/**
 * Makes the TLS connections of one endpoint. They share one context and the latest TLS session: all but
 * the first are resumed where the server allows it, and cost about two thirds. No early data is sent: it
 * could be replayed.
 */
export class TlsConnector {
  readonly #host: string;
  readonly #port: number;
  readonly #timeoutMs: number;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #context: SecureContext | undefined;
  #session: Buffer | undefined;
  /** When a certificate was last looked at. */
  #verifiedAtMs = -Infinity;
  readonly #underWay = new Set<TLSSocket>();
  #isClosed = false;

  constructor(url: URL, timeoutMs: number, clock: Pick<Clock, 'monotonicMs'>) {
    this.#host = url.hostname.replace(/^\[|\]$/g, '');
    this.#port = url.port === '' ? 443 : Number(url.port);
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  /** Connects, and agrees with the server on one of the protocols, within the time of one exchange. */
  connect(protocols: readonly Protocol[], onConnected: OnConnected): void {
    this.#context ??= createSecureContext();
    const beganAtMs = this.#clock.monotonicMs();
    if (beganAtMs - this.#verifiedAtMs >= MAX_RESUMED_MS) this.#session = undefined;
    const socket = connect({
      host: this.#host,
      port: this.#port,
      ...(isIP(this.#host) === 0 ? { servername: this.#host } : {}),
      secureContext: this.#context,
      ...(this.#session === undefined ? {} : { session: this.#session }),
      ALPNProtocols: [...protocols],
    });
    socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_AFTER_MS);
    const timer = setTimeout(() => {
      socket.destroy(new errors.ConnectTimeoutError());
    }, this.#timeoutMs);
    const fail = (error: Error): void => {
      clearTimeout(timer);
      this.#underWay.delete(socket);
      // A session that the server chokes on is not offered again.
      this.#session = undefined;
      onConnected(error);
    };
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      this.#underWay.delete(socket);
      socket.off('error', fail);
      if (!socket.isSessionReused()) this.#verifiedAtMs = beganAtMs;
      socket.on('error', ignore);
      onConnected(socket);
    });
    socket.on('session', (session) => {
      this.#session = session;
    });
    this.#underWay.add(socket);
    if (this.#isClosed) this.close();
  }

  /** Breaks what is being made: a handshake that hangs would keep the process. */
  close(): void {
    this.#isClosed = true;
    for (const socket of this.#underWay) socket.destroy(new errors.ClientDestroyedError());
  }
}

/** What uses the connection hears of its end by `close`; an error that nobody listens to would end the process. */
function ignore(): void {
  // Nothing to do.
}
