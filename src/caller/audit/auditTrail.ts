import type { Clock } from '../../clock.ts';
import { AuditFile } from './auditFile.ts';
import type { AuditEntry } from './entry.ts';

/** A disk that takes longer is taken for broken. */
const TIMEOUT_MS = 2000;

/** Adds text to the end of the trail; rejects when not all of it is written. */
export type Append = (text: string) => Promise<void>;

/** Adds it to a file. */
export function toFile(path: string, clock: Clock): Append {
  const file = new AuditFile(path, clock);
  return (text) => file.append(text);
}

/** Standard output, beside the log; whoever collects it tells the two apart by the member `audit`. */
export const toStdout: Append = (text) =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error instanceof Error) reject(error);
      else resolve();
    });
  });

/** Lines that go out together. */
interface Batch extends PromiseWithResolvers<void> {
  text: string;
}

/** Why nobody waits for the time to run out any more. */
const WRITTEN = 'written';

/** An append-only trail of JSON lines. What comes while a write is under way goes out with the next. */
export class AuditTrail {
  readonly #append: Append;
  readonly #clock: Clock;
  #waiting: Batch | undefined;
  #isWriting = false;
  /** After a write that failed, half a line may stand at the end. */
  #isTorn = false;

  constructor(append: Append, clock: Clock) {
    this.#append = append;
    this.#clock = clock;
  }

  /** Resolves when the entry is written; rejects when it cannot be. */
  write(entry: AuditEntry): Promise<void> {
    const batch = (this.#waiting ??= { text: '', ...Promise.withResolvers<void>() });
    batch.text += `${JSON.stringify(entry)}\n`;
    if (!this.#isWriting) void this.#writeAll();
    return batch.promise;
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    for (let batch = this.#waiting; batch !== undefined; batch = this.#waiting) {
      this.#waiting = undefined;
      try {
        await this.#appendInTime((this.#isTorn ? '\n' : '') + batch.text);
        this.#isTorn = false;
        batch.resolve();
      } catch (error) {
        this.#isTorn = true;
        batch.reject(error);
      }
    }
    this.#isWriting = false;
  }

  async #appendInTime(text: string): Promise<void> {
    const written = new AbortController();
    const tooLate = this.#clock.sleep(TIMEOUT_MS, written.signal).then(
      () => Promise.reject(new Error('The audit trail takes too long.')),
      () => undefined,
    );
    try {
      await Promise.race([this.#append(text), tooLate]);
    } finally {
      written.abort(WRITTEN);
    }
  }
}
