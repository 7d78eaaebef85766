import type { IncomingMessage } from 'node:http';

/** How many reads of {@link READ_BYTES} a turn of the event loop has. */
const READS_A_TURN = 4;

/** The most that Node reads of a connection at once, and holds of a body that waits. */
export const READ_BYTES = 64 * 1024;

interface Waiter {
  resume(): void;
}

/**
 * Reads all bodies together: a few reads per turn of the event loop, one caller after the other. Node by itself reads
 * everything that has arrived in one turn, and another caller's request takes several turns until it is answered.
 */
export class BodyPace {
  /** Keyed by caller; the next one first. */
  readonly #waiting = new Map<string, Waiter[]>();

  /** To be called with a chunk of a body that has more to come, and that nothing else has paused. */
  await(body: IncomingMessage, caller: string): void {
    body.pause();
    this.#add(body, caller);
  }

  /** Calls `begin` in the caller's turn, which takes the place of a read. */
  turn(caller: string, begin: () => void): void {
    this.#add({ resume: begin }, caller);
  }

  #add(waiter: Waiter, caller: string): void {
    if (this.#waiting.size === 0) setImmediate(this.#turn);
    const waiting = this.#waiting.get(caller);
    if (waiting === undefined) this.#waiting.set(caller, [waiter]);
    else waiting.push(waiter);
  }

  readonly #turn = (): void => {
    for (let left = READS_A_TURN; left > 0; left -= 1) this.#next()?.resume();
    if (this.#waiting.size > 0) setImmediate(this.#turn);
  };

  #next(): Waiter | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [caller, waiting] = first;
    this.#waiting.delete(caller);
    const next = waiting.shift();
    if (waiting.length > 0) this.#waiting.set(caller, waiting);
    return next;
  }
}
