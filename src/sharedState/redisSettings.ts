export interface RedisSettings {
  readonly topology: RedisTopology;
  /** Of the servers that hold data. */
  readonly credentials: RedisCredentials | undefined;
  /** Without it connections are in clear text. */
  readonly tls: RedisTls | undefined;
}

export type RedisTopology =
  /** One server at one address. */
  | { readonly kind: 'single'; readonly server: RedisAddress; readonly database: number }
  /** Redis Cluster; any of its servers tell of the others. */
  | { readonly kind: 'cluster'; readonly servers: readonly RedisAddress[] }
  /** Sentinels, which say where the master is. */
  | {
      readonly kind: 'sentinel';
      readonly sentinels: readonly RedisAddress[];
      /** What the sentinels call the master. */
      readonly masterName: string;
      /** Of the sentinels themselves. */
      readonly sentinelCredentials: RedisCredentials | undefined;
      readonly database: number;
    };

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** A user of Redis's access control lists; `default` where absent. */
export interface RedisCredentials {
  readonly username: string | undefined;
  readonly password: string;
}

/** TLS to every server. Texts are PEM. */
export interface RedisTls {
  /** Whom to trust, in place of the well-known authorities. */
  readonly ca: string | undefined;
  /** What tells who we are, where servers ask for it. */
  readonly client: { readonly cert: string; readonly key: string } | undefined;
  /** The name that certificates bear, where it is not the host's. */
  readonly serverName: string | undefined;
}

/** As logs have it, and as servers name each other: `host:port`. */
export function textOf({ host, port }: RedisAddress): string {
  return `${host}:${port}`;
}
