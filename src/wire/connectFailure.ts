import type { TLSSocket } from 'node:tls';
import { errorName } from '../domain/errors.ts';

/** How far a connection came, in the order in which stages are reached. */
export type ConnectStage =
  /** Our own certificate, key, authorities or credentials cannot be used. */
  | 'files'
  | 'proxy-name'
  | 'proxy-connection'
  | 'proxy-tls'
  /** The proxy did not open a tunnel. */
  | 'proxy-tunnel'
  | 'name'
  | 'connection'
  | 'tls'
  | 'certificate'
  | 'client-certificate';

/** A connection that was not made: nothing of an exchange was sent on it. */
export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure';
  readonly stage: ConnectStage;
  /**
   * The code of Node, OpenSSL or undici. Not named `code`: for UND_ERR_SOCKET and UND_ERR_INFO there undici connects
   * again at once, without end.
   */
  readonly reason: string;

  constructor(stage: ConnectStage, reason: string) {
    super(`${stage}: ${reason}`);
    this.stage = stage;
    this.reason = reason;
  }
}

/** OpenSSL's names of the alerts by which a server refuses a client's certificate (RFC 8446 §6.2). */
const REFUSES_CERTIFICATE =
  /^ERR_SSL_.*ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_REVOKED|CERTIFICATE_EXPIRED|CERTIFICATE_UNKNOWN|CERTIFICATE_REQUIRED|UNKNOWN_CA)$/;

export function refusesCertificate(error: Error): boolean {
  return REFUSES_CERTIFICATE.test(errorName(error));
}

/**
 * If an error is the server's refusal of our certificate, sets a {@link ConnectFailure} as its cause and returns
 * `true`. With TLS 1.3 it arrives after the client has finished the handshake: the server has not, and has read nothing
 * (RFC 8446 §4.4.4). Before TLS 1.3 such an alert says nothing about the request.
 */
export function noteLateRefusal(error: Error, socket: TLSSocket): boolean {
  if (error.cause instanceof ConnectFailure) return true;
  if (socket.getProtocol() !== 'TLSv1.3' || !refusesCertificate(error)) return false;
  error.cause = new ConnectFailure('client-certificate', errorName(error));
  return true;
}

export function connectFailureOf(error: unknown): ConnectFailure | undefined {
  if (error instanceof ConnectFailure) return error;
  return error instanceof Error && error.cause instanceof ConnectFailure ? error.cause : undefined;
}
