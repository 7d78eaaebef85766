import { channel, tracingChannel, type Channel as NodeChannel } from 'node:diagnostics_channel';
import type { Operation } from '../domain/question.ts';
import type { LookupFailureCode } from '../domain/errors.ts';

// The channels of docs/diagnostics.md. Subscribers may do anything with a message: none has a phone number, a token, a
// secret or an answer.

/** Of work with a duration; `correlator` is the part that the exchanges of one GraphQL request share. */
interface Traced<Result extends object> {
  readonly correlator: string;
  /** Set by {@link traced} at the end of the work, before `asyncStart`. */
  result?: Result | Broken;
}

/** A defect of this service; the log names it. */
export interface Broken {
  readonly outcome: 'broken';
}

interface AboutOperation {
  /** The operator's name in the settings. */
  readonly operator: string;
  readonly operation: Operation;
}

/** The caller's trace, which the request continues (W3C Trace Context). */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
  /** Its `tracestate`, where that is short and holds no number. */
  readonly state?: string;
}

export interface RequestMessage extends Traced<RequestResult> {
  readonly method: 'GET' | 'POST' | '_OTHER';
  /** The version of HTTP, such as `1.1`. */
  readonly httpVersion: string;
  /** The host in the header `host`; `undefined` where it may be a number. */
  readonly host: { readonly name: string; readonly port: number } | undefined;
  /** `undefined` where the caller sends none. */
  readonly parent: TraceParent | undefined;
}

export interface RequestResult {
  readonly outcome: 'replied';
  readonly status: number;
  /** `ok`, or the first error code of the reply. */
  readonly code: string;
  readonly document?: string;
  /** The type of the operation; absent where the reply was made before it was known. */
  readonly operation?: 'query' | 'mutation' | 'subscription';
}

/** The questions of one request about one number are planned and looked up. */
export interface PlanMessage extends Traced<PlanResult> {
  readonly questions: number;
}

export interface PlanResult {
  readonly outcome: 'planned';
  /** The number of facts from the operator. */
  readonly facts: number;
  /** The number of questions answered by facts of other lookups than their own. */
  readonly deduced: number;
  /** The failures of lookups without an answer. */
  readonly failures: readonly LookupFailureCode[];
}

/** An access token is requested, with its retry. */
export interface TokenMessage extends Traced<TokenResult>, AboutOperation {
  readonly grant: 'client_credentials' | 'jwt-bearer' | 'ciba';
}

export interface TokenResult {
  readonly outcome:
    'issued' | 'authorization_pending' | 'slow_down' | 'no_reply' | LookupFailureCode;
}

export interface LookupMessage extends Traced<LookupResult>, AboutOperation {
  /** The window of `check`. */
  readonly maxAgeHours?: number;
}

export interface LookupResult {
  readonly outcome: 'answered' | LookupFailureCode;
  /** Exchanges that may have reached the operator. */
  readonly attempts: number;
}

interface AboutEndpoint {
  /** The operator's name in the settings. */
  readonly operator: string;
  /** The endpoint's name in the log. */
  readonly endpoint: string;
}

/** One request and its reply on the wire. */
export interface ExchangeMessage extends Traced<ExchangeResult>, AboutEndpoint {
  readonly method: 'GET' | 'POST';
  /** The URL without its query; a number in its path is replaced by `{number}` or `{digits}`. */
  readonly url: string;
  readonly isRetry: boolean;
  /** Adds a header to the request. Only in `start`: later it has no effect. */
  addHeader(name: string, value: string): void;
}

export type ExchangeResult =
  | { readonly outcome: 'replied'; readonly status: number }
  | {
      readonly outcome:
        'connection' | 'descriptors' | 'timeout' | 'cancelled' | 'rate' | 'invalid-reply';
      /** `false` only when it is proven that no byte left. */
      readonly sent: boolean;
      readonly detail: string;
    };

/** A request waits for a lookup that requires the consent of the number's owner. */
export interface ConsentMessage extends Traced<ConsentResult>, AboutOperation {}

export interface ConsentResult {
  readonly outcome: 'answered' | LookupFailureCode;
}

export interface CircuitMessage extends AboutEndpoint {
  readonly state: 'open' | 'closed';
}

/** A quota of a caller was used, or was exceeded. */
export interface QuotaMessage {
  readonly quota: 'numbers' | 'lookups' | 'prompts';
  /** The share of the quota that is used now, from 0 to 1. */
  readonly used: number;
}

/** A failure of the shared store, a loss that puts numbers in doubt, or a server that was lost or came back. */
export type StoreMessage =
  | { readonly event: 'lost' | 'full' }
  /** A script ran, or was given up. */
  | { readonly event: 'command'; readonly tookMs: number }
  | { readonly event: 'away' | 'back'; readonly host: string }
  | {
      readonly event: 'doubt';
      /** When it ends, in milliseconds since 1970. */
      readonly untilMs: number;
    };

