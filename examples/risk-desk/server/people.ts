import { hash } from 'node:crypto';
import type { Person } from './sessions.ts';

const HOUR_MS = 3_600_000;

/** What one person has under way and has queried, over all their sessions. */
interface Work {
  running: number;
  hourStartedAtMs: number;
  /** Hashes of the questions of this hour. */
  readonly asked: Set<string>;
}

/** What bounds a person, however often they sign in. */
export class PeopleAtWork {
  readonly #work = new Map<string, Work>();
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Whether one more request of this person may run beside the others; where it may, it ends with `leave`. */
  enter(person: Person, max: number): boolean {
    const work = this.#workOf(person);
    if (work.running >= max) return false;
    work.running += 1;
    return true;
  }

  leave(person: Person): void {
    this.#workOf(person).running -= 1;
  }

  /**
   * Counts a question. Each counts once an hour over all sessions: a repeated one, as of a page
   * that waits for a consent, learns of no further number.
   *
   * @returns in how many seconds it is allowed where `max` others came before it, or else `undefined`
   */
  count(person: Person, question: Uint8Array, max: number): number | undefined {
    const work = this.#workOf(person);
    const name = hash('sha256', question, 'base64url');
    if (work.asked.has(name)) return undefined;
    if (work.asked.size >= max) {
      return Math.ceil((work.hourStartedAtMs + HOUR_MS - this.#monotonicMs()) / 1000);
    }
    work.asked.add(name);
    return undefined;
  }

  #workOf({ id }: Person): Work {
    const nowMs = this.#monotonicMs();
    for (const [name, { running, hourStartedAtMs, asked }] of this.#work) {
      if (nowMs - hourStartedAtMs < HOUR_MS) continue;
      asked.clear();
      if (running === 0) this.#work.delete(name);
    }
    const known = this.#work.get(id);
    if (known !== undefined) {
      if (known.asked.size === 0) known.hourStartedAtMs = nowMs;
      return known;
    }
    const work = { running: 0, hourStartedAtMs: nowMs, asked: new Set<string>() };
    this.#work.set(id, work);
    return work;
  }
}
