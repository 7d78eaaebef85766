import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';
import { errorName } from '../domain/errors.ts';
import type { SpanOutcome } from './metricDefinitions.ts';

/** Spans that may wait to be sent: 4 MB at 2 KB each. Further ones are dropped. */
export const MAX_WAITING = 2048;

const BATCH = 512;

/** The longest wait of a span. */
const EVERY_MS = 5000;

export interface SpanTarget {
  /** Returns why it failed; `undefined` where it was sent. */
  send(spans: readonly ReadableSpan[]): Promise<string | undefined>;
  /** Reports the outcome of each span once. */
  report(outcome: SpanOutcome, spans: number, reason?: string): void;
}

/** Sends ended spans, a batch at a time. While the collector is slow, further ones are dropped; no request waits. */
export class SpanQueue implements SpanProcessor {
  readonly #target: SpanTarget;
  #waiting: ReadableSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isClosed = false;

  constructor(target: SpanTarget) {
    this.#target = target;
  }

  onStart(): void {
    // Only spans that have ended are sent.
  }

  onEnd(span: ReadableSpan): void {
    if (this.#isClosed || this.#waiting.length >= MAX_WAITING) {
      this.#target.report('dropped', 1);
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= BATCH) this.#sending ??= this.#send(BATCH);
    else this.#flushLater();
  }

  async forceFlush(): Promise<void> {
    await this.#sending;
    if (this.#waiting.length > 0) this.#sending ??= this.#send(1);
    await this.#sending;
  }

  shutdown(): Promise<void> {
    this.#isClosed = true;
    return this.forceFlush();
  }

  drop(): void {
    const { length } = this.#waiting;
    this.#waiting = [];
    if (length > 0) this.#target.report('dropped', length);
  }

  /** Sends batches while at least this many wait. */
  async #send(atLeast: number): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#waiting.length >= atLeast) {
      const batch = this.#waiting.splice(0, BATCH);
      // A batch whose sending throws or rejects is lost; the next are sent.
      const sending = async () => this.#target.send(batch);
      const reason = await sending().catch(errorName);
      this.#target.report(reason === undefined ? 'sent' : 'failed', batch.length, reason);
    }
    this.#sending = undefined;
    if (this.#waiting.length > 0 && !this.#isClosed) this.#flushLater();
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => {
      // Cleared before the flush: otherwise the next timer would not be set.
      this.#timer = undefined;
      void this.forceFlush();
    }, EVERY_MS).unref();
  }
}
