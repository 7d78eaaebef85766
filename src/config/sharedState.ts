import { createPrivateKey, X509Certificate } from 'node:crypto';
import type {
  RedisAddress,
  RedisCredentials,
  RedisSettings,
  RedisTls,
  RedisTopology,
} from '../sharedState/redisSettings.ts';
import type { StateKeys } from '../sharedState/stateSeals.ts';
import type { EnvironmentReader } from './environment.ts';

/** The store that several processes share. */
export interface SharedState {
  /** With credentials: not to be shown. */
  readonly redis: RedisSettings;
  /** From which the keys are derived that keep the state secret. */
  readonly stateKeys: StateKeys;
}

const STATE_KEY_BYTES = 32;
const MAX_STATE_KEYS = 2;
const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

/** Reads REDIS_… and STATE_KEY; `undefined` where there is no Redis. */
export function readSharedState(read: EnvironmentReader): SharedState | undefined {
  // A password may hold a comma.
  const urls = read.secret('REDIS_URL')?.split(/,\s*(?=rediss?:\/\/)/) ?? [];
  const stateKeys = readStateKeys(read);
  const redis = readRedis(read, urls);
  if (redis === undefined) return undefined;
  read.requiredSecret('STATE_KEY', 'what lies in the Redis of REDIS_URL is encrypted with it');
  return { redis, stateKeys };
}

/** Two count while one takes the other's place, with a comma between. */
function readStateKeys(read: EnvironmentReader): StateKeys {
  const texts = read.secret('STATE_KEY')?.split(',') ?? [];
  const keys = texts.map((text) => bytesOf(text.trim()));
  const fit = keys.filter((key) => key?.length === STATE_KEY_BYTES);
  if (fit.length < keys.length) {
    read.problem(
      'STATE_KEY',
      'must be 32 bytes in base64 or hex: openssl rand -base64 32 makes one',
    );
  }
  if (keys.length > MAX_STATE_KEYS) read.problem('STATE_KEY', 'must be two keys at most');
  const [first = new Uint8Array(STATE_KEY_BYTES), ...others] = fit.flatMap((key) => key ?? []);
  return [first, ...others];
}

function readRedis(read: EnvironmentReader, texts: readonly string[]): RedisSettings | undefined {
  const kind = read.oneOf('REDIS_TOPOLOGY');
  const masterName = read.text('REDIS_SENTINEL_MASTER');
  const given = readCredentials(read, 'REDIS');
  const sentinelCredentials = readCredentials(read, 'REDIS_SENTINEL');
  const tlsSettings = readTls(read);
  if (texts.length === 0) return undefined;

  const urls = texts.map((text) => URL.parse(text));
  const problem =
    urls.map(problemOf).find((one) => one !== undefined) ?? disagreementOf(urls, kind);
  if (problem !== undefined) {
    read.problem('REDIS_URL', problem);
    return undefined;
  }
  const [first] = urls;
  if (first === undefined || first === null) return undefined;
  const own = credentialsIn(first);
  if (own !== undefined && given !== undefined) {
    read.problem(
      'REDIS_PASSWORD',
      'is set although REDIS_URL has a user or password: set one of them',
    );
  }
  const isTls = first.protocol === 'rediss:';
  if (!isTls && tlsSettings !== undefined) {
    read.problem('REDIS_URL', 'must start with rediss:// where REDIS_TLS_… is set');
  }
  const database = Number(first.pathname.slice(1));
  const servers = urls.map((url) => addressIn(url, kind));
  return {
    topology: topologyOf(read, { kind, servers, masterName, sentinelCredentials, database }),
    credentials: own ?? given,
    tls: isTls ? (tlsSettings ?? NO_TLS_SETTINGS) : undefined,
  };
}

const NO_TLS_SETTINGS: RedisTls = { ca: undefined, client: undefined, serverName: undefined };

interface ReadTopology {
  readonly kind: RedisTopology['kind'];
  readonly servers: readonly RedisAddress[];
  readonly masterName: string | undefined;
  readonly sentinelCredentials: RedisCredentials | undefined;
  readonly database: number;
}

function topologyOf(
  read: EnvironmentReader,
  { kind, servers, masterName, sentinelCredentials, database }: ReadTopology,
): RedisTopology {
  if (kind !== 'sentinel') {
    if (masterName !== undefined) {
      read.problem('REDIS_SENTINEL_MASTER', 'is for REDIS_TOPOLOGY=sentinel');
    }
    if (sentinelCredentials !== undefined) {
      read.problem('REDIS_SENTINEL_PASSWORD', 'is for REDIS_TOPOLOGY=sentinel');
    }
  }
  switch (kind) {
    case 'single':
      return { kind, server: servers[0] ?? { host: '', port: 0 }, database };
    case 'cluster':
      return { kind, servers };
    case 'sentinel': {
      const why =
        'the name under which the sentinels of REDIS_URL know the master, such as mymaster';
      const name = read.required('REDIS_SENTINEL_MASTER', why);
      return { kind, sentinels: servers, masterName: name, sentinelCredentials, database };
    }
  }
}

