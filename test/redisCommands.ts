import { Redis as Client } from 'ioredis';

/** A connection of a test's own, which is given up after a second, and not made again. */
export function clientTo(port: number, password?: string): Client {
  const client = new Client({
    host: '127.0.0.1',
    port,
    protocol: 2,
    enableReadyCheck: false,
    disableClientInfo: true,
    retryStrategy: () => null,
    connectTimeout: 1000,
    commandTimeout: 1000,
    ...(password === undefined ? {} : { password }),
  });
  return client.on('error', () => undefined);
}

export async function command(
  port: number,
  words: readonly string[],
  password?: string,
): Promise<unknown> {
  const [reply] = await commands(port, [words], password);
  return reply;
}

export async function commands(
  port: number,
  all: readonly (readonly string[])[],
  password?: string,
): Promise<readonly unknown[]> {
  const client = clientTo(port, password);
  try {
    return await Promise.all(all.map(([name = '', ...words]) => client.call(name, ...words)));
  } finally {
    client.disconnect();
  }
}
