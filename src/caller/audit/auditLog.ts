import { open, type FileHandle } from 'node:fs/promises';
import { auditChannel } from '../../log/diagnostics.ts';
import type { Clock } from '../../system/clock.ts';

/** A write that takes longer counts as failed. */
export const AUDIT_TIMEOUT_MS = 2000;
const TIMEOUT_PARTS = 4;

/** The most that may wait for a write to return; further entries are refused at once. */
const MAX_WAITING_CHARACTERS = 4 * 1024 * 1024;

/** Each write wakes a thread, which costs more than the lines: those of two milliseconds are one. */
const BETWEEN_WRITES_MS = 2;

/** Called again only when the previous call has settled. */
interface AuditTarget {
  /** Appends text; rejects when not all of it is written. */
  append(text: string): Promise<void>;
  close?(): Promise<void>;
}

/** The audit log takes too long; the write under way may still succeed. */
class AuditStuck extends Error {
  override readonly name = 'AuditStuck';
}

interface Batch extends PromiseWithResolvers<void> {
  text: string;
  /** Clears its time limit. */
  settled: () => void;
}

/**
 * An append-only log of JSON lines. The lines of one tick are one write; one write is under way at a time, and the next
 * contains the lines that arrived meanwhile, and within two milliseconds after it began. While a write hangs, every entry
 * is refused at once: each write would occupy one of the few threads that Node has for files, DNS and cryptography.
 */
export class AuditLog {
  readonly #target: AuditTarget;
  readonly #clock: Clock;
  #waiting: Batch | undefined;
  #latest: Batch | undefined;
  #isWriting = false;
  #isStuck = false;
  /** After a failed write the file may end with half a line. */
  #isTorn = false;

  constructor(target: AuditTarget, clock: Clock) {
    this.#target = target;
    this.#clock = clock;
  }

  /** Resolves when the line is written; rejects when it cannot be, or takes more than two seconds. */
  write(text: string): Promise<void> {
    const line = `${text}\n`;
    const waiting = this.#waiting?.text.length ?? 0;
    if (this.#isStuck || waiting + line.length > MAX_WAITING_CHARACTERS) {
      return Promise.reject(new AuditStuck());
    }
    const batch = (this.#waiting ??= this.#newBatch());
    batch.text += line;
    if (!this.#isWriting) void this.#writeAll();
    return batch.promise;
  }

  /** Waits for the write under way, unless it hangs, and closes the log. */
  async close(): Promise<void> {
    await this.#latest?.promise.catch(() => undefined);
    if (!this.#isStuck) await this.#target.close?.();
  }

  #newBatch(): Batch {
    const batch = { text: '', settled: () => undefined, ...Promise.withResolvers<void>() };
    this.#latest = batch;
    this.#limit(batch, TIMEOUT_PARTS);
    return batch;
  }

  /**
   * Counts the time limit in parts, of which a stalled process misses only one: a single timer would fire before the
   * process notices that the write has ended.
   */
  #limit(batch: Batch, parts: number): void {
    batch.settled = this.#clock.after(AUDIT_TIMEOUT_MS / TIMEOUT_PARTS, () => {
      if (parts > 1) this.#limit(batch, parts - 1);
      else this.#giveUp(batch);
    });
  }

  #giveUp(batch: Batch): void {
    this.#isStuck = true;
    for (const late of [batch, this.#waiting]) {
      late?.reject(new AuditStuck());
      late?.settled();
    }
    this.#waiting = undefined;
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    await new Promise<void>((resolve) => process.nextTick(resolve));
    for (let batch = this.#waiting; batch !== undefined; batch = this.#waiting) {
      this.#waiting = undefined;
      const begunAtMs = this.#clock.monotonicMs();
      try {
        await this.#target.append((this.#isTorn ? '\n' : '') + batch.text);
        this.#isTorn = false;
        batch.resolve();
      } catch (error) {
        this.#isTorn = true;
        batch.reject(error);
      }
      auditChannel.publish({ tookMs: this.#clock.monotonicMs() - begunAtMs });
      batch.settled();
      this.#isStuck = false;
      const earlyMs = begunAtMs + BETWEEN_WRITES_MS - this.#clock.monotonicMs();
      if (earlyMs > 0) await this.#clock.sleep(earlyMs);
    }
    this.#isWriting = false;
  }
}

/** A renamed file is still written to for this time; opening it for each write would cost more. */
const REOPEN_AFTER_MS = 1000;

/** The file may be rotated at any time. Only its owner may read it. */
export class AuditFile implements AuditTarget {
  readonly #path: string;
  readonly #clock: Clock;
  #opened: { readonly file: FileHandle; readonly atMs: number } | undefined;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** After a failure the file is opened again. One step runs at a time, so that a disk that hangs holds one thread. */
  async append(text: string): Promise<void> {
    const file = await this.#file();
    try {
      await file.appendFile(text);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async #file(): Promise<FileHandle> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#opened !== undefined && nowMs < this.#opened.atMs + REOPEN_AFTER_MS) {
      return this.#opened.file;
    }
    await this.close();
    const file = await open(this.#path, 'a', 0o600);
    this.#opened = { file, atMs: nowMs };
    return file;
  }

  async close(): Promise<void> {
    const file = this.#opened?.file;
    this.#opened = undefined;
    await file?.close().catch(() => undefined);
  }
}

export interface AuditSettings {
  /** The first key hashes numbers; searches use all of them, during a rotation. */
  readonly keys: readonly [string, ...string[]];
  /** Standard output where absent. */
  readonly file: string | undefined;
}
