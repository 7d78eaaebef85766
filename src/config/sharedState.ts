import type { EnvironmentReader } from './environment.ts';

/** The store that several processes share. */
export interface SharedState {
  /** `redis:` or `rediss:`, credentials included: not to be shown. */
  readonly redisUrl: string;
  /** 32 bytes, from which the keys are derived that keep the state secret. */
  readonly stateKey: Uint8Array;
}

const STATE_KEY_BYTES = 32;

/** Reads REDIS_URL and STATE_KEY; `undefined` where there is no Redis. */
export function readSharedState(read: EnvironmentReader): SharedState | undefined {
  const redisUrl = read.secret('REDIS_URL');
  const key = read.secret('STATE_KEY');
  const stateKey = key === undefined ? undefined : bytesOf(key);
  if (key !== undefined && stateKey?.length !== STATE_KEY_BYTES) {
    read.problem(
      'STATE_KEY',
      'must be 32 bytes in base64 or hex: openssl rand -base64 32 makes one',
    );
  }
  if (redisUrl === undefined) return undefined;
  read.requiredSecret('STATE_KEY', 'what lies in the Redis of REDIS_URL is encrypted with it');
  const problem = problemOf(URL.parse(redisUrl));
  if (problem !== undefined) read.problem('REDIS_URL', problem);
  return { redisUrl, stateKey: stateKey ?? new Uint8Array(STATE_KEY_BYTES) };
}

/** What a client would not connect with. */
function problemOf(url: URL | null): string | undefined {
  if (url === null || !/^rediss?:$/.test(url.protocol)) {
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

function bytesOf(text: string): Uint8Array | undefined {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex');
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}
