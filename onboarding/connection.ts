import { lookup } from 'node:dns/promises';
import { connect as connectTcp, type Socket } from 'node:net';
import type { Clock } from '../src/system/clock.ts';
import { errorName } from '../src/domain/errors.ts';
import type { ConnectStage } from '../src/wire/connectFailure.ts';
import type { ConnectionSettings, Http2Setting } from '../src/wire/wireSettings.ts';
import type { AlpnProtocol } from '../src/wire/tlsConnector.ts';
import { tryConnection, type ConnectionTrial } from './tryConnection.ts';
import { placeOf, type ConnectionTrace } from './connectionTrace.ts';
import { withinTime } from './httpProbe.ts';

/** How to connect. */
export interface Way {
  readonly http2: Http2Setting;
  /** Certificates, authorities and proxy. */
  readonly settings: ConnectionSettings;
  /** The limit of each step. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** A connection and its trace; without a socket where it broke. */
export interface TracedConnection {
  readonly trace: ConnectionTrace;
  readonly socket?: Socket;
}

/**
 * Connects to the place of an address as the service does: through the proxy and with the certificates of the settings.
 * Never rejects. The caller must end the socket.
 */
export async function traceConnection(way: Way, address: string): Promise<TracedConnection> {
  const place = placeOf(address);
  // A proxy is for connections that leave this machine, which use TLS.
  const proxyUrl = place.isSecure ? way.settings.proxy?.url : undefined;
  const proxy = proxyUrl === undefined ? undefined : placeOf(proxyUrl);
  let addresses = 0;
  let stage: ConnectStage = 'name';
  try {
    if (proxy === undefined) {
      const found = await withinTime(lookup(place.host, { all: true }), way.timeoutMs);
      addresses = found.length;
    }
    const reached = { place, proxy, addresses };
    if (place.isSecure) {
      // For ALPN, in order of preference.
      const protocols: readonly AlpnProtocol[] =
        way.http2 === 'auto' ? ['h2', 'http/1.1'] : ['http/1.1'];
      return traced(reached, await tryConnection(address, way.settings, { ...way, protocols }));
    }
    stage = 'connection';
    const socket = connectTcp({ host: place.host, port: place.port });
    await opened(socket, way.timeoutMs);
    return { trace: reached, socket };
  } catch (error) {
    return { trace: { place, proxy, addresses, broke: { stage, code: errorName(error) } } };
  }
}

function traced(reached: ConnectionTrace, trial: ConnectionTrial): TracedConnection {
  switch (trial.kind) {
    case 'connected': {
      const { socket, tlsVersion: version, protocol, serverCertificateEndsMs } = trial;
      const tls = { version, protocol, validToMs: serverCertificateEndsMs };
      return { trace: { ...reached, tls }, socket };
    }
    case 'failed': {
      const { stage, code } = trial;
      return { trace: { ...reached, broke: { stage, code } } };
    }
  }
}

/** Resolves once the socket is connected; ends it, and rejects, when it cannot be connected in time. */
async function opened(socket: Socket, timeoutMs: number): Promise<void> {
  try {
    await withinTime(
      new Promise<void>((resolve, reject) => {
        // The reader of the socket sees later errors; without a listener they would end the program.
        socket.on('error', reject).once('connect', () => resolve());
      }),
      timeoutMs,
    );
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
