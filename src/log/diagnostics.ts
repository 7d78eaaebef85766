import {
  channel,
  tracingChannel,
  type TracingChannel,
  type TracingChannelSubscribers,
} from 'node:diagnostics_channel';
import type { Operation } from '../domain/question.ts';
import type { LookupFailureCode } from '../domain/errors.ts';

/**
 * The channels of docs/diagnostics.md. No message has a phone number, a token, a secret or an answer in
 * it: what a subscriber does with a message is its own affair.
 */

/** What all messages tell: `correlator` is the part that the exchanges of one GraphQL request share. */
interface Traced<Result extends object> {
  readonly correlator: string;
  /** Set when the work is over, before `asyncStart`. */
  readonly result?: Result | Broken;
}

/** A defect of ours; the log names it. */
export interface Broken {
  readonly outcome: 'broken';
}

/** The trace of a caller that a request goes on with (W3C Trace Context). */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** A request to /graphql is answered. */
export interface RequestMessage extends Traced<RequestResult> {
  readonly method: 'GET' | 'POST' | '_OTHER';
  /** `undefined` where the caller names none. */
  readonly parent: TraceParent | undefined;
}

export interface RequestResult {
  readonly outcome: 'replied';
  readonly status: number;
  /** `ok`, or the first error code of the reply. */
  readonly code: string;
  /** The name of the trusted document. */
  readonly document?: string;
}

/** The questions of one request about one number are planned and looked up. */
export interface PlanMessage extends Traced<PlanResult> {
  readonly questions: number;
}

export interface PlanResult {
  readonly outcome: 'planned';
  /** What the operator said. */
  readonly facts: number;
  /** Questions that were answered by facts of other lookups than their own. */
  readonly deduced: number;
  /** Of lookups that brought nothing. */
  readonly failures: readonly LookupFailureCode[];
}

/** An access token is asked for: once, with its retry. */
export interface TokenMessage extends Traced<TokenResult> {
  /** As in the settings. */
  readonly operator: string;
  readonly grant: 'client_credentials' | 'jwt-bearer' | 'ciba';
  readonly operation: Operation;
}

export interface TokenResult {
  readonly outcome:
    'issued' | 'authorization_pending' | 'slow_down' | 'no_reply' | LookupFailureCode;
}

/** A billed lookup is made: once, with its retry. */
export interface LookupMessage extends Traced<LookupResult> {
  /** As in the settings. */
  readonly operator: string;
  readonly operation: Operation;
  /** Of `check`. */
  readonly maxAgeHours?: number;
}

export interface LookupResult {
  readonly outcome: 'answered' | LookupFailureCode;
  /** Exchanges that may have reached the operator. */
  readonly attempts: number;
}

