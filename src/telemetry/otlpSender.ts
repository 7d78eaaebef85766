import type { Clock } from '../system/clock.ts';
import { errorName } from '../domain/errors.ts';
import { SingleConnection } from '../http/connections/publishedJson.ts';
import type { Log } from '../log/log.ts';
import type { TracingSettings } from '../config/tracing.ts';

/** OTLP 1, "OTLP/HTTP Response": these may be sent again; after others the data is dropped. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** OTLP 1, "All Other Responses": with exponential pauses. */
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 5000;

/** A reply says little more than that all has arrived. */
const MAX_REPLY_BYTES = 64 * 1024;

/** What became of a batch: sent, or why it was not, in one word without contents. */
export type Delivery =
  { readonly kind: 'sent' } | { readonly kind: 'failed'; readonly reason: string };

export interface SenderParts {
  readonly settings: Pick<
    TracingSettings,
    'url' | 'connection' | 'protocol' | 'headers' | 'timeoutMs'
  >;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/**
 * Sends batches to a collector by OTLP over HTTP. The SDK's own exporter retries on timers that nothing ends, and reads
 * the environment: here a close ends everything at once.
 */
export class OtlpSender {
  readonly #parts: SenderParts;
  readonly #connection: SingleConnection;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #closing = new AbortController();

  constructor(parts: SenderParts) {
    const { url, connection, protocol, headers, timeoutMs } = parts.settings;
    const limits = { timeoutMs, maxResponseSize: MAX_REPLY_BYTES };
    this.#parts = parts;
    this.#connection = new SingleConnection(url, connection, parts, limits);
    this.#headers = {
      ...Object.fromEntries(headers),
      'content-type': protocol === 'http/json' ? 'application/json' : 'application/x-protobuf',
    };
  }

  /** Sends a batch, again where that may help, until its time is over. Never rejects. */
  async send(batch: Uint8Array): Promise<Delivery> {
    const { settings, clock, random } = this.#parts;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(settings.timeoutMs)]);
    let reason = 'timeout';
    try {
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, 1.5 * pauseMs)) {
        const status = await this.#post(batch, signal).catch((error: unknown) => {
          signal.throwIfAborted();
          return errorName(error);
        });
        if (typeof status === 'number' && status < 300) return { kind: 'sent' };
        reason = String(status);
        if (typeof status === 'number' && !RETRYABLE.has(status)) break;
        await clock.sleep(pauseMs * (0.8 + 0.4 * random()), signal);
      }
    } catch {
      // Its time is over, or it is closed.
    }
    return { kind: 'failed', reason };
  }

  close(): Promise<void> {
    this.#closing.abort();
    return this.#connection.close();
  }

  async #post(batch: Uint8Array, signal: AbortSignal): Promise<number> {
    const { statusCode, body } = await this.#connection.request({
      method: 'POST',
      headers: this.#headers,
      body: batch,
      signal,
    });
    await body.dump();
    return statusCode;
  }
}
