import type { TLSSocket } from 'node:tls';
import { errorName } from '../domain/errors.ts';

/** How far a connection came: what broke there is told by it. In the order in which they are reached. */
export type ConnectStage =
  /** Our own certificate, key, authorities or credentials cannot be used. */
  | 'files'
  | 'proxy-name'
  | 'proxy-connection'
  | 'proxy-tls'
  /** The proxy answered CONNECT with something else than a tunnel, or not at all. */
  | 'proxy-tunnel'
  | 'name'
  | 'connection'
  | 'tls'
  | 'certificate'
  | 'client-certificate';

/** A connection that was not made. Nothing was sent on it but what a connection is made by. */
export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure';
  readonly stage: ConnectStage;
  /**
   * The code of Node, OpenSSL or undici where they failed; nothing of what came is in it. It is not called `code`:
   * undici reads that, and connects again at once and for ever where it says UND_ERR_SOCKET or UND_ERR_INFO.
   */
  readonly reason: string;

  constructor(stage: ConnectStage, reason: string) {
    super(`${stage}: ${reason}`);
    this.stage = stage;
    this.reason = reason;
  }
}

/** What OpenSSL calls the alerts by which a server refuses the certificate of a client (RFC 8446 §6.2). */
const REFUSES_CERTIFICATE =
  /^ERR_SSL_.*ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_REVOKED|CERTIFICATE_EXPIRED|CERTIFICATE_UNKNOWN|CERTIFICATE_REQUIRED|UNKNOWN_CA)$/;

/** Whether a handshake broke since the server does not take our certificate. Pure. */
export function refusesCertificate(error: Error): boolean {
  return REFUSES_CERTIFICATE.test(errorName(error));
}

/**
 * Gives an error a {@link ConnectFailure} for its cause where it is the server's refusal of our certificate, and returns
 * whether it is. By TLS 1.3 that comes once the client takes the handshake to be over: the server does not, and has read
 * nothing since (RFC 8446 §4.4.4). Before TLS 1.3 such an alert says nothing of the request. The connection is still there.
 */
export function noteLateRefusal(error: Error, socket: TLSSocket): boolean {
  if (error.cause instanceof ConnectFailure) return true;
  if (socket.getProtocol() !== 'TLSv1.3' || !refusesCertificate(error)) return false;
  error.cause = new ConnectFailure('client-certificate', errorName(error));
  return true;
}

/** Why no connection was made, where that is what an error says, or what caused it. Pure. */
export function connectFailureOf(error: unknown): ConnectFailure | undefined {
  if (error instanceof ConnectFailure) return error;
  return error instanceof Error && error.cause instanceof ConnectFailure ? error.cause : undefined;
}
