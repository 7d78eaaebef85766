import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';
import { errorName } from '../domain/errors.ts';
import type { Delivery } from './otlpSender.ts';
import type { SpanOutcome } from './metricDefinitions.ts';

/** What waits to be sent: a span takes some 2 KB, so that this is 4 MB. More is dropped. */
export const MAX_WAITING = 2048;

const BATCH = 512;

/** And no later than this. */
const EVERY_MS = 5000;

export interface SpanTarget {
  send(spans: readonly ReadableSpan[]): Promise<Delivery>;
  /** Told of all spans, once each. */
  told(outcome: SpanOutcome, spans: number, reason?: string): void;
}

/**
 * Gathers spans that have ended and hands them on, one batch at a time. It is bounded: what comes while a collector
 * does not take what is sent is dropped, and keeps no request waiting.
 */
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
    // What has ended is sent, and nothing else.
  }

  onEnd(span: ReadableSpan): void {
    if (this.#isClosed || this.#waiting.length >= MAX_WAITING) {
      this.#target.told('dropped', 1);
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
    if (length > 0) this.#target.told('dropped', length);
  }

  /** Sends batches for as long as at least so many wait. */
  async #send(atLeast: number): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#waiting.length >= atLeast) {
      const batch = this.#waiting.splice(0, BATCH);
      const delivery = await this.#deliver(batch);
      const reason = delivery.kind === 'failed' ? delivery.reason : undefined;
      this.#target.told(delivery.kind, batch.length, reason);
    }
    this.#sending = undefined;
    if (this.#waiting.length > 0 && !this.#isClosed) this.#flushLater();
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => {
      // It is over, whatever the flush finds: one that stayed set would keep the next from being set.
      this.#timer = undefined;
      void this.forceFlush();
    }, EVERY_MS).unref();
  }

  /** A batch that breaks what sends it, at once or later, is lost, and no other with it. */
  async #deliver(batch: readonly ReadableSpan[]): Promise<Delivery> {
    try {
      return await this.#target.send(batch);
    } catch (error) {
      return { kind: 'failed', reason: errorName(error) };
    }
  }
}
