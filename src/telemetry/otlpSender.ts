import type { Clock } from '../system/clock.ts';
import { errorName } from '../domain/errors.ts';
import { SingleConnection } from '../wire/publishedJson.ts';
import type { Log } from '../log/log.ts';
import type { TracingSettings } from '../config/tracing.ts';

/** OTLP 1, "OTLP/HTTP Response": after these the data may be sent again, after others it is dropped. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** OTLP 1, "All Other Responses": with exponential pauses. */
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 5000;

/** A reply has little content. */
const MAX_REPLY_BYTES = 64 * 1024;

export interface SenderParts {
  readonly settings: Pick<
    TracingSettings,
    'url' | 'connection' | 'protocol' | 'headers' | 'timeoutMs'
  >;
  readonly clock: Clock;
  readonly log: Log;
  /** A number from 0 up to 1. */
  readonly random: () => number;
}

/**
 * Sends batches to a collector by OTLP over HTTP. The exporter of the SDK has timers that cannot be ended, and reads the
 * environment; here `close` ends everything at once.
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

  /**
   * Sends a batch, with retries where the status allows, within its time limit. Never rejects.
   *
   * @returns why it failed, in one word without contents; `undefined` where it was sent
   */
  async send(batch: Uint8Array): Promise<string | undefined> {
    const { settings, clock, random } = this.#parts;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(settings.timeoutMs)]);
    let reason = 'timeout';
    try {
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, 1.5 * pauseMs)) {
        const status = await this.#post(batch, signal).catch((error: unknown) => {
          signal.throwIfAborted();
          return errorName(error);
        });
        if (typeof status === 'number' && status < 300) return undefined;
        reason = String(status);
        if (typeof status === 'number' && !RETRYABLE.has(status)) break;
        await clock.sleep(pauseMs * (0.8 + 0.4 * random()), signal);
      }
    } catch {
      // The time limit, or closing, ended it.
    }
    return reason;
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
