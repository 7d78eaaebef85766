import { once } from 'node:events';
import { createServer, Socket, type AddressInfo, type Server } from 'node:net';
import { Lane } from './lane.ts';

// A server that is far away, as TCP sees it. What is sent arrives `oneWayMs` later, in either direction, and
// so does the end of a connection. A connection takes a round trip before its client may send: loopback says
// "connected" at once, so what the client sends earlier is held until its SYN would have come back, and
// travels from then on. To everything above TCP that is the same, but for the moment of the `connect` event.
//
//   client                     proxy                      server
//     SYN, accepted at 0         → connects at oneWayMs
//     first bytes                → sent on at 2 × oneWayMs, and arrive at 3 × oneWayMs
//     reads at 4 × oneWayMs      ← the reply
//
// Not shown: loss, jitter, bandwidth, and slow start, which exchanges of a few hundred bytes never meet.

/** A proxy in front of a server on loopback; its distance may change between connections. */
export class DistantServer {
  readonly #server: Server;
  readonly #targetPort: number;
  readonly #oneWayMs: () => number;
  readonly #sockets = new Set<Socket>();

  private constructor(targetPort: number, oneWayMs: () => number) {
    this.#targetPort = targetPort;
    this.#oneWayMs = oneWayMs;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (near) =>
      this.#carry(near),
    );
  }

  static async open(targetPort: number, oneWayMs: () => number): Promise<DistantServer> {
    const distant = new DistantServer(targetPort, oneWayMs);
    distant.#server.listen(0, '127.0.0.1', 4096);
    await once(distant.#server, 'listening');
    return distant;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #carry(near: Socket): void {
    const far = new Socket({ allowHalfOpen: true }).setNoDelay(true);
    const acceptedMs = performance.now();
    const firstArrivesMs = acceptedMs + 3 * this.#oneWayMs();
    const outward = new Lane();
    const homeward = new Lane();
    outward.at(acceptedMs + this.#oneWayMs(), () => {
      far.connect({ host: '127.0.0.1', port: this.#targetPort });
    });
    this.#pass(near, far, (act) => {
      outward.at(Math.max(firstArrivesMs, performance.now() + this.#oneWayMs()), act);
    });
    this.#pass(far, near, (act) => homeward.at(performance.now() + this.#oneWayMs(), act));
  }

  /** Passes on all that comes of one socket to the other, each time when `later` says so. */
  #pass(from: Socket, to: Socket, later: (act: () => void) => void): void {
    this.#sockets.add(from);
    from.on('data', (chunk) => later(() => to.write(chunk)));
    from.on('end', () => later(() => to.end()));
    // The close that follows passes it on.
    from.on('error', () => undefined);
    from.on('close', (isBroken) => {
      this.#sockets.delete(from);
      if (isBroken) later(() => to.resetAndDestroy());
    });
  }
}
