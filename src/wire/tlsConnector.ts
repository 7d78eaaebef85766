import { connect as connectTcp, isIP, type Socket } from 'node:net';
import {
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
  type ConnectionOptions,
  type SecureContext,
  type SecureContextOptions,
  type TLSSocket,
} from 'node:tls';
import { Client, errors } from 'undici';
import type { Clock } from '../system/clock.ts';
import { errorName } from '../domain/errors.ts';
import {
  ConnectFailure,
  noteLateRefusal,
  refusesCertificate,
  type ConnectStage,
} from './connectFailure.ts';
import type { ConnectionFiles, ConnectionMaterial } from './connectionFiles.ts';

export type AlpnProtocol = 'h2' | 'http/1.1';

export type OnConnected = (connected: TLSSocket | ConnectFailure) => void;

/** Dead peers are noticed between exchanges too. */
const KEEP_ALIVE_AFTER_MS = 60_000;

export interface TlsConnectorParts {
  readonly url: URL;
  readonly files: Readonly<ConnectionFiles>;
  /** The limit for one connection, including its part through the proxy. */
  readonly timeoutMs: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly onTimeout?: (failure: ConnectFailure) => void;
}

interface Peers {
  readonly material: ConnectionMaterial;
  readonly server: TlsPeer;
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
    this.#begin(attempt, [...protocols]);
  }

  /** Aborts attempts under way: a handshake that hangs would keep the process alive. */
  close(): void {
    this.#isClosed = true;
    for (const attempt of this.#underWay) attempt.giveUp(CLOSED);
  }

  #begin(attempt: ConnectionAttempt, ALPNProtocols: string[]): void {
    const peers = this.#current();
    if (this.#isClosed || peers === undefined) {
      setImmediate(() => attempt.giveUp(this.#isClosed ? CLOSED : 'FILES_CANNOT_BE_USED'));
      return;
    }
    // A failure with files that have changed is not the server's fault, and a connection with them would outlive them.
    attempt.beginsAgain = () => {
      if (peers === this.#current()) return false;
      this.#begin(attempt, ALPNProtocols);
      return true;
    };
    const [url, host, port] = [this.#proxyUrl, this.#host, this.#port];
    const shake = (
      stage: 'connection' | 'tls',
      way: { socket: Socket } | { host: string; port: number },
    ) => {
      attempt.shake(peers.server.connect({ ...way, ALPNProtocols }), stage);
    };
    if (url === undefined) {
      shake('connection', { host, port });
      return;
    }
    const proxy = { host: bareHost(url), port: portOf(url) };
    const socket: Socket =
      peers.proxy === undefined
        ? connectTcp(proxy)
        : peers.proxy.connect({ ...proxy, ALPNProtocols: ['http/1.1'] });
    const tls = peers.proxy === undefined ? undefined : 'proxy-tls';
    const authority = `${this.#parts.url.hostname}:${port}`;
    attempt.follow(socket, 'proxy-connection', tls, () => {
      attempt.tunnel(url, socket, authority, peers.material, () => shake('tls', { socket }));
    });
  }

  /** The peers for the current files, created again when these change: no context or session outlives its files. */
  #current(): Peers | undefined {
    const { files, clock } = this.#parts;
    const { material, settings } = files;
    if (material === undefined || this.#peers?.material === material) return this.#peers;
    const server = new TlsPeer(settings.tls?.serverName ?? this.#host, material.tls, clock);
    const url = this.#proxyUrl;
    const isSecure = url?.protocol === 'https:';
    const proxy = isSecure ? new TlsPeer(bareHost(url), material.proxyTls, clock) : undefined;
    this.#peers = { material, server, proxy };
    return this.#peers;
  }
}

const TIMED_OUT = 'UND_ERR_CONNECT_TIMEOUT';
const CLOSED = 'UND_ERR_DESTROYED';

class ConnectionAttempt {
  /** Whether the files have changed meanwhile. If so, it has begun again. */
  beginsAgain: () => boolean = () => false;
  #stage: ConnectStage = 'files';
  #abandon: () => void = ignore;
  #isOver = false;
  readonly #timer: NodeJS.Timeout;
  readonly #onEnd: OnConnected;

  constructor(timeoutMs: number, onEnd: OnConnected) {
    this.#onEnd = onEnd;
    this.#timer = setTimeout(() => this.giveUp(TIMED_OUT), timeoutMs);
  }

  /**
   * Follows a socket until it is ready.
   *
   * @param tls the stage once it is connected; `undefined` in plain text
   */
  follow(
    socket: Socket,
    stage: ConnectStage,
    tls: ConnectStage | undefined,
    onReady: () => void,
  ): void {
    this.#stage = stage;
    this.#abandon = () => void socket.on('error', ignore).destroy();
    const fail = (error: Error): void => {
      this.#fail(errorName(error), stageOf(error, this.#stage, socket));
    };
    const ready = (): void => {
      socket.off('error', fail);
      onReady();
    };
    socket.setNoDelay(true).once('error', fail);
    if (tls === undefined) {
      socket.once('connect', ready);
      return;
    }
    socket
      .once('connect', () => {
        this.#stage = tls;
      })
      .once('secureConnect', ready);
  }

  /** The handshake with the server, over its own connection or in a tunnel. */
  shake(socket: TLSSocket, stage: 'connection' | 'tls'): void {
    socket.setKeepAlive(true, KEEP_ALIVE_AFTER_MS);
    this.follow(socket, stage, 'tls', () => {
      // Users see its end by `close`; an error without a listener would end the process.
      socket.on('error', (error) => {
        // Node reports an alert and continues; undici would report the end that follows.
        if (noteLateRefusal(error, socket)) socket.destroy();
      });
      if (this.beginsAgain()) socket.destroy();
      else this.#end(socket);
    });
  }

  /**
   * Requests a tunnel from the proxy at the other end of a socket (RFC 9110 §9.3.6). Of its reply only the status is
   * read.
   *
   * @param authority host and port at the end of the tunnel
   */
  tunnel(
    url: URL,
    socket: Socket,
    authority: string,
    { proxyAuthorization: authorization }: ConnectionMaterial,
    onOpened: () => void,
  ): void {
    this.#stage = 'proxy-tunnel';
    const client = new Client(url.origin, {
      // In another turn: undici does not continue in the one in which it requests a connection.
      connect: (_, callback) => queueMicrotask(() => callback(null, socket)),
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const headers = {
      host: authority,
      ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
    };
    client.connect({ path: authority, headers }, (error, reply) => {
      if (error !== null) {
        this.#fail(tunnelFlaw(error));
      } else if (reply.statusCode < 200 || reply.statusCode > 299) {
        this.#fail(`PROXY_STATUS_${reply.statusCode}`);
      } else if (socket.readableLength > 0) {
        // A TLS server does not send first: this is a page of the proxy.
        this.#fail('PROXY_SENT_A_BODY');
      } else if (!this.#isOver) {
        onOpened();
      }
      // The tunnel belongs to the handshake now.
      void client.destroy();
    });
  }

  giveUp(reason: string): void {
    this.#end(new ConnectFailure(this.#stage, reason));
  }

  #fail(reason: string, stage = this.#stage): void {
    if (this.#isOver) return;
    this.#abandon();
    if (!this.beginsAgain()) this.#end(new ConnectFailure(stage, reason));
  }

  #end(connected: TLSSocket | ConnectFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (connected instanceof ConnectFailure) this.#abandon();
    this.#onEnd(connected);
  }
}

function stageOf(error: Error, stage: ConnectStage, socket: Socket): ConnectStage {
  const isName = 'syscall' in error && error.syscall === 'getaddrinfo';
  if (isName && stage === 'connection') return 'name';
  if (isName && stage === 'proxy-connection') return 'proxy-name';
  if (stage !== 'tls') return stage;
  if (refusesCertificate(error)) return 'client-certificate';
  // Set only where the server's certificate is at fault.
  return 'authorizationError' in socket && socket.authorizationError ? 'certificate' : stage;
}

function tunnelFlaw(error: Error): string {
  if (error instanceof errors.HTTPParserError) return 'PROXY_NOT_HTTP';
  // The proxy closed, or its first status was 100 or 101.
  return error instanceof errors.SocketError ? 'PROXY_NO_REPLY' : errorName(error);
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

const ignore = (): void => undefined;

/** A resumed handshake does not verify the certificate; after this time it is verified again. */
const MAX_RESUMED_MS = 3_600_000;

/**
 * A TLS server. Its connections share one context and the latest session: all but the first are resumed where the server
 * allows it, and cost about two thirds. No early data is sent: it could be replayed.
 */
class TlsPeer {
  readonly #name: string;
  readonly #options: SecureContextOptions;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #context: SecureContext | undefined;
  #session: Buffer | undefined;
  #verifiedAtMs = -Infinity;

  /** @param name of the server's certificate: a host, or an IP address */
  constructor(name: string, options: SecureContextOptions, clock: Pick<Clock, 'monotonicMs'>) {
    this.#name = name;
    this.#options = options;
    this.#clock = clock;
  }

  connect(way: Pick<ConnectionOptions, 'host' | 'port' | 'socket' | 'ALPNProtocols'>): TLSSocket {
    this.#context ??= createSecureContext(this.#options);
    const beganAtMs = this.#clock.monotonicMs();
    if (beganAtMs - this.#verifiedAtMs >= MAX_RESUMED_MS) this.#session = undefined;
    const socket = connectTls({
      ...way,
      // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
      rejectUnauthorized: true,
      // The name may differ from the host.
      checkServerIdentity: (_host, certificate) => checkServerIdentity(this.#name, certificate),
      ...(isIP(this.#name) === 0 ? { servername: this.#name } : {}),
      secureContext: this.#context,
      ...(this.#session === undefined ? {} : { session: this.#session }),
    });
    // A session that failed is not offered again.
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
