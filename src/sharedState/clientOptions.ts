import type { ConnectionOptions } from 'node:tls';
import { RedisConnector } from './redisConnector.ts';
import type { RedisCredentials, RedisTls } from './redisSettings.ts';

const CONNECT_TIMEOUT_MS = 2500;
const MIN_RECONNECT_MS = 50;
const MAX_RECONNECT_MS = 1000;

/** What the library is to do on every connection: it queues no command, and a connection that comes back repeats none. */
export type ClientOptions = ReturnType<typeof clientOptions>;

/** Options of the library for connections to servers that let these credentials in. */
export function clientOptions(
  credentials: RedisCredentials | undefined,
  tls: RedisTls | undefined,
) {
  return {
    // What bounds replies reads this version of the protocol.
    protocol: 2,
    lazyConnect: true,
    enableOfflineQueue: false,
    // INFO and CLIENT are not among the commands that a user must be allowed.
    enableReadyCheck: false,
    disableClientInfo: true,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: retryDelayMs,
    Connector: RedisConnector,
    ...credentials,
    ...(tls === undefined ? {} : { tls: tlsOptions(tls) }),
  } as const;
}

export function retryDelayMs(tries: number): number {
  return Math.min(MAX_RECONNECT_MS, MIN_RECONNECT_MS * 2 ** Math.min(tries - 1, 5));
}

function tlsOptions({ ca, client, serverName }: RedisTls): ConnectionOptions {
  return {
    // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
    ...client,
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
}
