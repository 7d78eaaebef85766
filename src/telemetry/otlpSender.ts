import { Pool } from 'undici';
import type { Clock } from '../system/clock.ts';
import { errorName } from '../domain/errors.ts';
import { ConnectionFiles } from '../http/connections/connectionFiles.ts';
import { handTo } from '../http/connections/http1Connections.ts';
import { TlsConnector } from '../http/connections/tlsConnector.ts';
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
  readonly #pool: Pool;
  readonly #files: ConnectionFiles;
  readonly #connector: TlsConnector | undefined;
  readonly #path: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #closing = new AbortController();

  constructor(parts: SenderParts) {
    const { connection, protocol, headers, timeoutMs } = parts.settings;
    const url = new URL(parts.settings.url);
    const files = new ConnectionFiles(connection, parts);
    const connector =
      url.protocol === 'https:'
        ? new TlsConnector({ url, files, timeoutMs, clock: parts.clock })
        : undefined;
    this.#parts = parts;
    this.#files = files;
    this.#connector = connector;
    this.#path = url.pathname;
    this.#headers = {
      ...Object.fromEntries(headers),
      'content-type': protocol === 'http/json' ? 'application/json' : 'application/x-protobuf',
    };
    this.#pool = new Pool(url.origin, {
      connections: 1,
      connect:
        connector === undefined
          ? { timeout: timeoutMs }
          : (_, callback) => connector.connect(['http/1.1'], handTo(callback)),
      maxResponseSize: MAX_REPLY_BYTES,
    });
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

  async close(): Promise<void> {
    this.#closing.abort();
    const closing = this.#pool.destroy();
    this.#connector?.close();
    this.#files.close();
    await closing;
  }

  async #post(batch: Uint8Array, signal: AbortSignal): Promise<number> {
    const { statusCode, body } = await this.#pool.request({
      path: this.#path,
      method: 'POST',
      headers: this.#headers,
      body: batch,
      signal,
    });
    await body.dump();
    return statusCode;
  }
}
