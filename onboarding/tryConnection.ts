import type { TLSSocket } from 'node:tls';
import type { Clock } from '../src/system/clock.ts';
import { errorName } from '../src/domain/errors.ts';
import {
  ConnectFailure,
  refusesCertificate,
  type ConnectStage,
} from '../src/wire/connectFailure.ts';
import { ConnectionFiles } from '../src/wire/connectionFiles.ts';
import type { ConnectionSettings } from '../src/wire/wireSettings.ts';
import { TlsConnector, type AlpnProtocol } from '../src/wire/tlsConnector.ts';
import { SILENT } from './finding.ts';

/** The outcome of a connection attempt. */
export type ConnectionTrial = Connected | NotConnected;

export interface Connected {
  readonly kind: 'connected';
  /** To be used, or destroyed, by the caller. */
  readonly socket: TLSSocket;
  readonly protocol: AlpnProtocol;
  /** For example `TLSv1.3`. */
  readonly tlsVersion: string;
  /** When the server's certificate expires, in milliseconds since 1970. */
  readonly serverCertificateEndsMs: number;
}

export interface NotConnected {
  readonly kind: 'failed';
  readonly stage: ConnectStage;
  /** A code of Node, OpenSSL, undici or ours. */
  readonly code: string;
  /** The flaw of our own files, where they are at fault. */
  readonly flaw: string | undefined;
}

/** What an attempt requires. */
export interface TrialParts {
  /** The protocols to offer, in order of preference. */
  readonly protocols: readonly AlpnProtocol[];
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** How long a server may take to refuse our certificate after the handshake, as it does with TLS 1.3. */
const AFTERTHOUGHT_MS = 1000;

/**
 * Connects to an https address as an endpoint of these settings does, sends no request, and returns how far it got.
 * Never rejects; takes at most the time limit and a second.
 */
export async function tryConnection(
  address: string,
  settings: ConnectionSettings,
  { protocols, timeoutMs, clock }: TrialParts,
): Promise<ConnectionTrial> {
  const files = new ConnectionFiles(settings, { clock, log: SILENT });
  const { flaw } = files;
  files.close();
  const url = new URL(address);
  const connector = new TlsConnector({ url, files, timeoutMs, clock });
  const connected = await new Promise<TLSSocket | ConnectFailure>((resolve) => {
    connector.connect(protocols, resolve);
  });
  if (connected instanceof ConnectFailure) return failed(connected, flaw);
  const refusal =
    settings.tls?.certificate === undefined ? undefined : await afterthought(connected);
  if (refusal !== undefined) return failed(refusal, flaw);
  return {
    kind: 'connected',
    socket: connected,
    protocol: connected.alpnProtocol === 'h2' ? 'h2' : 'http/1.1',
    tlsVersion: connected.getProtocol() ?? 'none',
    serverCertificateEndsMs: Date.parse(connected.getPeerCertificate().valid_to),
  };
}

function failed({ stage, reason }: ConnectFailure, flaw: string | undefined): NotConnected {
  return { kind: 'failed', stage, code: reason, flaw };
}

/** Waits for a sign that the server has finished the handshake as well: a session, its first bytes, or a refusal. */
function afterthought(socket: TLSSocket): Promise<ConnectFailure | undefined> {
  if (socket.getProtocol() !== 'TLSv1.3') return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const end = (failure?: ConnectFailure): void => {
      clearTimeout(timer);
      socket.off('session', accepted).off('readable', accepted);
      socket.off('error', refused).off('close', closed);
      // Deferred: what is written to a socket inside its event `session` stays in Node until the next bytes arrive.
      setImmediate(resolve, failure);
    };
    const accepted = (): void => end();
    const refused = (error: Error): void => {
      const stage = refusesCertificate(error) ? 'client-certificate' : 'tls';
      end(new ConnectFailure(stage, errorName(error)));
    };
    const closed = (): void => end(new ConnectFailure('tls', 'CLOSED'));
    const timer = setTimeout(accepted, AFTERTHOUGHT_MS);
    socket.on('session', accepted).on('readable', accepted);
    socket.on('error', refused).on('close', closed);
  });
}
