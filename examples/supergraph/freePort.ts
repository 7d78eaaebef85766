import { once } from 'node:events';
import { createServer } from 'node:net';

/** The port that is preferred if it can be listened on, otherwise 0: any that is free. */
export async function preferPort(port: number): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return 0;
  }
  server.close();
  await once(server, 'close');
  return port;
}
