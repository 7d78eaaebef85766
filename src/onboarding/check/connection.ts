import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { errorName } from '../../errors.ts';
import type { Protocol } from '../../http/connections/tlsConnector.ts';
import { withinTime } from './withinTime.ts';
import type { ConnectionTrace, Place, Stage, TlsFacts } from './connectionTrace.ts';

/** A connection and how it came about; without a socket where it broke. */
export interface TracedConnection {
  readonly trace: ConnectionTrace;
  readonly socket?: Socket;
}

/** Connects one stage after the other, each in its time. Never rejects. The socket is the caller's to end. */
export async function traceConnection(
  place: Place,
  protocols: readonly Protocol[],
  timeoutMs: number,
): Promise<TracedConnection> {
  let addresses = 0;
  let stage: Stage = 'name';
  let socket: Socket | undefined;
  try {
    addresses = (await withinTime(lookup(place.host, { all: true }), timeoutMs)).length;
    stage = 'tcp';
    socket = connectTcp({ host: place.host, port: place.port });
    await opened(socket, 'connect', timeoutMs);
    if (!place.isSecure) return { trace: { place, addresses }, socket };
    stage = 'tls';
    const secured = connectTls({
      socket,
      ...(isIP(place.host) === 0 ? { servername: place.host } : { host: place.host }),
      ALPNProtocols: [...protocols],
      minVersion: 'TLSv1.2',
    });
    socket = secured;
    await opened(secured, 'secureConnect', timeoutMs);
    return { trace: { place, addresses, tls: tlsFacts(secured) }, socket };
  } catch (error) {
    socket?.destroy();
    return { trace: { place, addresses, broke: { stage, code: errorName(error) } } };
  }
}

/** Resolves at the event; rejects with the socket's error, when it closes, or when time is up. */
function opened(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  timeoutMs: number,
): Promise<void> {
  return withinTime(
    new Promise<void>((resolve, reject) => {
      // An error that comes later is seen by what reads from the socket; unheard it would end the program.
      socket.on('error', reject);
      socket.once('close', () => reject(new ClosedEarly()));
      socket.once(event, () => resolve());
    }),
    timeoutMs,
  );
}

/** The other side closed the connection without a word. */
class ClosedEarly extends Error {
  override readonly name = 'closed';
}

function tlsFacts(socket: TLSSocket): TlsFacts {
  const { alpnProtocol } = socket;
  return {
    version: socket.getProtocol() ?? 'TLS',
    protocol: alpnProtocol === 'h2' || alpnProtocol === 'http/1.1' ? alpnProtocol : undefined,
    validToMs: Date.parse(socket.getPeerCertificate().valid_to),
  };
}
