import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what the system gives to connections and listeners on port 0; the bus of a cluster takes the port 10,000 above. */
const FROM = 10_000;
const COUNT = 10_000;

/** No process gives a port twice, so that two of its programs never start at one, and each begins elsewhere. */
let next = Math.floor(Math.random() * COUNT);

/**
 * A port that nothing listens on, for what must be told its port before it starts. One that the system chose would go to
 * the next connection.
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