/** One request and its reply on the wire. */
export interface ExchangeMessage extends Traced<ExchangeResult> {
  /** As in the settings. */
  readonly operator: string;
  /** As in the log. */
  readonly endpoint: string;
  readonly method: 'GET' | 'POST';
  /** Without its query; a number in its path is written as its place, `{number}` or `{digits}`. */
  readonly url: string;
  /** Whether it was made before, and this is the one more time that it may be. */
  readonly isRetry: boolean;
  /** Sends a header beside those of the service. To be called in `start`: later it is of no effect. */
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

/** A request waits for a lookup that takes the consent of the number's owner. */
export interface ConsentMessage extends Traced<ConsentResult> {
  readonly operator: string;
  readonly operation: Operation;
}

export interface ConsentResult {
  readonly outcome: 'answered' | LookupFailureCode;
}

/** The circuit of an endpoint opens or closes. */
export interface CircuitMessage {
  readonly operator: string;
  /** As in the log. */
  readonly endpoint: string;
  readonly state: 'open' | 'closed';
}

/** A caller has used so much of a quota: something was counted in it, or did not fit any more. */
export interface QuotaMessage {
  readonly quota: 'numbers' | 'lookups' | 'prompts';
  /** The share of the quota that is used now, from 0 to 1. */
  readonly used: number;
}

/**
 * Something that was to be done in the shared store was not, what it has lost casts doubt on numbers, or one of its
 * servers is away or so no more.
 */
export type StoreMessage =
  | { readonly event: 'lost' | 'full' }
  | { readonly event: 'away' | 'back'; readonly host: string }
  | {
      readonly event: 'doubt';
      /** When it ends, in milliseconds since 1970. */
      readonly untilMs: number;
    };

export const requestChannel = tracingChannel<unknown, RequestMessage>('sim-swap:request');
export const planChannel = tracingChannel<unknown, PlanMessage>('sim-swap:plan');
export const tokenChannel = tracingChannel<unknown, TokenMessage>('sim-swap:token');
export const lookupChannel = tracingChannel<unknown, LookupMessage>('sim-swap:lookup');
export const exchangeChannel = tracingChannel<unknown, ExchangeMessage>('sim-swap:exchange');
export const consentChannel = tracingChannel<unknown, ConsentMessage>('sim-swap:consent');
export const circuitChannel = noticesOf<CircuitMessage>('sim-swap:circuit');
export const quotaChannel = noticesOf<QuotaMessage>('sim-swap:quota');
export const storeChannel = noticesOf<StoreMessage>('sim-swap:store');

/** A channel of what has no end of its own. */
function noticesOf<Message>(name: string) {
  const notices = channel(name);
  return {
    publish(message: Message): void {
      if (notices.hasSubscribers) notices.publish(message);
    },
    /** Returns what ends it. */
    listen(listener: (message: Message) => void): () => void {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is published on it
      const heard = (message: unknown): void => listener(message as Message);
      notices.subscribe(heard);
      return () => notices.unsubscribe(heard);
    },
  };
}

const BROKEN: Broken = { outcome: 'broken' };

/** Hears some of a channel's events; what nobody hears costs nothing. Returns what ends it. */
export function listen<Message extends object>(
  to: TracingChannel<unknown, Message>,
  listeners: Partial<TracingChannelSubscribers<Message>>,
): () => void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node takes those that are there
  const heard = listeners as TracingChannelSubscribers<Message>;
  to.subscribe(heard);
  return () => to.unsubscribe(heard);
}

/**
 * Does the work and publishes around it, as `TracingChannel.tracePromise` does with fewer promises; without subscribers it
 * does the work alone. What the work comes to is handed back as it is: subscribers see `resultOf` it alone, and of a
 * defect not even the error, for that may quote what it stumbled over.
 */
export function traced<Result extends object, Message extends Traced<Result>, T>(
  to: TracingChannel<unknown, Message>,
  messageOf: () => Message,
  work: () => Promise<T>,
  resultOf: (value: T) => Result,
): Promise<T> {
  if (!to.hasSubscribers) return work();
  const message = messageOf();
  const { start, end, asyncStart, asyncEnd } = to;
  const finish = (result: Result | Broken): void => {
    // What is handed to a subscriber is for reading; until then it is ours.
    (message as Mutable<Traced<Result>>).result = result;
    asyncStart.publish(message);
    asyncEnd.publish(message);
  };
  return start.runStores(message, () => {
    const working = begin(work);
    end.publish(message);
    return working.then(
      (value) => {
        finish(resultOf(value));
        return value;
      },
      (error: unknown) => {
        finish(BROKEN);
        throw error;
      },
    );
  });
}

type Mutable<T> = { -readonly [Member in keyof T]: T[Member] };

/** What is thrown at once rejects as well. */
function begin<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error instanceof Error ? error : new Error('The work broke.'));
  }
}

/**
 * What a subscriber keeps of a message from one event to the next. On the message itself, under a name that no other
 * subscriber sees: a WeakMap costs the garbage collector more than the note is worth.
 */
export class MessageNotes<T> {
  readonly #key = Symbol('note');

  set(message: object, note: T): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is set under this name
    (message as Record<symbol, T>)[this.#key] = note;
  }

  get(message: object): T | undefined {
    // Not by `Reflect`, which takes ten times as long.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is set under this name
    return (message as Record<symbol, T | undefined>)[this.#key];
  }
}
