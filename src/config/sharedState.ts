import { isDeepStrictEqual } from 'node:util';
import type {
  RedisAddress,
  RedisCredentials,
  RedisSettings,
  RedisTls,
  RedisTopology,
} from '../sharedState/redis.ts';
import type { StateKeys } from '../sharedState/stateSeals.ts';
import { readMaterial, type ConnectionTexts } from '../wire/connectionFiles.ts';
import type { EnvironmentReader } from './environment.ts';
import type { VariableName } from './settings.ts';

const STATE_KEY_BYTES = 32;
const MAX_STATE_KEYS = 2;
const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

/** `undefined` where there is no Redis. */
export function readSharedState(read: EnvironmentReader) {
  const stateKeys = readStateKeys(read);
  let first: RedisSettings | undefined;
  const { value: redis, fromFiles: redisFromFiles } = read.made((reader) => {
    const found = readRedis(reader);
    if (first !== undefined && found !== undefined && !isSamePlace(found, first)) {
      reader.problem('REDIS_URL', 'names another Redis, which takes a restart');
    }
    first ??= found;
    return found;
  });
  if (redis === undefined) return undefined;
  read.requireSecret(
    'STATE_KEY',
    'without it, a writer in the Redis of REDIS_URL could forge answers and consents',
  );
  return {
    /** With credentials: never shown. */
    redis,
    /** The same with the present contents of its files. */
    redisFromFiles,
    /** The keys that seal the state are derived from these. */
    stateKeys,
  };
}

/** Whether they differ only in logins and certificates. Pure. */
function isSamePlace(one: RedisSettings, other: RedisSettings): boolean {
  const [here, there] = [one, other].map(({ topology }) =>
    topology.kind === 'sentinel' ? { ...topology, sentinelCredentials: undefined } : topology,
  );
  return isDeepStrictEqual(here, there);
}

/** Two keys are accepted during a rotation, separated by a comma. */
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

