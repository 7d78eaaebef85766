import type { Clock } from '../../clock.ts';
import { AbortListeners, type Abortable } from '../abortListeners.ts';

/** How much may be under way at a time, and how much may wait for it. */
export interface BulkheadSize {
  readonly permits: number;
  readonly queue: number;
}

/** Until when somebody is worth working for. */
export interface Urgency {
  /** On the monotonic clock. It may move on while work is shared and more requests join. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Set where more requests may join: then an exchange under way ends by the signal alone. */
  readonly isShared?: boolean | undefined;
}

/** Why work was not done: no room to wait in, or no time left once it would have been its turn. */
export type TurnedAway = 'full' | 'late';

/** Somebody's place in the queue. */
interface Ticket extends Abortable {
  readonly urgency: Urgency;
  call(turn: 'now' | 'late'): void;
}

/** Weighs the last piece of work against all before it. */
const SMOOTHING = 0.1;

/**
 * Keeps one kind of work from taking all there is. When the queue is full, whoever has waited longest
 * and cannot make its deadline any more gives way; if all can, the newcomer is turned away.
 */
export class Bulkhead {
  readonly #size: BulkheadSize;
  readonly #clock: Clock;
  readonly #waiting = new Set<Ticket>();
  readonly #abortListeners = new AbortListeners();
  #underWay = 0;
  #typicalMs = 0;

  constructor(size: BulkheadSize, clock: Clock) {
    this.#size = size;
    this.#clock = clock;
  }

  /** Does the work when there is room for it, or else what is told why it was not done. */
  async run<T>(
    urgency: Urgency,
    work: () => Promise<T>,
    otherwise: (turnedAway: TurnedAway) => T,
  ): Promise<T> {
    if (this.#underWay < this.#size.permits) {
      this.#underWay += 1;
    } else {
      const turn = await this.#wait(urgency);
      if (turn !== 'now') return otherwise(turn);
    }
    const startedAtMs = this.#clock.monotonicMs();
    try {
      return await work();
    } finally {
      this.#typicalMs += SMOOTHING * (this.#clock.monotonicMs() - startedAtMs - this.#typicalMs);
      this.#next();
    }
  }

  #wait(urgency: Urgency): Promise<'now' | TurnedAway> {
    if (this.#waiting.size >= this.#size.queue && !this.#dropOldestLate()) {
      return Promise.resolve('full');
    }
    const { signal } = urgency;
    return new Promise((resolve) => {
      const ticket: Ticket = {
        urgency,
        call: (turn) => {
          this.#waiting.delete(ticket);
          listeners?.delete(ticket);
          resolve(turn);
        },
        abort: () => ticket.call('late'),
      };
      const listeners =
        signal === undefined ? undefined : this.#abortListeners.of(signal).add(ticket);
      this.#waiting.add(ticket);
    });
  }

  #dropOldestLate(): boolean {
    const nowMs = this.#clock.monotonicMs();
    for (const ticket of this.#waiting) {
      if (nowMs + this.#typicalMs > ticket.urgency.deadlineMs) {
        ticket.call('late');
        return true;
      }
    }
    return false;
  }

  /** Hands the permit on to whoever has waited longest and still has time. */
  #next(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const ticket of this.#waiting) {
      if (nowMs < ticket.urgency.deadlineMs) {
        ticket.call('now');
        return;
      }
      ticket.call('late');
    }
    this.#underWay -= 1;
  }
}
