import { lookup } from 'node:dns/promises';
import { connect as connectTcp, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../clock.ts';
import { errorName } from '../../errors.ts';
import { ConnectFailure, type ConnectStage } from '../../http/connections/connectFailure.ts';
import type { ConnectionFiles } from '../../http/connections/connectionFiles.ts';
import type { Http2Setting } from '../../http/connections/httpVersion.ts';
import { TlsConnector, type Protocol } from '../../http/connections/tlsConnector.ts';
import { placeOf, type ConnectionTrace, type TlsFacts } from './connectionTrace.ts';
import { withinTime } from './withinTime.ts';

/** How to connect. */
export interface Way {
  readonly http2: Http2Setting;
  /** Certificates, authorities and proxy, as the settings have them. */
  readonly files: ConnectionFiles;
  /** Of each step. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** A connection and how it came about; without a socket where it broke. */
export interface TracedConnection {
  readonly trace: ConnectionTrace;
  readonly socket?: Socket;
}

/**
 * Connects to the place of an address as the service does: through the proxy and with the certificates of the
 * settings. Never rejects. The socket is the caller's to end.
 */
export async function traceConnection(way: Way, address: string): Promise<TracedConnection> {
  const place = placeOf(address);
  // A proxy is for what leaves this machine, and that is TLS.
  const proxyUrl = place.isSecure ? way.files.settings.proxy?.url : undefined;
  const proxy = proxyUrl === undefined ? undefined : placeOf(proxyUrl);
  let addresses = 0;
  let stage: ConnectStage = 'name';
  try {
    if (proxy === undefined) addresses = await addressesOf(place.host, way.timeoutMs);
    const reached = { place, proxy, addresses };
    if (place.isSecure) {
      const socket = await secured(way, new URL(address));
      return { trace: { ...reached, tls: tlsFacts(socket) }, socket };
    }
    stage = 'connection';
    const socket = connectTcp({ host: place.host, port: place.port });
    await opened(socket, way.timeoutMs);
    return { trace: reached, socket };
  } catch (error) {
    const broke =
      error instanceof ConnectFailure
        ? { stage: error.stage, code: error.code }
        : { stage, code: errorName(error) };
    return { trace: { place, proxy, addresses, broke } };
  }
}

async function addressesOf(host: string, timeoutMs: number): Promise<number> {
  return (await withinTime(lookup(host, { all: true }), timeoutMs)).length;
}

/** Rejects with a {@link ConnectFailure}. */
function secured({ files, http2, timeoutMs, clock }: Way, url: URL): Promise<TLSSocket> {
  const connector = new TlsConnector({ url, files, timeoutMs, clock });
  return new Promise((resolve, reject) => {
    connector.connect(protocolsOf(http2), (connected) => {
      if (connected instanceof ConnectFailure) reject(connected);
      else resolve(connected);
    });
  });
}

/** By ALPN, the one that is preferred first. */
function protocolsOf(setting: Http2Setting): readonly Protocol[] {
  switch (setting) {
    case 'auto':
      return ['h2', 'http/1.1'];
    case 'never':
      return ['http/1.1'];
  }
}

/** Resolves once it is connected; ends it, and rejects, where it cannot be or time is up. */
async function opened(socket: Socket, timeoutMs: number): Promise<void> {
  try {
    await withinTime(
      new Promise<void>((resolve, reject) => {
        // An error that comes later is seen by what reads from the socket; unheard it would end the program.
        socket.on('error', reject).once('connect', () => resolve());
      }),
      timeoutMs,
    );
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function tlsFacts(socket: TLSSocket): TlsFacts {
  const { alpnProtocol } = socket;
  return {
    version: socket.getProtocol() ?? 'TLS',
    protocol: alpnProtocol === 'h2' || alpnProtocol === 'http/1.1' ? alpnProtocol : undefined,
    validToMs: Date.parse(socket.getPeerCertificate().valid_to),
  };
}
