import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../system/clock.ts';
import { errorName } from '../../domain/errors.ts';
import {
  ConnectFailure,
  noteLateRefusal,
  refusesCertificate,
  type ConnectStage,
} from '../connectFailure.ts';
import type { ConnectionFiles } from './connectionFiles.ts';
import type { ConnectionMaterial } from './connectionMaterial.ts';
import { openTunnel, type Tunnel } from './proxyTunnel.ts';
import { TlsPeer } from './tlsPeer.ts';

/** A version of HTTP by its name in ALPN (RFC 7301). */
export type AlpnProtocol = 'h2' | 'http/1.1';

/** Takes the connection, or why there is none. Called once. */
export type OnConnected = (connected: TLSSocket | ConnectFailure) => void;

/** Dead peers are noticed between exchanges too. */
const KEEP_ALIVE_AFTER_MS = 60_000;

export interface TlsConnectorParts {
  readonly url: URL;
  readonly files: ConnectionFiles;
  /** For one connection, its proxy's part included. */
  readonly timeoutMs: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Hears of each connection that is not made in time. */
  readonly onTimeout?: (failure: ConnectFailure) => void;
}

/** The servers that connections are made with, by the material that is in force. */
interface Peers {
  readonly material: ConnectionMaterial;
  readonly server: TlsPeer;
  /** `undefined` where there is no proxy, or where it speaks plain HTTP. */
  readonly proxy: TlsPeer | undefined;
}

/** Makes the TLS connections of one endpoint, through the operator's proxy where there is one. */
export class TlsConnector {
  readonly #parts: TlsConnectorParts;
  readonly #host: string;
  readonly #port: number;
  readonly #proxyUrl: URL | undefined;
  #peers: Peers | undefined;
  readonly #underWay = new Set<ConnectionAttempt>();
  #isClosed = false;

  constructor(parts: TlsConnectorParts) {
    this.#parts = parts;
    const { url, files } = parts;
    const { proxy } = files.settings;
    this.#host = bareHost(url);
    this.#port = portOf(url);
    this.#proxyUrl = proxy === undefined ? undefined : new URL(proxy.url);
  }

  /** Connects, and agrees with the server on one of the protocols, within the time of one exchange. */
  connect(protocols: readonly AlpnProtocol[], onConnected: OnConnected): void {
    const attempt = new ConnectionAttempt(this.#parts.timeoutMs, (connected) => {
      this.#underWay.delete(attempt);
      const { onTimeout } = this.#parts;
      const isLate = connected instanceof ConnectFailure && connected.reason === TIMED_OUT;
      if (isLate) onTimeout?.(connected);
      onConnected(connected);
    });
    this.#underWay.add(attempt);
    const peers = this.#current();
    if (this.#isClosed) setImmediate(() => attempt.fail(CLOSED));
    else if (peers === undefined) setImmediate(() => attempt.fail('FILES_CANNOT_BE_USED'));
    else this.#begin(attempt, peers, [...protocols]);
  }

  /** Breaks what is being made: a handshake that hangs would keep the process. */
  close(): void {
    this.#isClosed = true;
    for (const attempt of this.#underWay) attempt.fail(CLOSED);
  }

  #begin(attempt: ConnectionAttempt, peers: Peers, ALPNProtocols: string[]): void {
    const [host, port] = [this.#host, this.#port];
    if (this.#proxyUrl === undefined) {
      attempt.shake(peers.server.connect({ host, port, ALPNProtocols }), true);
      return;
    }
    const order = {
      url: this.#proxyUrl,
      host: bareHost(this.#proxyUrl),
      port: portOf(this.#proxyUrl),
      tls: peers.proxy,
      authorization: peers.material.proxyAuthorization,
      authority: `${this.#parts.url.hostname}:${port}`,
    };
    attempt.tunnel = openTunnel(order, (tunnel) => {
      if (tunnel instanceof ConnectFailure) attempt.end(tunnel);
      else if (attempt.isOver) tunnel.destroy();
      else attempt.shake(peers.server.connect({ socket: tunnel, ALPNProtocols }), false);
    });
  }

  /** Made anew with other material: neither its context nor its sessions outlive it. */
  #current(): Peers | undefined {
    const { files, clock } = this.#parts;
    const { material, settings } = files;
    if (material === undefined) return undefined;
    if (this.#peers?.material !== material) {
      const url = this.#proxyUrl;
      this.#peers = {
        material,
        server: new TlsPeer(settings.tls?.serverName ?? this.#host, material.tls, clock),
        proxy:
          url?.protocol === 'https:'
            ? new TlsPeer(bareHost(url), material.proxyTls, clock)
            : undefined,
      };
    }
    return this.#peers;
  }
}

const TIMED_OUT = 'UND_ERR_CONNECT_TIMEOUT';
const CLOSED = 'UND_ERR_DESTROYED';

/** One connection while it is made. */
class ConnectionAttempt {
  tunnel: Tunnel | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #onEnd: OnConnected;
  #socket: TLSSocket | undefined;
  #stage: ConnectStage = 'files';
  #isOver = false;

  constructor(timeoutMs: number, onEnd: OnConnected) {
    this.#onEnd = onEnd;
    this.#timer = setTimeout(() => this.fail(TIMED_OUT), timeoutMs);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Follows a handshake, which comes after a connection of its own or after a tunnel. */
  shake(socket: TLSSocket, connectsItself: boolean): void {
    this.#socket = socket;
    this.#stage = connectsItself ? 'connection' : 'tls';
    socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_AFTER_MS);
    const fail = (error: Error): void => {
      this.end(new ConnectFailure(stageOf(error, this.#stage, socket), errorName(error)));
    };
    socket
      .once('connect', () => {
        this.#stage = 'tls';
      })
      .once('error', fail)
      .once('secureConnect', () => {
        socket.off('error', fail);
        // What uses it hears of its end by `close`; an error without a listener would end the process.
        socket.on('error', (error) => {
          // Node reports an alert and goes on; undici would report the end that follows.
          if (noteLateRefusal(error, socket)) socket.destroy();
        });
        this.end(socket);
      });
  }

  /** Ends it where it is. */
  fail(reason: string): void {
    const stage = this.#socket === undefined ? this.tunnel?.stage : undefined;
    this.end(new ConnectFailure(stage ?? this.#stage, reason));
  }

  end(connected: TLSSocket | ConnectFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (connected instanceof ConnectFailure) {
      this.#socket?.on('error', ignore).destroy();
      if (this.#socket === undefined) this.tunnel?.destroy();
    }
    this.#onEnd(connected);
  }
}

function stageOf(error: Error, stage: ConnectStage, socket: TLSSocket): ConnectStage {
  if (stage === 'connection') {
    return 'syscall' in error && error.syscall === 'getaddrinfo' ? 'name' : stage;
  }
  if (refusesCertificate(error)) return 'client-certificate';
  // Set where, and only where, it is the server's certificate that is at fault.
  return socket.authorizationError ? 'certificate' : stage;
}

/** Without the brackets of an IPv6 address. */
function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function ignore(): void {
  // Nothing to do.
}
