import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** What reached one of the operator's servers. */
export type OperatorCounts = ReturnType<typeof noCounts>;

/** Counts what reaches one server. */
export class Traffic {
  readonly #open = new Set<Socket>();
  #counts = noCounts();
  /** By the client's port. */
  readonly #used = new Set<number | undefined>();
  /** Of connections that are closed. */
  #closedBytes = 0;
  #bytesBefore = 0;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => this.#follow(socket));
    server.on('secureConnection', (socket: TLSSocket) => {
      this.#counts.handshakes += 1;
      if (socket.isSessionReused()) this.#counts.resumedHandshakes += 1;
    });
  }

  /** A request came from this port of the client's. */
  use(clientPort: number | undefined): void {
    this.#used.add(clientPort);
  }

  count(kind: 'tokens' | 'lookups' | 'prompts' | 'polls'): void {
    this.#counts[kind] += 1;
  }

  /** What came since this was last called. */
  take(): OperatorCounts {
    const counts = this.#counts;
    const bytes = this.#bytes();
    counts.bytes = bytes - this.#bytesBefore;
    this.#bytesBefore = bytes;
    counts.usedConnections = this.#used.size;
    this.#used.clear();
    this.#counts = noCounts();
    return counts;
  }

  #follow(socket: Socket): void {
    this.#open.add(socket);
    this.#counts.connections += 1;
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#closedBytes += bytesOf(socket);
    });
  }

  #bytes(): number {
    let bytes = this.#closedBytes;
    for (const socket of this.#open) bytes += bytesOf(socket);
    return bytes;
  }
}

function bytesOf({ bytesRead, bytesWritten }: Socket): number {
  return bytesRead + bytesWritten;
}

function noCounts() {
  return {
    tokens: 0,
    lookups: 0,
    prompts: 0,
    polls: 0,
    /** Connections that were accepted. */
    connections: 0,
    /** TLS handshakes that were completed, resumed ones among them. */
    handshakes: 0,
    resumedHandshakes: 0,
    /** On the wire and both ways, TLS included. */
    bytes: 0,
    /** Connections that carried a request. */
    usedConnections: 0,
  };
}
