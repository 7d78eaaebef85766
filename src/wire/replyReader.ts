import { errors, type Dispatcher } from 'undici';
import { errorName } from '../domain/errors.ts';
import { connectFailureOf } from './connectFailure.ts';
import type { Abortable } from '../system/urgency.ts';
import type { ReplyCheck, ReplyWay } from './echo.ts';
import type {
  Departure,
  Exchange,
  HttpReply,
  OutgoingRequest,
  TransportFault,
} from './exchange.ts';

/** A reply with a longer body is refused (docs/design.md, "Limits"). */
const MAX_BODY_BYTES = 64 * 1024;

const NO_HEADERS: HttpReply['headers'] = {};
const NO_CHUNKS: readonly Buffer[] = [];

/** Carries an exchange, or queues it; aborted when the exchange ends early. */
export type Carrier = Pick<Dispatcher.DispatchController, 'abort'>;

/** Follows one exchange to its end, and settles once. A handler of undici, which HTTP/2 calls in the same way. */
export class ReplyReader implements Dispatcher.DispatchHandler, Abortable {
  readonly post: OutgoingRequest;
  readonly path: string;
  /** Names and values, alternating, of headers that are made for each exchange. */
  readonly generatedHeaders: readonly string[];
  way: ReplyWay = 'fresh connection';
  readonly #departure: Departure;
  readonly #replyCheck: ReplyCheck;
  readonly #timer: NodeJS.Timeout;
  #sent = false;
  #settle: ((exchange: Exchange) => void) | undefined;
  #carrier: Carrier | undefined;
  #isUnproven = false;
  #status = 0;
  #headers: HttpReply['headers'] = NO_HEADERS;
  #chunks: Buffer[] | undefined;
  #bodyBytes = 0;

  constructor(
    post: OutgoingRequest,
    path: string,
    generatedHeaders: readonly string[],
    departure: Departure,
    replyCheck: ReplyCheck,
    timeoutMs: number,
    settle: (exchange: Exchange) => void,
  ) {
    this.post = post;
    this.path = path;
    this.generatedHeaders = generatedHeaders;
    this.#departure = departure;
    this.#replyCheck = replyCheck;
    this.#settle = settle;
    // One function for all timers, not a closure for each exchange.
    this.#timer = setTimeout(ReplyReader.#timeOut, timeoutMs, this);
    post.signal?.add(this);
  }

  get isSettled(): boolean {
    return this.#settle === undefined;
  }

  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /** The exchange waits for a connection; nothing has left. */
  waitIn(carrier: Carrier): void {
    this.#sent = false;
    this.#carrier = carrier;
  }

  onRequestStart(carrier: Carrier): void {
    if (this.#settle === undefined) {
      carrier.abort(new errors.RequestAbortedError());
      return;
    }
    this.#carrier = carrier;
    // The connection is written to in this same turn: from here on a byte may have left.
    this.#sent = true;
    this.post.onFirstByte?.();
  }

  onResponseStart(_carrier: unknown, status: number, headers: HttpReply['headers']): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    // Judged before the body is read: once the reply is complete, undici keeps the connection.
    const origin = this.#replyCheck.originOf(status, headers, this.post.correlator, this.way);
    if (typeof origin === 'object') {
      const detail = 'the reply may be that of another request';
      this.#breakOff({ cause: 'invalid-reply', detail, flaw: origin.refused });
    } else {
      this.#isUnproven = origin === 'unproven';
      if (!this.#isUnproven) this.post.onHeaders?.(status, headers);
    }
  }

  onResponseData(_carrier: unknown, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > MAX_BODY_BYTES) {
      const detail = `the reply is over ${MAX_BODY_BYTES} bytes`;
      this.#breakOff({ cause: 'invalid-reply', detail, flaw: 'too large' });
      return;
    }
    // Most bodies are one chunk, and pushing to an empty list would reserve room for more.
    if (this.#chunks === undefined) this.#chunks = [chunk];
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const chunks = this.#chunks ?? NO_CHUNKS;
    const whole = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, this.#bodyBytes);
    const body = whole?.toString('utf8') ?? '';
    const reply = { status: this.#status, headers: this.#headers, body };
    const { sentAtMs, leftAtMs } = this.#departure;
    this.#end(
      this.#isUnproven
        ? { kind: 'reply', reply, sentAtMs, leftAtMs, isUnproven: true }
        : { kind: 'reply', reply, sentAtMs, leftAtMs },
    );
  }

  onResponseError(_carrier: unknown, error: Error): void {
    this.#end({ kind: 'fault', fault: describe(error, this.#sent) });
  }

  /** It is proven that the operator has not acted on the request, though bytes of it may have left. */
  onRefusedUnprocessed(error: Error): void {
    this.#sent = false;
    this.onResponseError(null, error);
  }

  static #timeOut(this: void, reader: ReplyReader): void {
    reader.#breakOff({ cause: 'timeout', detail: 'no reply inside the time limit' });
  }

  abort(): void {
    this.#breakOff({ cause: 'cancelled', detail: 'the request ended' });
  }

  #breakOff(fault: Omit<TransportFault, 'sent'>): void {
    this.#end({ kind: 'fault', fault: { ...fault, sent: this.#sent } });
    this.#carrier?.abort(new errors.RequestAbortedError());
  }

  #end(exchange: Exchange): void {
    const settle = this.#settle;
    if (settle === undefined) return;
    this.#settle = undefined;
    clearTimeout(this.#timer);
    this.post.signal?.delete(this);
    settle(exchange);
  }
}

const NOT_HTTP = [
  errors.HTTPParserError,
  errors.HeadersOverflowError,
  errors.ResponseContentLengthMismatchError,
];

/** This process or the machine has reached its limit. */
const EXHAUSTED = /^(?:EMFILE|ENFILE|ENOBUFS|ENOMEM)$/;

function describe(error: Error, sent: boolean): TransportFault {
  const code = errorName(error);
  const failure = connectFailureOf(error);
  const reason = failure?.reason ?? code;
  if (EXHAUSTED.test(reason)) return { cause: 'descriptors', sent, detail: reason };
  if (failure !== undefined) {
    return { cause: 'connection', sent: false, detail: reason, stage: failure.stage };
  }
  if (NOT_HTTP.some((kind) => error instanceof kind) || code === 'ERR_HTTP2_ERROR') {
    const detail = `the reply is not HTTP (${code})`;
    return { cause: 'invalid-reply', sent, detail, flaw: 'not HTTP' };
  }
  return { cause: 'connection', sent, detail: code };
}
