import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../clock.ts';
import type { OnConnected, TlsConnector } from './tlsConnector.ts';

/** An operator counts sockets. */
const MAX_SPARES = 100;

/** Below the idle limit of any server that is known; one that closes them sooner is learnt from. */
const LIFE_MS = 2000;

/** Where spares die sooner than that, none are kept for a while. */
const MIN_LIFE_MS = 200;
const WITHOUT_FOR_MS = 10 * 60_000;

/** A burst is over when nothing was taken for so long: handshakes would take its processor time. */
const QUIET_MS = 60;

/** So few taken in that time are replaced at once. */
const FEW = 4;

/**
 * Connections over TLS that are ready and have carried nothing, for exchanges that must have a fresh one:
 * as many as the latest burst took at a time, where bursts follow each other within a spare's life.
 */
export class SpareConnections {
  readonly #connector: TlsConnector;
  readonly #clock: Clock;
  readonly #maxConnections: number;
  readonly #maxSpares: number;
  /** From the oldest to the newest. */
  readonly #spares = new Map<TLSSocket, Spare>();
  #quiet: NodeJS.Timeout | undefined;
  /** When the latest were taken, within `QUIET_MS`. */
  #takenAtMs: number[] = [];
  /** The most taken within `QUIET_MS`, since the burst began. */
  #peak = 0;
  #burstBeganAtMs = -Infinity;
  #burstEndedAtMs = -Infinity;
  #isWanted = false;
  #connecting = 0;
  /** Handed over, or being made for an exchange, and not closed yet. */
  #inUse = 0;
  /** How many spares are to be there once those in use leave room. */
  #owed = 0;
  #lifeMs = LIFE_MS;
  #withoutUntilMs = -Infinity;
  /** One more with each renewal: what was being made before it is not kept. */
  #generation = 0;
  #isClosed = false;

  constructor(connector: TlsConnector, clock: Clock, maxConnections: number) {
    this.#connector = connector;
    this.#clock = clock;
    this.#maxConnections = maxConnections;
    this.#maxSpares = Math.min(MAX_SPARES, maxConnections);
  }

  /** How many are ready. */
  get count(): number {
    return this.#spares.size;
  }

  /** Hands over a connection that has carried nothing: a spare, or a new one. */
  take(onConnected: OnConnected): void {
    this.#count();
    this.#handOver(onConnected);
  }

  /** Keeps a connection that has carried nothing. */
  add(socket: TLSSocket): void {
    const isRoom = this.#spares.size + this.#inUse < this.#maxConnections;
    if (this.#isClosed || !isRoom || this.#spares.size >= this.#maxSpares) {
      socket.destroy();
      return;
    }
    const readyAtMs = this.#clock.monotonicMs();
    const closed = (): void => this.#closedByServer(socket, readyAtMs);
    const spare = {
      closed,
      timer: setTimeout(() => this.#drop(socket), this.#lifeMs).unref(),
    };
    // A server that speaks before it is asked says goodbye: 408, or the end.
    socket.on('readable', closed).on('close', closed).unref();
    this.#spares.set(socket, spare);
  }

  /** Keeps none that was made until now. */
  renew(): void {
    this.#generation += 1;
    for (const socket of this.#spares.keys()) this.#drop(socket);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#quiet);
    for (const socket of this.#spares.keys()) this.#drop(socket);
  }

  /** The newest goes first: it is the least likely to be closed just now. */
  #handOver(onConnected: OnConnected): void {
    const socket = [...this.#spares.keys()].at(-1);
    this.#inUse += 1;
    if (socket === undefined) {
      this.#connector.connect(['http/1.1'], (connected) => {
        if (connected instanceof Error) this.#released();
        else connected.once('close', () => this.#released());
        onConnected(connected);
      });
      return;
    }
    const spare = this.#forget(socket);
    socket.once('close', () => this.#released());
    afterReading(() => {
      const isUsable = !socket.destroyed && socket.readable && socket.readableLength === 0;
      socket.off('readable', spare?.closed ?? ignore).off('close', spare?.closed ?? ignore);
      if (isUsable) {
        onConnected(socket.ref());
        return;
      }
      socket.destroy();
      this.#handOver(onConnected);
    });
  }

  #count(): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#takenAtMs.length === 0) this.#burstBeganAtMs = nowMs;
    // A spare that nothing takes is a handshake for nothing.
    const isFollowed = this.#burstBeganAtMs - this.#burstEndedAtMs < this.#lifeMs;
    const isLong = nowMs - this.#burstBeganAtMs > QUIET_MS;
    this.#isWanted = (isFollowed || isLong) && nowMs >= this.#withoutUntilMs;
    this.#takenAtMs = this.#takenAtMs.filter((atMs) => nowMs - atMs < QUIET_MS);
    if (this.#takenAtMs.length < this.#maxSpares) this.#takenAtMs.push(nowMs);
    this.#peak = Math.max(this.#peak, this.#takenAtMs.length);
    if (this.#quiet === undefined) {
      this.#quiet = setTimeout(() => this.#endBurst(), QUIET_MS).unref();
    } else {
      this.#quiet.refresh();
    }
    if (this.#takenAtMs.length <= FEW) setImmediate(() => this.#replaceFew());
  }

  /** Unless more are being taken: then it waits until they are through. */
  #replaceFew(): void {
    if (this.#takenAtMs.length <= FEW) this.#fill(this.#takenAtMs.length);
  }

  #endBurst(): void {
    this.#fill(this.#peak);
    this.#takenAtMs = [];
    this.#peak = 0;
    this.#burstEndedAtMs = this.#clock.monotonicMs();
  }

  #fill(wanted: number): void {
    this.#owed = 0;
    if (!this.#isWanted || this.#isClosed) return;
    const unused = this.#spares.size + this.#connecting;
    const missing = Math.min(wanted, this.#maxSpares) - unused;
    const room = this.#maxConnections - this.#inUse - unused;
    if (missing > room) this.#owed = wanted;
    for (let made = 0; made < Math.min(missing, room); made += 1) this.#make();
  }

  /** An exchange that waited for room goes first: it takes its connection in this turn of the event loop. */
  #released(): void {
    this.#inUse -= 1;
    if (this.#owed > 0) setImmediate(() => this.#fill(this.#owed));
  }

  #make(): void {
    const generation = this.#generation;
    this.#connecting += 1;
    this.#connector.connect(['http/1.1'], (connected) => {
      this.#connecting -= 1;
      if (connected instanceof Error) return;
      if (generation === this.#generation) this.add(connected);
      else connected.destroy();
    });
  }

  #closedByServer(socket: TLSSocket, readyAtMs: number): void {
    const nowMs = this.#clock.monotonicMs();
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
    const spare = this.#forget(socket);
    if (spare !== undefined) socket.off('readable', spare.closed).off('close', spare.closed);
    socket.destroy();
  }

  #forget(socket: TLSSocket): Spare | undefined {
    const spare = this.#spares.get(socket);
    clearTimeout(spare?.timer);
    this.#spares.delete(socket);
    return spare;
  }
}

interface Spare {
  /** Hears of whatever the server does with it. */
  readonly closed: () => void;
  /** Ends it when its life is over. */
  readonly timer: NodeJS.Timeout;
}

/**
 * Once what has arrived by now is read, a socket's end too. The event loop reads between two of these calls;
 * after the first alone it may not have: what came while it was busy would be taken for the reply.
 */
function afterReading(handle: () => void): void {
  setImmediate(() => setImmediate(handle));
}

function ignore(): void {
  // Nothing to do.
}
