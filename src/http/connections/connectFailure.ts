import { errorName } from '../../errors.ts';

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
  /** The server's certificate is not trusted. */
  | 'certificate'
  /** The server does not take ours. */
  | 'client-certificate';

/** A connection that was not made. Nothing was sent on it but what a connection is made by. */
export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure';
  readonly stage: ConnectStage;
  /** Of Node, OpenSSL or undici where they failed; nothing of what came is in it. */
  readonly code: string;

  constructor(stage: ConnectStage, code: string) {
    super(`${stage}: ${code}`);
    this.stage = stage;
    this.code = code;
  }
}

/** What OpenSSL calls the alerts by which a server refuses the certificate of a client (RFC 8446 §6.2). */
const REFUSES_CERTIFICATE =
  /^ERR_SSL_.*ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_REVOKED|CERTIFICATE_EXPIRED|CERTIFICATE_UNKNOWN|CERTIFICATE_REQUIRED|UNKNOWN_CA)$/;

/**
 * Whether a server ended a connection by refusing our certificate. By TLS 1.3 it says so when the client takes the
 * handshake to be over; the server does not, and has not read what was sent since. Pure.
 */
export function refusesCertificate(error: Error): boolean {
  return REFUSES_CERTIFICATE.test(errorName(error));
}
