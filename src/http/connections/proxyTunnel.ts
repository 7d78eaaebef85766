import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Client, errors, type buildConnector } from 'undici';
import { errorName } from '../../domain/errors.ts';
import { ConnectFailure, type ConnectStage } from '../connectFailure.ts';
import type { TlsPeer } from './tlsPeer.ts';

/** A tunnel to be made through a proxy. */
export interface TunnelOrder {
  /** Of the proxy. */
  readonly url: URL;
  readonly host: string;
  readonly port: number;
  /** Of a proxy that speaks TLS itself. */
  readonly tls: TlsPeer | undefined;
  /** The value of `proxy-authorization`. */
  readonly authorization: string | undefined;
  /** Where the tunnel is to end: host and port. */
  readonly authority: string;
}

/** A tunnel under way. */
export interface Tunnel {
  readonly stage: ConnectStage;
  /** Ends it, where it is not handed over yet. */
  destroy(): void;
}

/**
 * Asks a proxy for a tunnel (RFC 9110 §9.3.6) and hands over the connection that has become one. What the proxy says
 * beside its status is not read. It has no time limit of its own.
 */
export function openTunnel(
  order: TunnelOrder,
  onOpened: (tunnel: Duplex | ConnectFailure) => void,
): Tunnel {
  let stage: ConnectStage = 'proxy-connection';
  let socket: Socket | undefined;
  const client = new Client(order.url.origin, {
    connect: (_, callback) => {
      socket = connectTo(order, callback, (reached) => {
        stage = reached;
      });
    },
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const { authority, authorization } = order;
  const headers = {
    host: authority,
    ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
  };
  client.connect({ path: authority, headers }, (error, reply) => {
    if (error !== null) {
      onOpened(failureOf(error, stage));
    } else if (reply.statusCode < 200 || reply.statusCode > 299) {
      reply.socket.on('error', ignore).destroy();
      onOpened(new ConnectFailure(stage, `PROXY_STATUS_${reply.statusCode}`));
    } else if (reply.socket.readableLength > 0) {
      // A server of TLS does not speak first: this is a page, or whatever the proxy took for an answer.
      reply.socket.on('error', ignore).destroy();
      onOpened(new ConnectFailure(stage, 'PROXY_SENT_A_BODY'));
    } else {
      onOpened(reply.socket);
    }
    // The tunnel is its no more.
    void client.destroy();
  });
  return {
    get stage() {
      return stage;
    },
    destroy() {
      void client.destroy();
      socket?.on('error', ignore).destroy();
    },
  };
}

function connectTo(
  { host, port, tls }: TunnelOrder,
  callback: buildConnector.Callback,
  onReached: (stage: ConnectStage) => void,
): Socket {
  const socket: Socket =
    tls === undefined
      ? connect({ host, port })
      : tls.connect({ host, port, ALPNProtocols: ['http/1.1'] });
  const fail = (error: Error): void => callback(error, null);
  const ready = (): void => {
    onReached('proxy-tunnel');
    socket.off('error', fail);
    callback(null, socket);
  };
  socket.setNoDelay(true).once('error', fail);
  if (tls === undefined) socket.once('connect', ready);
  else socket.once('connect', () => onReached('proxy-tls')).once('secureConnect', ready);
  return socket;
}

function failureOf(error: Error, stage: ConnectStage): ConnectFailure {
  const isName = 'syscall' in error && error.syscall === 'getaddrinfo';
  if (error instanceof errors.HTTPParserError) return new ConnectFailure(stage, 'PROXY_NOT_HTTP');
  // It closed, or its first status was 100 or 101.
  if (error instanceof errors.SocketError) return new ConnectFailure(stage, 'PROXY_NO_REPLY');
  return new ConnectFailure(isName ? 'proxy-name' : stage, errorName(error));
}

function ignore(): void {
  // Nothing to do.
}
