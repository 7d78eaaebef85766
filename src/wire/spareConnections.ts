import type { TLSSocket } from 'node:tls';
import type { Clock } from '../system/clock.ts';
import type { OnConnected, TlsConnector } from './tlsConnector.ts';

/** The most spare connections: operators count sockets. */
const MAX_SPARES = 100;

/** Below the idle limit of known servers; shortened where a server closes them sooner. */
const LIFE_MS = 2000;

/** Where a server closes spare connections sooner, none are kept for a while. */
const MIN_LIFE_MS = 200;
const WITHOUT_FOR_MS = 10 * 60_000;

/** In a longer burst, connections that were returned are used again, and need no spare. */
const MAX_BURST_MS = 500;

/** Up to this many taken within that time are replaced one by one, without waiting until the connections are idle. */
const SMALL_BURST = 4;
const SMALL_BURST_MS = 60;

/**
 * How long after it was taken a connection is replaced: a handshake that began together with the exchange would take
 * the processor first.
 */
const TOGETHER_MS = 5;

interface SpareParts {
  readonly connector: TlsConnector;
  readonly clock: Clock;
  readonly idleDetector: IdleDetector;
  /** The limit on spares and connections in use together. */
  readonly connections: number;
}

/**
 * Connections over TLS that are ready and have carried nothing: as many as the latest burst took, where bursts follow each
 * other within a spare's life (docs/decisions/0016).
 */
export class SpareConnections {
  readonly #parts: SpareParts;
  readonly #maxSpares: number;
  readonly #spares = new Map<TLSSocket, { closed: () => void; timer: NodeJS.Timeout }>();
  readonly #ignoreIdle: () => void;
  /** When the latest connections were taken, one more than {@link SMALL_BURST}. */
  readonly #latestAtMs: number[] = [];
  /** How many were taken in this burst, and the most that were in use at a time. */
  #taken = 0;
  #mostInUse = 0;
  #burstBeganAtMs = -Infinity;
  #burstEndedAtMs = -Infinity;
  #isWanted = false;
  #connecting = 0;
  /** Connections that were handed over, or are being made for an exchange, and are not closed yet. */
  #inUse = 0;
  #lifeMs = LIFE_MS;
  #withoutUntilMs = -Infinity;
  /** Taken connections that are about to be replaced one by one. */
  #toReplace = 0;
  #isClosed = false;

  constructor(parts: SpareParts) {
    this.#parts = parts;
    this.#ignoreIdle = parts.idleDetector.onIdle(() => this.#endBurst());
    this.#maxSpares = Math.min(MAX_SPARES, parts.connections);
  }

  get count(): number {
    return this.#spares.size;
  }

  /** Hands over a connection that has carried nothing: a spare, or a new one. */
  take(onConnected: OnConnected): void {
    this.#inUse += 1;
    this.#count();
    this.#handOver(onConnected);
  }