/** Watched files have changed and were read; they can or cannot be used. `system/fromFiles.ts` publishes it too. */
export interface FilesMessage {
  /** The same object whenever the same files are read. */
  readonly source: object;
  readonly isUsable: boolean;
}

export interface Channel<Message> extends Pick<
  NodeChannel,
  'hasSubscribers' | 'subscribe' | 'unsubscribe'
> {
  publish(message: Message): void;
}

/** The work runs in the stores that are bound to `start`. */
export interface WorkChannel<Message> {
  readonly hasSubscribers: boolean;
  readonly start: Channel<Message> &
    Pick<NodeChannel<unknown, Message>, 'bindStore' | 'runStores' | 'unbindStore'>;
  readonly end: Channel<Message>;
  readonly asyncStart: Channel<Message>;
  readonly asyncEnd: Channel<Message>;
}

export const requestChannel: WorkChannel<RequestMessage> = tracingChannel('sim-swap:request');
export const planChannel: WorkChannel<PlanMessage> = tracingChannel('sim-swap:plan');
export const tokenChannel: WorkChannel<TokenMessage> = tracingChannel('sim-swap:token');
export const lookupChannel: WorkChannel<LookupMessage> = tracingChannel('sim-swap:lookup');
export const exchangeChannel: WorkChannel<ExchangeMessage> = tracingChannel('sim-swap:exchange');
export const consentChannel: WorkChannel<ConsentMessage> = tracingChannel('sim-swap:consent');
export const circuitChannel: Channel<CircuitMessage> = channel('sim-swap:circuit');
export const quotaChannel: Channel<QuotaMessage> = channel('sim-swap:quota');
export const storeChannel: Channel<StoreMessage> = channel('sim-swap:store');
/** A write to the audit log has returned. */
export const auditChannel: Channel<{ readonly tookMs: number }> = channel('sim-swap:audit');
export const filesChannel: Channel<FilesMessage> = channel('sim-swap:files');

/** Returns a function that unsubscribes. */
export function listen<Message>(
  to: Channel<Message>,
  listener: (message: Message) => void,
): () => void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is published on it
  const onMessage = (message: unknown): void => listener(message as Message);
  to.subscribe(onMessage);
  return () => to.unsubscribe(onMessage);
}

/** Subscribes to the end of work, with its duration. Returns a function that unsubscribes. */
export function listenTimed<Message extends object>(
  { start, asyncEnd }: WorkChannel<Message>,
  monotonicMs: () => number,
  listener: (message: Message, tookMs: number) => void,
): () => void {
  const startedAtMs = new MessageNotes<number>();
  const unlisten = listen(start, (message) => startedAtMs.set(message, monotonicMs()));
  const unlistenEnd = listen(asyncEnd, (message) => {
    const nowMs = monotonicMs();
    listener(message, nowMs - (startedAtMs.get(message) ?? nowMs));
  });
  return () => {
    unlisten();
    unlistenEnd();
  };
}

export const BROKEN: Broken = { outcome: 'broken' };

/**
 * Publishes the start and the end of the work, as `TracingChannel.tracePromise` does, with fewer promises. Without
 * subscribers no message is made. They get the result from `resultOf`; of a defect they do not get the error, which may quote
 * its input.
 */
export function traced<Result extends object, Message extends Traced<Result>, T>(
  { hasSubscribers, start, end, asyncStart, asyncEnd }: WorkChannel<Message>,
  messageOf: () => Message,
  work: () => Promise<T>,
  resultOf: (value: T) => Result | Broken,
): Promise<T> {
  if (!hasSubscribers) return work();
  const message = messageOf();
  const ended: Traced<Result> = message;
  return start.runStores(message, async () => {
    let result: Result | Broken = BROKEN;
    try {
      const working = work();
      end.publish(message);
      const value = await working;
      result = resultOf(value);
      return value;
    } finally {
      ended.result = result;
      asyncStart.publish(message);
      asyncEnd.publish(message);
    }
  });
}

/** A subscriber's note on a message until its next event, kept in the message: a WeakMap costs the collector more. */
export class MessageNotes<T> {
  readonly #key = Symbol('note');

  set(message: object, note: T): void {
    this.#notesOn(message)[this.#key] = note;
  }

  get(message: object): T | undefined {
    return this.#notesOn(message)[this.#key];
  }

  /** `Reflect` takes ten times as long. */
  #notesOn(message: object): Record<symbol, T | undefined> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is set under this name
    return message as Record<symbol, T | undefined>;
  }
}
