import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that the system gives to connections and to whoever listens on port 0. */
const FROM = 10_000;
const COUNT = 20_000;

/**
 * A port that nothing listens on, for what must be told its port before it starts. One that the system chose would go to
 * the next connection.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FROM + Math.floor(Math.random() * COUNT);
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
