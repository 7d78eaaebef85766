import { Pool, errors, type Dispatcher } from 'undici';
import { errorName } from '../errors.ts';
import type { Abortable, AbortListeners } from './abortListeners.ts';
import type { ReplyCheck } from './echo.ts';
import type { Departure, Exchange, HttpReply, Post, TransportFault } from './exchange.ts';

/** A reply with a longer body is refused (design §5). */
const MAX_BODY_BYTES = 64 * 1024;

/** The exchange that was not begun, since no time was left; it says nothing about the endpoint. */
export const NO_TIME: Exchange = {
  kind: 'fault',
  fault: { cause: 'timeout', sent: false, detail: 'no time left to start' },
};

/** What all exchanges with one endpoint of the operator share. */
export interface EndpointSettings {
  readonly url: string;
  /** For one exchange, from connecting to the last byte of the reply. */
  readonly timeoutMs: number;
  /** Open at a time, of those that are kept and of those that are not. */
  readonly connections: number;
  readonly replyCheck: ReplyCheck;
  readonly headers: Readonly<Record<string, string>>;
}

/** What all endpoints share. */
export interface SharedByEndpoints {
  readonly abortListeners: AbortListeners;
}

/**
 * One address of the operator, with connections of its own: a stray reply can only be that of another
 * exchange with the same endpoint, and one endpoint's trouble keeps no other waiting.
 *
 * Redirects are not followed, nothing is retried, cached or pipelined here.
 */
export class Endpoint {
  /** Connections that carry one exchange after the other. */
  readonly #kept: Pool;
  /** Connections that carry one exchange and are closed. */
  readonly #fresh: Pool;
  readonly #path: string;
  readonly #headers: string[];
  readonly #timeoutMs: number;
  readonly #parts: ReaderParts;

  constructor(settings: EndpointSettings, shared: SharedByEndpoints) {
    const url = new URL(settings.url);
    this.#path = url.pathname;
    this.#headers = ['accept', 'application/json', ...Object.entries(settings.headers).flat()];
    this.#timeoutMs = settings.timeoutMs;
    this.#parts = { ...shared, replyCheck: settings.replyCheck };
    this.#kept = createPool(url.origin, settings);
    this.#fresh = createPool(url.origin, settings);
  }

