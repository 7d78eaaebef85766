import type { Clock } from '../../clock.ts';
import type { AuditEntry, AuditStart } from './entry.ts';

/** An entry that is not written by then counts as not written. */
const TIMEOUT_MS = 2000;

/** What waits for a write to return; more is refused at once. */
const MAX_WAITING_CHARACTERS = 4 * 1024 * 1024;

/**
 * Adds text to the end of the audit log; rejects when not all of it is written. It is called again only
 * when the call before has settled, however long that takes.
 */
export type Append = (text: string) => Promise<void>;

/** The audit log takes too long; what was being written may still be written. */
export class AuditStuck extends Error {
  override readonly name = 'AuditStuck';

  constructor() {
    super('The audit log takes too long.');
  }
}

/** Lines that go out together. */
interface Batch extends PromiseWithResolvers<void> {
  text: string;
  /** Ends its timer. */
  readonly settled: AbortController;
}

/**
 * An append-only log of JSON lines. One write is under way at a time; what comes meanwhile goes out with
 * the next. A write that hangs is not joined by another, for each would keep a thread of the few that
 * Node has for files, DNS and cryptography: until it returns, every entry is refused at once.
 */
export class AuditTrail {
  readonly #append: Append;
  readonly #clock: Clock;
  #waiting: Batch | undefined;
  #isWriting = false;
  /** The write under way has made an entry wait too long. */
  #isStuck = false;
  /** After a write that failed, half a line may stand at the end. */
  #isTorn = false;

  constructor(append: Append, clock: Clock) {
    this.#append = append;
    this.#clock = clock;
  }

  /** Resolves when the entry is written; rejects when it cannot be, or takes more than two seconds. */
  write(entry: AuditEntry | AuditStart): Promise<void> {
    if (this.#isStuck) return Promise.reject(new AuditStuck());
    const line = `${JSON.stringify(entry)}\n`;
    const batch = (this.#waiting ??= this.#newBatch());
    if (batch.text.length + line.length > MAX_WAITING_CHARACTERS) {
      return Promise.reject(new AuditStuck());
    }
    batch.text += line;
    if (!this.#isWriting) void this.#writeAll();
    return batch.promise;
  }

  #newBatch(): Batch {
    const batch = { text: '', settled: new AbortController(), ...Promise.withResolvers<void>() };
    this.#clock.sleep(TIMEOUT_MS, batch.settled.signal).then(
      () => {
        this.#isStuck = true;
        batch.reject(new AuditStuck());
        this.#waiting?.reject(new AuditStuck());
        this.#waiting = undefined;
      },
      () => undefined,
    );
    return batch;
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    for (let batch = this.#waiting; batch !== undefined; batch = this.#waiting) {
      this.#waiting = undefined;
      try {
        await this.#append((this.#isTorn ? '\n' : '') + batch.text);
        this.#isTorn = false;
        batch.resolve();
      } catch (error) {
        this.#isTorn = true;
        batch.reject(error);
      }
      batch.settled.abort(SETTLED);
      this.#isStuck = false;
    }
    this.#isWriting = false;
  }
}

/** Handed to `abort` so that it makes no error, with its stack, for each batch. */
const SETTLED = 'settled';
