import { Redis as Client } from 'ioredis';

/** A connection that is given up after a second, without a retry. */
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

/** The machine is too slow for a cluster, or the cluster is broken: neither says anything about the service. */
export class NotInTime extends Error {
  override readonly name = 'NotInTime';
}

/** @throws {NotInTime} where there is no reply within a second */
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
  } catch (error) {
    const isLate = error instanceof Error && error.message === 'Command timed out';
    throw isLate ? new NotInTime('A Redis gave no reply within a second.') : error;
  } finally {
    client.disconnect();
  }
}
