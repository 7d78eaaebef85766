import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SessionLimits } from './settings.ts';

/** What the provider gave for a person. It never leaves this process. */
export interface Tokens {
  readonly accessToken: string;
  /** On the desk's clock. */
  readonly expiresAtMs: number;
  readonly refreshToken: string | undefined;
  /** What the access token allows, as the provider says. */
  readonly scopes: readonly string[];
}

export type Role = 'analyst' | 'lead';

/** Who signed in. */
export interface Person {
  /** As the provider knows them: another person may have the same name. */
  readonly id: string;
  readonly name: string;
  readonly roles: readonly Role[];
}

/** A person at the desk, from signing in to signing out. */
export interface Session {
  readonly person: Person;
  /** What the page must send with each query and each change. */
  readonly csrfToken: string;
  readonly startedAtMs: number;
  lastUsedAtMs: number;
  tokens: Tokens;
  /** While new tokens are fetched: once for all requests that need them. */
  refreshing: Promise<Tokens | undefined> | undefined;
  /** Signed out, or made way for another: a request that is under way sends nothing more. */
  isOver: boolean;
}

/** 256 bits: too many to guess. */
const ID_BYTES = 32;

/**
 * The sessions of this process, the longest idle first. They are bounded in number and in time, and their
 * ids are kept as hashes: a dump of memory holds none that signs in.
 */
export class Sessions {
  readonly #limits: SessionLimits;
  readonly #monotonicMs: () => number;
  readonly #sessions = new Map<string, Session>();

  constructor(limits: SessionLimits, monotonicMs: () => number) {
    this.#limits = limits;
    this.#monotonicMs = monotonicMs;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Always under a new id: one that was known before the sign-in is worth nothing after it. */
  start(person: Person, tokens: Tokens): string {
    this.#endExpired();
    this.#makeRoomFor(person);
    const id = randomBytes(ID_BYTES).toString('base64url');
    const nowMs = this.#monotonicMs();
    this.#sessions.set(nameOf(id), {
      person,
      csrfToken: randomBytes(ID_BYTES).toString('base64url'),
      startedAtMs: nowMs,
      lastUsedAtMs: nowMs,
      tokens,
      refreshing: undefined,
      isOver: false,
    });
    return id;
  }

  /** The session of this id, which is no longer idle; `undefined` once it has ended. */
  find(id: string | undefined): Session | undefined {
    this.#endExpired();
    if (id === undefined) return undefined;
    const name = nameOf(id);
    const session = this.#sessions.get(name);
    if (session === undefined) return undefined;
    session.lastUsedAtMs = this.#monotonicMs();
    this.#sessions.delete(name);
    this.#sessions.set(name, session);
    return session;
  }

  end(id: string | undefined): void {
    if (id !== undefined) this.#end(nameOf(id));
  }

  /** A person who signs in again and again ends only their own sessions. */
  #makeRoomFor({ id }: Person): void {
    const { maxSessions, maxSessionsPerPerson } = this.#limits;
    const own = [...this.#sessions].filter(([, { person }]) => person.id === id);
    const isFull = this.#sessions.size >= maxSessions;
    if (!isFull && own.length < maxSessionsPerPerson) return;
    const [oldest] = own.length > 0 ? own : this.#sessions;
    if (oldest !== undefined) this.#end(oldest[0]);
  }

  #end(name: string): void {
    const session = this.#sessions.get(name);
    if (session !== undefined) session.isOver = true;
    this.#sessions.delete(name);
  }

  #endExpired(): void {
    const nowMs = this.#monotonicMs();
    const { idleMs, absoluteMs } = this.#limits;
    for (const [name, { startedAtMs, lastUsedAtMs }] of this.#sessions) {
      if (nowMs - lastUsedAtMs >= idleMs || nowMs - startedAtMs >= absoluteMs) {
        this.#end(name);
      }
    }
  }
}

/** Whether a request carries the token of its session. Takes as long for every wrong one. */
export function carriesCsrfToken({ csrfToken }: Session, sent: unknown): boolean {
  if (typeof sent !== 'string') return false;
  return timingSafeEqual(hash('sha256', csrfToken, 'buffer'), hash('sha256', sent, 'buffer'));
}

function nameOf(id: string): string {
  return hash('sha256', id, 'base64url');
}
