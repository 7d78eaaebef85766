import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the system's own ports for connections and port 0; the bus of a cluster takes the port 10,000 above. */
const FROM = 10_000;
const COUNT = 10_000;

/** A process returns no port twice, and each process begins at another one. */
let next = Math.floor(Math.random() * COUNT);

/**
 * A port that nothing listens on, for programs that need theirs before they start. The system would give one of its own
 * choice to the next connection.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FROM + (next++ % COUNT);
    const server = createServer();
    const listening = once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.listen(port, '127.0.0.1');
    if (!(await listening)) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
