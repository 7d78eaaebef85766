import type { Socket } from 'node:net';

/** How many are read at a time. One poll of the event loop reads all that have something. */
const MAX_READ = 16;

/** How many of those set aside are read next, and how often: all of thousands within seconds, and few a turn. */
const READ_NEXT = 2;
const NEXT_AFTER_MS = 2;

/**
 * Connections without a request so far. Node accepts one a turn of the event loop, and reads all that it has accepted:
 * thousands that are silent at first may send their requests in one turn, and every other caller would wait for it.
 * Beyond a few, the one that has been silent for longest is set aside, and read again a little later.
 */
export class NewConnections {
  /** Both in the order in which they came there. */
  readonly #read = new Set<Socket>();
  readonly #aside = new Set<Socket>();
  #isDue = false;

  add(socket: Socket): void {
    this.#read.add(socket);
    const [silent] = this.#read;
    if (this.#read.size <= MAX_READ || silent === undefined) return;
    this.#read.delete(silent);
    this.#aside.add(silent.pause());
    this.#schedule();
  }

  /** To be called with its first request, and at its end. */
  remove(socket: Socket): void {
    this.#read.delete(socket);
    this.#aside.delete(socket);
  }

  #schedule(): void {
    if (this.#isDue || this.#aside.size === 0) return;
    this.#isDue = true;
    setTimeout(this.#readNext, NEXT_AFTER_MS);
  }

  readonly #readNext = (): void => {
    this.#isDue = false;
    let left = READ_NEXT;
    for (const socket of this.#aside) {
      if (left === 0) break;
      left -= 1;
      this.#aside.delete(socket);
      this.add(socket.resume());
    }
    this.#schedule();
  };
}