/** `redis+sentinel://user:password@host:26379,host/mymaster/0?serverName=…`, most parts of which may be left out. */
const ADDRESS =
  /^redis(?<tls>s?)(?:\+(?<kind>cluster|sentinel))?:\/\/(?:(?<login>[^/?#]*)@)?(?<hosts>[^/?#@]+)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?$/;

const QUERY_NAMES = ['serverName', 'sentinelUsername', 'sentinelPassword'];

function readRedis(read: EnvironmentReader): RedisSettings | undefined {
  const tls = readTls(read);
  const text = read.secret('REDIS_URL');
  if (text === undefined) return undefined;
  const groups = ADDRESS.exec(text)?.groups ?? {};
  const isTls = groups['tls'] === 's';
  if (!isTls && groups['hosts'] !== undefined && (tls.ca ?? tls.client) !== undefined) {
    read.problem('REDIS_URL', 'must start with rediss where REDIS_TLS_… is set');
  }
  const query = new URLSearchParams(groups['query']);
  const serverName = query.get('serverName') ?? undefined;
  try {
    const topology = topologyIn(groups, query);
    if (typeof topology !== 'string') {
      const credentials = credentialsIn(groups['login'] ?? '');
      return { topology, credentials, tls: isTls ? { ...tls, serverName } : undefined };
    }
    read.problem('REDIS_URL', topology);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    const where = 'has a user or password that is not percent-encoded';
    read.problem('REDIS_URL', `${where}: write %25 for a percent sign`);
  }
  return undefined;
}

const NO_ADDRESS =
  'must be an address such as redis://user:password@host:6379/0, rediss://…, redis+cluster://a:7000,b:7000 or redis+sentinel://a:26379,b:26379/mymaster';

const NO_DATABASE = 'has a path that names no database: leave it out, or give a number, such as /0';

/**
 * The servers of an address, or its problem in words that do not quote it. Pure.
 *
 * @throws {URIError} where the name of the master is not percent-encoded
 */
function topologyIn(
  groups: Readonly<Record<string, string | undefined>>,
  query: URLSearchParams,
): RedisTopology | string {
  const { kind = 'single', hosts = '', path = '' } = groups;
  const found = hosts.split(',').map((host) => addressIn(host.trim(), kind));
  const servers = found.filter((one) => one !== undefined);
  const [server] = servers;
  if (server === undefined || servers.length < found.length) return NO_ADDRESS;
  if ([...query.keys()].some((name) => !QUERY_NAMES.includes(name))) {
    return `has a query of other names than ${QUERY_NAMES.join(', ')}`;
  }
  if (kind !== 'sentinel' && (query.has('sentinelUsername') || query.has('sentinelPassword'))) {
    return 'has a login of sentinels: that is for redis+sentinel://';
  }
  const parts = path.split('/').filter((part) => part !== '');
  const masterName = kind === 'sentinel' ? parts.shift() : undefined;
  const [database = '0', ...others] = parts;
  if (kind === 'cluster') {
    return database === '0'
      ? { kind, servers }
      : 'names a database, which a cluster does not have: leave the path out';
  }
  if (kind === 'sentinel' && masterName === undefined) {
    return 'lacks the name under which the sentinels know the master: redis+sentinel://host:26379/mymaster';
  }
  if (masterName === undefined && servers.length > 1) {
    return 'has several servers: start it with redis+cluster:// or redis+sentinel://';
  }
  if (!/^\d{1,5}$/.test(database) || others.length > 0) return NO_DATABASE;
  if (masterName === undefined) return { kind: 'single', server, database: Number(database) };
  const password = query.get('sentinelPassword') ?? '';
  const username = query.get('sentinelUsername') ?? undefined;
  return {
    kind: 'sentinel',
    sentinels: servers,
    masterName: decodeURIComponent(masterName),
    sentinelCredentials: password === '' ? undefined : { username, password },
    database: Number(database),
  };
}

/** A password without a user is the default user's. */
function credentialsIn(login: string): RedisCredentials | undefined {
  const [username = '', ...password] = login.split(':');
  if (username === '' && password.length === 0) return undefined;
  return {
    username: username === '' ? undefined : decodeURIComponent(username),
    password: decodeURIComponent(password.join(':')),
  };
}

function addressIn(text: string, kind: string): RedisAddress | undefined {
  const url = URL.parse(`redis://${text}`);
  if (url === null || url.hostname === '' || url.host !== text.toLowerCase()) return undefined;
  const port = kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT;
  // An IPv6 address is in brackets.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { host, port: url.port === '' ? port : Number(url.port) };
}

function readTls(read: EnvironmentReader): Pick<RedisTls, 'ca' | 'client'> {
  const ca = read.file('REDIS_TLS_CA_FILE');
  const cert = read.file('REDIS_TLS_CERT_FILE');
  const key = read.file('REDIS_TLS_KEY_FILE');
  if (read.isSet('REDIS_TLS_CERT_FILE') !== read.isSet('REDIS_TLS_KEY_FILE')) {
    const [missing, set] = cert === undefined ? ['CERT', 'KEY'] : ['KEY', 'CERT'];
    const both = 'and a client certificate needs both';
    read.problem(`REDIS_TLS_${missing}_FILE`, `is missing: REDIS_TLS_${set}_FILE is set, ${both}`);
  }
  const isPair = cert !== undefined && key !== undefined;
  const demand = (name: VariableName, texts: ConnectionTexts): void => {
    const material = readMaterial(texts);
    if (material.kind === 'flawed') read.problem(name, `cannot be used: ${material.flaw}`);
  };
  if (ca !== undefined) demand('REDIS_TLS_CA_FILE', { ca });
  if (isPair) demand('REDIS_TLS_CERT_FILE', { certificate: cert, key });
  return { ca, client: isPair ? { cert, key } : undefined };
}

function bytesOf(text: string): Uint8Array | undefined {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex');
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}
