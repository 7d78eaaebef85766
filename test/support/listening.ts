import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** Lets a server listen on a free port of loopback, and resolves to its address, such as `http://127.0.0.1:40123`. */
export async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that ends with all its connections. */
export class ClosingServer implements AsyncDisposable {
  protected readonly server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    this.server = server;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      // A client that breaks off is what many tests are about.
      socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
    });
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  resetConnections(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}
