import { createHmac } from 'node:crypto';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { ClockElsewhere } from '../system/clock.ts';

export interface RedisSettings {
  readonly topology: RedisTopology;
  /** For the servers that hold data. */
  readonly credentials: RedisCredentials | undefined;
  /** Without it connections are in clear text. */
  readonly tls: RedisTls | undefined;
}

export type RedisTopology =
  | { readonly kind: 'single'; readonly server: RedisAddress; readonly database: number }
  /** Redis Cluster; any of its servers lists the others. */
  | { readonly kind: 'cluster'; readonly servers: readonly RedisAddress[] }
  | {
      readonly kind: 'sentinel';
      readonly sentinels: readonly RedisAddress[];
      readonly masterName: string;
      /** For the sentinels themselves. */
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

/** Texts are PEM. */
export interface RedisTls {
  /** The trusted authorities, instead of the well-known ones. */
  readonly ca: string | undefined;
  readonly client: { readonly cert: string; readonly key: string } | undefined;
  /** The name in certificates, where it is not the host's. */
  readonly serverName: string | undefined;
}

export function hostAndPort({ host, port }: RedisAddress): string {
  return `${host}:${port}`;
}

export type ScriptValues = readonly (string | number)[];

/**
 * Values, or how they are computed from the clock of the server that holds the keys, by its last reply: the script does
 * not run where that clock was set back since, and the values are computed again.
 */
export type TimedValues = ScriptValues | ((server: ClockElsewhere) => ScriptValues);

/** A Redis in any topology, whose scripts know the time. */
export type Redis = PlainRedis<TimedValues>;

/** Commands are never queued for it, and each ends within a time limit. */
export interface PlainRedis<Values = ScriptValues> {
  /** Starts to connect, and continues until it succeeds; resolves when connected, or after a while. */
  open(): Promise<void>;

  /**
   * Runs a script on at least one key; several keys lie in one slot, by a hash tag.
   *
   * @param timeoutMs a second where absent
   * @throws {SharedStateLost} when it may or may not have run
   * @throws {OutOfMemory} when Redis has no room for what the script writes
   */
  run(
    script: string,
    keys: readonly string[],
    values?: Values,
    timeoutMs?: number,
  ): Promise<unknown>;

  /** The server that holds a key at this moment. */
  serverOf(key: string): string;

  /** The listener is called whenever a server may have lost data: it is back, or another one has taken over. */
  onBack(listener: () => void): void;

  close(): void;
}

export function texts(reply: unknown): string[] {
  return Array.isArray(reply) ? reply.map(String) : [];
}

/** A command without a reply after this time counts as lost. */
export const COMMAND_TIMEOUT_MS = 1000;

/** The shared store is not available; the last command may have been carried out. */
export class SharedStateLost extends Error {
  override readonly name: string = 'SharedStateLost';
}

/** The store has no room for what was to be written. */
export class OutOfMemory extends SharedStateLost {
  override readonly name = 'OutOfMemory';
}

/** For work that can do without the shared store. */
export function unlessLost(error: unknown): undefined {
  if (!(error instanceof SharedStateLost)) throw error;
  return undefined;
}

/** Enough for some twenty masters to have about as many each. With another number, nothing in Redis would be found. */
export const BUCKETS = 256;

/**
 * The keys of one bucket are in one slot of a Redis Cluster and so on one master: one script may change them, and they
 * are lost together with the memory key that shows the loss. It does not depend on STATE_KEY: both names of a thing are
 * in it.
 *
 * @param scope the owner of the things, such as an operator's identity
 */
export function bucketOf(scope: string, thing: string): number {
  return createHmac('sha256', scope).update(thing).digest().readUInt8(0) % BUCKETS;
}

export function bucketOfNumber(number: PhoneNumber): number {
  return bucketOf('number', number);
}

/** The bucket is the hash tag. */
export function keyIn(
  bucket: number,
  kind: 'consent-2' | 'memory-2' | 'facts-2' | 'counts' | 'refusals',
  name: string,
): string {
  return `sim-swap:{${bucket}}:${kind}:${name}`;
}