/** A user without a password is no login; a password without a user is the default user's. */
function readCredentials(
  read: EnvironmentReader,
  prefix: 'REDIS' | 'REDIS_SENTINEL',
): RedisCredentials | undefined {
  const username = read.text(`${prefix}_USERNAME`);
  const password = read.secret(`${prefix}_PASSWORD`);
  if (password === undefined || password === '') {
    if (username !== undefined) {
      read.problem(`${prefix}_USERNAME`, `is set without ${prefix}_PASSWORD: set both`);
    }
    return undefined;
  }
  return { username, password };
}

function readTls(read: EnvironmentReader): RedisTls | undefined {
  const ca = read.secret('REDIS_TLS_CA');
  const cert = read.secret('REDIS_TLS_CERT');
  const key = read.secret('REDIS_TLS_KEY');
  const serverName = read.text('REDIS_TLS_SERVER_NAME');
  if (ca !== undefined && certificateIn(ca) === undefined) {
    read.problem('REDIS_TLS_CA', 'must be one or more certificates in PEM');
  }
  if ((cert === undefined) !== (key === undefined)) {
    const [missing, set] =
      cert === undefined
        ? ['REDIS_TLS_CERT', 'REDIS_TLS_KEY']
        : ['REDIS_TLS_KEY', 'REDIS_TLS_CERT'];
    read.problem(missing, `is missing: ${set} is set, and a client certificate takes both`);
  }
  if (cert !== undefined && key !== undefined) checkPair(read, cert, key);
  const client = cert === undefined || key === undefined ? undefined : { cert, key };
  return ca === undefined && client === undefined && serverName === undefined
    ? undefined
    : { ca, client, serverName };
}

function checkPair(read: EnvironmentReader, cert: string, key: string): void {
  const certificate = certificateIn(cert);
  const privateKey = privateKeyIn(key);
  if (certificate === undefined) read.problem('REDIS_TLS_CERT', 'must be a certificate in PEM');
  if (privateKey === undefined) read.problem('REDIS_TLS_KEY', 'must be a private key in PEM');
  if (certificate === undefined || privateKey === undefined) return;
  if (!certificate.checkPrivateKey(privateKey)) {
    read.problem('REDIS_TLS_KEY', 'is not the key of the certificate of REDIS_TLS_CERT');
  }
}

function certificateIn(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function privateKeyIn(pem: string) {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

/** What a client would not connect with. */
function problemOf(url: URL | null): string | undefined {
  if (url === null || !/^rediss?:$/.test(url.protocol) || url.hostname === '') {
    return 'must be an address that starts with redis:// or rediss://';
  }
  if (!/^(?:\/\d{0,5})?$/.test(url.pathname)) {
    return 'has a path that names no database: leave it out, or give a number, such as /0';
  }
  try {
    decodeURIComponent(url.username);
    decodeURIComponent(url.password);
    return undefined;
  } catch {
    return 'has a user or password that is not percent-encoded: write %25 for a percent sign';
  }
}

/** What several addresses, or the way in which Redis is run, do not go with. */
function disagreementOf(
  urls: readonly (URL | null)[],
  kind: ReadTopology['kind'],
): string | undefined {
  const common = new Set(
    urls.map((url) => `${url?.protocol} ${url?.username} ${url?.password} ${url?.pathname}`),
  );
  if (common.size > 1) {
    return 'has addresses that differ in more than host and port: give them one scheme, user, password and path';
  }
  const [url] = urls;
  const hasCredentials = url?.username !== '' || url.password !== '';
  switch (kind) {
    case 'single':
      return urls.length > 1
        ? 'has several addresses: set REDIS_TOPOLOGY to cluster or sentinel'
        : undefined;
    case 'cluster':
      return Number(url?.pathname.slice(1)) > 0
        ? 'names a database, of which a cluster has none: leave the path out'
        : undefined;
    case 'sentinel':
      return hasCredentials
        ? 'has a user or password: set REDIS_PASSWORD for the Redis itself, and REDIS_SENTINEL_PASSWORD for the sentinels'
        : undefined;
  }
}

function credentialsIn({ username, password }: URL): RedisCredentials | undefined {
  if (username === '' && password === '') return undefined;
  return {
    username: username === '' ? undefined : decodeURIComponent(username),
    password: decodeURIComponent(password),
  };
}

function addressIn(url: URL | null, kind: ReadTopology['kind']): RedisAddress {
  const port = kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT;
  return {
    // An IPv6 address stands in brackets.
    host: url?.hostname.replace(/^\[|\]$/g, '') ?? '',
    port: url === null || url.port === '' ? port : Number(url.port),
  };
}

function bytesOf(text: string): Uint8Array | undefined {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex');
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}