  /** Sends one POST and reads its reply, in no more than `timeLeftMs`. Never rejects. */
  post(post: Post, timeLeftMs: number, departure: Departure): Promise<Exchange> {
    if (timeLeftMs <= 0) return Promise.resolve(NO_TIME);
    return new Promise((settle) => {
      const timeoutMs = Math.min(this.#timeoutMs, timeLeftMs);
      const isFresh = this.#parts.replyCheck.needsFreshConnection;
      const reader = new ReplyReader(post, departure, isFresh, this.#parts, timeoutMs, settle);
      if (reader.isSettled) return;
      (isFresh ? this.#fresh : this.#kept).dispatch(
        {
          path: this.#path,
          method: 'POST',
          headers: this.#headers.concat(
            'content-type',
            post.contentType,
            'x-correlator',
            post.correlator,
            post.headers,
          ),
          body: post.body,
          reset: isFresh,
        },
        reader,
      );
    });
  }

  /** A reply may have been that of another request: fresh connections until the endpoint echoes again. */
  distrust(): void {
    this.#parts.replyCheck.distrust();
  }

  /** Breaks what is still under way and closes the connections. */
  async close(): Promise<void> {
    await Promise.all([this.#kept.destroy(), this.#fresh.destroy()]);
  }
}

function createPool(
  origin: string,
  { connections, timeoutMs }: Pick<EndpointSettings, 'connections' | 'timeoutMs'>,
): Pool {
  return new Pool(origin, {
    connections,
    pipelining: 1,
    // One HTTP/2 connection would carry many exchanges: none of them would be fresh, or alone.
    allowH2: false,
    connect: { timeout: timeoutMs },
    // One timer of ours spans the whole exchange; undici's own would restart with every byte dripped.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** What the exchanges of an endpoint share. */
interface ReaderParts extends SharedByEndpoints {
  readonly replyCheck: ReplyCheck;
}

/** Follows one exchange from its dispatch to its end, and settles once. */
class ReplyReader implements Dispatcher.DispatchHandler, Abortable {
  readonly #post: Post;
  readonly #departure: Departure;
  readonly #isConnectionFresh: boolean;
  readonly #parts: ReaderParts;
  readonly #timer: NodeJS.Timeout;
  #sent = false;
  #settle: ((exchange: Exchange) => void) | undefined;
  /** Of the signal that ends it early. */
  #listeners: Set<Abortable> | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #isUnproven = false;
  #status = 0;
  #headers: HttpReply['headers'] = {};
  #chunks: Buffer[] = [];
  #bodyBytes = 0;

  constructor(
    post: Post,
    departure: Departure,
    isConnectionFresh: boolean,
    parts: ReaderParts,
    timeoutMs: number,
    settle: (exchange: Exchange) => void,
  ) {
    this.#post = post;
    this.#departure = departure;
    this.#isConnectionFresh = isConnectionFresh;
    this.#parts = parts;
    this.#settle = settle;
    this.#timer = setTimeout(timeOut, timeoutMs, this);
    const { signal } = post;
    if (signal === undefined) return;
    if (signal.aborted) this.abort();
    else this.#listeners = parts.abortListeners.of(signal).add(this);
  }

  get isSettled(): boolean {
    return this.#settle === undefined;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.isSettled) {
      controller.abort(new errors.RequestAbortedError());
      return;
    }
    this.#controller = controller;
    // undici has a socket and writes to it in this same turn: from here on a byte may have left.
    this.#sent = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: HttpReply['headers'],
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    // Judged before the body is read: once the reply is complete, undici keeps the connection.
    const origin = this.#parts.replyCheck.originOf({
      status,
      headers,
      correlator: this.#post.correlator,
      isConnectionFresh: this.#isConnectionFresh,
    });
    if (typeof origin === 'object') {
      const detail = 'the reply may be that of another request';
      this.#breakOff({ cause: 'invalid-reply', detail, flaw: origin.refused });
    } else {
      this.#isUnproven = origin === 'unproven';
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > MAX_BODY_BYTES) {
      const detail = `the reply is over ${MAX_BODY_BYTES} bytes`;
      this.#breakOff({ cause: 'invalid-reply', detail, flaw: 'too large' });
      return;
    }
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [only] = this.#chunks;
    const whole =
      only !== undefined && this.#chunks.length === 1
        ? only
        : Buffer.concat(this.#chunks, this.#bodyBytes);
    const body = whole.toString('utf8');
    const reply = { status: this.#status, headers: this.#headers, body };
    const { sentAtMs, leftAtMs } = this.#departure;
    this.#end(
      this.#isUnproven
        ? { kind: 'reply', reply, sentAtMs, leftAtMs, isUnproven: true }
        : { kind: 'reply', reply, sentAtMs, leftAtMs },
    );
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#end({ kind: 'fault', fault: { ...describe(error), sent: this.#sent } });
  }

  timeOut(): void {
    this.#breakOff({ cause: 'timeout', detail: 'no reply inside the time limit' });
  }

  abort(): void {
    this.#breakOff({ cause: 'cancelled', detail: 'the request ended' });
  }

  #breakOff(fault: Omit<TransportFault, 'sent'>): void {
    this.#end({ kind: 'fault', fault: { ...fault, sent: this.#sent } });
    this.#controller?.abort(new errors.RequestAbortedError());
  }

  #end(exchange: Exchange): void {
    const settle = this.#settle;
    if (settle === undefined) return;
    this.#settle = undefined;
    clearTimeout(this.#timer);
    this.#listeners?.delete(this);
    settle(exchange);
  }
}

/** One function for all timers: an exchange needs none of its own. */
function timeOut(reader: ReplyReader): void {
  reader.timeOut();
}

const NOT_HTTP = [
  errors.HTTPParserError,
  errors.HeadersOverflowError,
  errors.ResponseContentLengthMismatchError,
];

function describe(error: Error): Omit<TransportFault, 'sent'> {
  const code = errorName(error);
  if (NOT_HTTP.some((kind) => error instanceof kind)) {
    const detail = `the reply is not HTTP (${code})`;
    return { cause: 'invalid-reply', detail, flaw: 'not HTTP' };
  }
  return { cause: 'connection', detail: code };
}