  add(socket: TLSSocket): void {
    const hasRoom = this.#spares.size + this.#inUse < this.#parts.connections;
    if (this.#isClosed || !hasRoom || this.#spares.size >= this.#maxSpares) {
      socket.destroy();
      return;
    }
    const readyAtMs = this.#parts.clock.monotonicMs();
    const closed = (): void => this.#closedByServer(socket, readyAtMs);
    const timer = setTimeout(() => this.#drop(socket), this.#lifeMs).unref();
    // A server that sends before any request is about to close: 408, or its end.
    socket.on('readable', closed).on('close', closed).unref();
    this.#spares.set(socket, { closed, timer });
  }

  renew(): void {
    for (const socket of this.#spares.keys()) this.#drop(socket);
  }

  close(): void {
    this.#isClosed = true;
    this.#ignoreIdle();
    for (const socket of this.#spares.keys()) this.#drop(socket);
  }

  /** The newest goes first: it is the least likely to be closed at this moment. */
  #handOver(onConnected: OnConnected): void {
    const newest = [...this.#spares].at(-1);
    if (newest === undefined) {
      this.#parts.connector.connect(['http/1.1'], (connected) => {
        if (connected instanceof Error) this.#released();
        else connected.once('close', () => this.#released());
        this.#parts.idleDetector.touch();
        onConnected(connected);
      });
      return;
    }
    const [socket, { closed }] = newest;
    this.#forget(socket);
    afterReading(() => {
      const isUsable = !socket.destroyed && socket.readable && socket.readableLength === 0;
      socket.off('readable', closed).off('close', closed);
      if (isUsable) {
        onConnected(socket.once('close', () => this.#released()).ref());
        return;
      }
      socket.destroy();
      this.#handOver(onConnected);
    });
  }

  #count(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    if (this.#taken === 0) this.#burstBeganAtMs = nowMs;
    this.#taken += 1;
    this.#mostInUse = Math.max(this.#mostInUse, this.#inUse);
    this.#latestAtMs.push(nowMs);
    if (this.#latestAtMs.length > SMALL_BURST + 1) this.#latestAtMs.shift();
    // An unused spare is a wasted handshake.
    const isFollowed = this.#burstBeganAtMs - this.#burstEndedAtMs < this.#lifeMs;
    const isLong = nowMs - this.#burstBeganAtMs > SMALL_BURST_MS;
    this.#isWanted = (isFollowed || isLong) && nowMs >= this.#withoutUntilMs;
    this.#parts.idleDetector.touch();
    if (this.#recentlyTaken(nowMs) > SMALL_BURST) return;
    const isFirst = this.#toReplace === 0;
    // No spare was ready in time: the next one would be late as well.
    this.#toReplace += this.#spares.size === 0 ? 2 : 1;
    if (isFirst) setTimeout(() => this.#replaceTaken(), TOGETHER_MS).unref();
  }

  #recentlyTaken(nowMs: number): number {
    return this.#latestAtMs.filter((atMs) => nowMs - atMs < SMALL_BURST_MS).length;
  }

  /**
   * Replaces the few connections that were taken. Where more are being taken, the lull after them replaces these as
   * well.
   */
  #replaceTaken(): void {
    const wanted = Math.min(this.#unused + this.#toReplace, SMALL_BURST);
    this.#toReplace = 0;
    if (this.#recentlyTaken(this.#parts.clock.monotonicMs()) <= SMALL_BURST) this.#fill(wanted);
  }

  #endBurst(): void {
    if (this.#taken === 0) return;
    const nowMs = this.#parts.clock.monotonicMs();
    const isShort = nowMs - this.#burstBeganAtMs < MAX_BURST_MS;
    // Where those in use leave no room, the burst ends in the lull after they were closed.
    if (!this.#fill(isShort ? this.#taken : this.#mostInUse)) return;
    this.#taken = 0;
    this.#mostInUse = 0;
    this.#burstEndedAtMs = nowMs;
  }

  /** Makes the missing connections; returns whether there is room for them all. */
  #fill(wanted: number): boolean {
    if (!this.#isWanted || this.#isClosed) return true;
    const unused = this.#unused;
    const missing = Math.min(wanted, this.#maxSpares) - unused;
    const room = this.#parts.connections - this.#inUse - unused;
    for (let made = 0; made < Math.min(missing, room); made += 1) this.#make();
    return missing <= room;
  }

  get #unused(): number {
    return this.#spares.size + this.#connecting;
  }

  #released(): void {
    this.#inUse -= 1;
    this.#parts.idleDetector.touch();
  }

  #make(): void {
    this.#connecting += 1;
    this.#parts.connector.connect(['http/1.1'], (connected) => {
      this.#connecting -= 1;
      if (!(connected instanceof Error)) this.add(connected);
    });
  }

  #closedByServer(socket: TLSSocket, readyAtMs: number): void {
    const nowMs = this.#parts.clock.monotonicMs();
    this.#lifeMs = Math.min(this.#lifeMs, (nowMs - readyAtMs) / 2);
    if (this.#lifeMs < MIN_LIFE_MS) {
      this.#lifeMs = LIFE_MS;
      this.#withoutUntilMs = nowMs + WITHOUT_FOR_MS;
      this.#isWanted = false;
      for (const other of this.#spares.keys()) this.#drop(other);
    }
    this.#drop(socket);
  }

  #drop(socket: TLSSocket): void {
    const closed = this.#spares.get(socket)?.closed;
    this.#forget(socket);
    if (closed !== undefined) socket.off('readable', closed).off('close', closed);
    socket.destroy();
  }

  #forget(socket: TLSSocket): void {
    clearTimeout(this.#spares.get(socket)?.timer);
    this.#spares.delete(socket);
  }
}

/** Calls the function once what has arrived was read: the event loop reads between two immediates, but not always. */
function afterReading(handle: () => void): void {
  setImmediate(() => setImmediate(handle));
}

/** An endpoint is idle when its operator's connections were neither taken nor returned for this time. */
const QUIET_MS = 60;

/**
 * Reports when an operator's connections are idle. All its endpoints share one: a token is followed by its
 * lookup, and handshakes of one endpoint between the two would take processor time from the other.
 */
export class IdleDetector {
  readonly #quietMs: number;
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(quietMs = QUIET_MS) {
    this.#quietMs = quietMs;
  }

  touch(): void {
    if (this.#timer === undefined) {
      this.#timer = setTimeout(() => {
        for (const listener of this.#listeners) listener();
      }, this.#quietMs).unref();
    } else {
      this.#timer.refresh();
    }
  }

  onIdle(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
