import { randomUUID } from 'node:crypto';
import { slept, type Clock } from '../system/clock.ts';
import {
  circuitChannel,
  exchangeChannel,
  traced,
  type ExchangeResult,
} from '../log/diagnostics.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { Log } from '../log/log.ts';
import { DeadlineExceeded, type Urgency } from '../system/urgency.ts';
import {
  type OpenConnections,
  CANCELLED,
  EXCHANGE_DEADLINE_EXCEEDED,
  type Endpoint,
} from '../wire/endpoint.ts';
import { type ErrorMap, knownWord } from '../judging/errorMap.ts';
import { notBegun, type Exchange, type OutgoingRequest, type ReplyFlaw } from '../wire/exchange.ts';
import { ProfileFault } from '../judging/profileCall.ts';
import { errorWord, leavesInDoubt } from '../judging/refusal.ts';
import { retryAfterSeconds } from '../wire/headers.ts';
import type { CorrelatorSettings } from '../wire/wireSettings.ts';
import type { Bind, DpopExchanges } from './dpopExchanges.ts';
import type { Circuit, Health, Switched } from './circuit.ts';
import { ADDRESS_SETTINGS, findingOf, type NameSetting } from './finding.ts';
import type { RequestRate } from './requestRate.ts';
import {
  isServerError,
  decideRetry,
  type ExchangeKind,
  type RetryBudget,
  type RetryRules,
} from './retries.ts';

/** Retries are spread over this time, so that requests that failed together do not return together. */
const JITTER_MS = 200;

export interface Guards {
  readonly name: string;
  readonly operator: string;
  readonly kind: ExchangeKind;
  readonly circuit: Circuit;
  /** Shared by all endpoints of an operator. */
  readonly budget: RetryBudget;
  readonly rules: RetryRules;
  /** Shared by all endpoints of an operator; no limit where absent. */
  readonly rate: RequestRate | undefined;
  /** Shared by all endpoints of an operator, where exchanges carry a proof of possession. */
  readonly dpop?: DpopExchanges | undefined;
  readonly errors: ErrorMap;
  readonly nameSetting: NameSetting;
  readonly correlatorForm: CorrelatorSettings['form'];
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
}

/** A `failure` counts for the circuit. */
export interface Judged {
  readonly failure?: LookupFailure;
  readonly flaw?: ReplyFlaw;
  /**
   * Whether the reply was ignored, since it may belong to another request: the next exchange takes a fresh connection.
   */
  readonly isUnproven?: boolean;
  readonly [name: string]: unknown;
}

export interface GuardedPost<J extends Judged> {
  /** The number of the lookup: an operator may fail for one number, and serve all others. */
  readonly about: PhoneNumber;
  readonly urgency: Urgency;
  /**
   * Makes the request of one attempt: no two attempts share a correlator or an assertion. A {@link ProfileFault} means
   * that the exchange never begins.
   *
   * @param address of the endpoint, without query
   */
  readonly make: (address: string) => Promise<OutgoingRequest> | OutgoingRequest;
  readonly judge: (exchange: Exchange) => J;
  readonly isTokenUnproven?: boolean;
  readonly isTokenShared?: boolean;
  readonly isRetry?: boolean;
}

/** An exchange, its judgement, and whether the same lookup may be tried once more with a new token. */
export interface Outcome<J> {
  readonly judged: J;
  /** Exchanges that may have reached the operator: all but those that sent no byte. */
  readonly attempts: number;
  /** Whether one of them may have been carried out. A challenge means that it was not. */
  readonly mayHaveBeenCarriedOut: boolean;
  readonly mayRetryWithNewToken: boolean;
}

export function unsent<J>(judged: J): Outcome<J> {
  return { judged, attempts: 0, mayHaveBeenCarriedOut: false, mayRetryWithNewToken: false };
}

const MIN_NUMBERS = 10;

const NOT_WRITTEN = 'The profile of this operator does not conform to its type: nothing is sent.';

const NOTHING_BUT_NOT_FOUND =
  'The operator has answered nothing but NOT_FOUND, for ten numbers: its address may be wrong.';

/** What is about to leave. */
interface Order {
  readonly post: OutgoingRequest;
  readonly names: ExchangeNames;
}

/** The correlator in our log, and in the operator's where it differs there. */
interface ExchangeNames {
  readonly correlator: string;
  readonly sentAs?: string;
}

const CIRCUIT_OPEN = notBegun('connection', 'circuit open');

/** An endpoint behind its circuit breaker, with the one retry that {@link decideRetry} may allow. */
export class GuardedEndpoint {
  readonly #endpoint: Endpoint;
  readonly #guards: Guards;
  /**
   * Numbers that were not found, until a reply shows that the address is right. NOT_FOUND is CAMARA's word for an
   * unknown number, and the word of many gateways for a wrong path: with a mistyped URL every user would get the answer
   * that their number is not served.
   */
  #notFound: Set<PhoneNumber> | undefined = new Set();

  constructor(endpoint: Endpoint, guards: Guards) {
    this.#endpoint = endpoint;
    this.#guards = guards;
  }

  /**
   * Never starts after the deadline. Rejects only with errors of `make` and `judge` other than {@link ProfileFault}.
   */
  async post<J extends Judged>(request: GuardedPost<J>): Promise<Outcome<J>> {
    const { about, urgency, make, judge, isRetry = false } = request;
    const { address } = this.#endpoint;
    const { circuit, budget, dpop, kind } = this.#guards;
    if (!isRetry) budget.count();
    const isTrial = !circuit.isClosed;
    if (isTrial && !circuit.tries(about)) return unsent(judge(CIRCUIT_OPEN));
    let health: Health = 'neither';
    let exchange: Exchange;
    let order: Order | undefined;
    let challenges = 0;
    let judged: J;
    let isSuccess: boolean;
    try {
      // A promise for each of a thousand numbers has a cost.
      if (dpop === undefined) {
        const making = make(address);
        order = this.#named(making instanceof Promise ? await making : making);
        exchange = await this.#carry(order, urgency, isRetry);
      } else {
        ({ exchange, challenges } = await dpop.carry(
          { isLookup: kind === 'lookup', address },
          urgency.signal,
          async (bind, isRepeated) => {
            order = this.#named(await make(address));
            return this.#carry(order, urgency, isRetry || isRepeated, bind);
          },
        ));
      }
      judged = judge(exchange);
      isSuccess = exchange.kind === 'reply' && exchange.reply.status < 300;
      if (isSuccess && judged.failure === undefined && judged.isUnproven !== true) {
        health = 'good';
        this.#notFound = undefined;
      } else {
        health = healthOf(exchange, judged, urgency);
        if (judged.isUnproven === true) this.#endpoint.distrust();
        this.#report(about, order?.names, exchange, judged);
      }
    } catch (error) {
      if (!(error instanceof ProfileFault)) throw error;
      const { name: endpoint, log } = this.#guards;
      const { detail } = error;
      log.error(NOT_WRITTEN, { endpoint, detail });
      return unsent(judge(notBegun('invalid-reply', detail)));
    } finally {
      const switched = isTrial ? circuit.tried(health, about) : circuit.count(health, about);
      if (switched !== undefined) this.#reportSwitched(switched);
    }
    const isSent = exchange.kind === 'reply' || exchange.fault.sent;
    const attempts = challenges + (isSent ? 1 : 0);
    const mayHaveBeenCarriedOut =
      exchange.kind === 'reply' ? exchange.challenge === undefined : isSent;
    const outcome = { judged, attempts, mayHaveBeenCarriedOut, mayRetryWithNewToken: false };
    return isRetry || isSuccess ? outcome : this.#retried(request, exchange, outcome);
  }

  get connections(): OpenConnections {
    return this.#endpoint.connections;
  }

  close(): Promise<void> {
    return this.#endpoint.close();
  }

  distrust(): void {
    this.#endpoint.distrust();
  }

  async #retried<J extends Judged>(
    request: GuardedPost<J>,
    exchange: Exchange,
    first: Outcome<J>,
  ): Promise<Outcome<J>> {
    const { budget, kind, rules, clock, random } = this.#guards;
    const { urgency, isTokenUnproven = false, isTokenShared = false } = request;
    const reply = exchange.kind === 'reply' ? exchange.reply : undefined;
    const decision = decideRetry(
      {
        kind,
        exchange,
        retryAfterSeconds:
          reply === undefined ? undefined : retryAfterSeconds(reply, clock.nowMs()),
        timeLeftMs: urgency.deadlineMs - clock.monotonicMs(),
        isTokenUnproven,
        isTokenShared,
      },
      rules,
    );
    if (decision.retry === 'none') return first;
    // Charged where the token is replaced, once for all lookups that had it.
    if (decision.retry === 'refresh') return { ...first, mayRetryWithNewToken: true };
    // A lookup with a new token is two exchanges.
    if (!budget.take(decision.retry === 'new-token' ? 2 : 1)) return first;
    // Full jitter on top of the operator's Retry-After.
    const pauseMs = decision.atLeastMs + random() * JITTER_MS;
    if (clock.monotonicMs() + pauseMs >= urgency.deadlineMs) return first;
    if (!(await slept(clock, pauseMs, urgency.signal?.asAbortSignal()))) return first;
    if (decision.retry === 'new-token') return { ...first, mayRetryWithNewToken: true };
    const second = await this.post({ ...request, isRetry: true });
    const attempts = first.attempts + second.attempts;
    return {
      ...second,
      attempts,
      mayHaveBeenCarriedOut: first.mayHaveBeenCarriedOut || second.mayHaveBeenCarriedOut,
    };
  }

  #named(post: OutgoingRequest): Order {
    const { correlator } = post;
    if (this.#guards.correlatorForm !== 'uuid') return { post, names: { correlator } };
    const sentAs = randomUUID();
    return { post: { ...post, correlator: sentAs }, names: { correlator, sentAs } };
  }

  /** Messages have a cost as well, and usually no subscriber. */
  #carry(
    { post, names: { correlator } }: Order,
    urgency: Urgency,
    isRetry: boolean,
    bind?: Bind,
  ): Promise<Exchange> {
    if (!exchangeChannel.hasSubscribers) return this.#send(post, urgency, bind);
    const { operator, name: endpoint } = this.#guards;
    const { address: url } = this.#endpoint;
    const { method = 'POST' } = post;
    let sent = post;
    const addHeader = (name: string, value: string): void => {
      sent = { ...sent, headers: sent.headers.concat(name, value) };
    };
    const message = { operator, correlator, endpoint, method, url, isRetry, addHeader };
    const send = (): Promise<Exchange> => this.#send(sent, urgency, bind);
    return traced(exchangeChannel, () => message, send, resultOf);
  }

  #send(post: OutgoingRequest, urgency: Urgency, bind?: Bind): Promise<Exchange> {
    const { rate } = this.#guards;
    return rate === undefined && bind === undefined
      ? this.#endpoint.post(post, urgency)
      : this.#inTurn(post, urgency, rate, bind);
  }

  async #inTurn(
    post: OutgoingRequest,
    urgency: Urgency,
    rate: RequestRate | undefined,
    bind: Bind | undefined,
  ): Promise<Exchange> {
    const { deadlineMs, signal } = urgency;
    const { kind, clock } = this.#guards;
    // Waits for at most half of the time left, so that an exchange that leaves has time for its reply.
    const halfMs = (clock.monotonicMs() + deadlineMs) / 2;
    const seconds = await rate?.turn(kind, { deadlineMs: halfMs, signal });
    if (seconds === undefined) {
      // Signed last: a proof may soon be out of date.
      const bound = await bind?.(post, this.#endpoint.urlOf(post));
      return this.#endpoint.post(bound ?? post, urgency);
    }
    if (signal?.aborted === true) return CANCELLED;
    const detail = 'the rate of the contract is reached';
    const fault = { cause: 'rate', sent: false, detail, retryAfterSeconds: seconds } as const;
    return { kind: 'fault', fault };
  }

  #report(
    about: PhoneNumber,
    names: ExchangeNames | undefined,
    exchange: Exchange,
    judged: Judged,
  ): void {
    const { failure, flaw, isUnproven } = judged;
    const reply = exchange.kind === 'reply' ? exchange.reply : undefined;
    const { name: endpoint, kind, errors, nameSetting, log } = this.#guards;
    const common = { endpoint, kind, exchange, errors, nameSetting };
    const finding = findingOf({ ...common, failure, flaw, isUnproven });
    if (finding !== undefined) {
      log[finding.level](finding.message, { ...finding.details, ...names });
    }
    if (reply === undefined || leavesInDoubt(reply.status) || isUnproven === true) return;
    const word =
      failure === undefined ? undefined : knownWord(errorWord(reply, { wordIn: 'code', errors }));
    if (failure === undefined || (word !== undefined && word !== 'NOT_FOUND')) {
      this.#notFound = undefined;
    } else if (failure.code === 'NUMBER_NOT_SERVED' && this.#notFound !== undefined) {
      if (this.#notFound.size < MIN_NUMBERS) this.#notFound.add(about);
      if (this.#notFound.size < MIN_NUMBERS) return;
      const setting = nameSetting(ADDRESS_SETTINGS[kind]);
      log.error(NOTHING_BUT_NOT_FOUND, { endpoint, status: reply.status, setting, ...names });
    }
  }

  #reportSwitched(switched: Switched): void {
    const { operator, name: endpoint, log } = this.#guards;
    const isOpen = switched === 'opened';
    circuitChannel.publish({ operator, endpoint, state: isOpen ? 'open' : 'closed' });
    if (isOpen) log.warn(OPENED, { endpoint });
    else log.info('The circuit is closed: the operator is back.', { endpoint });
  }
}

const OPENED =
  'The circuit is open: the operator is not called, except for a trial every few seconds.';

/** The published result: nothing of what was sent, nor of the reply's body. */
function resultOf(exchange: Exchange): ExchangeResult {
  if (exchange.kind === 'reply') return { outcome: 'replied', status: exchange.reply.status };
  const { cause, sent, detail } = exchange.fault;
  return { outcome: cause, sent, detail };
}

/**
 * No connection, timeouts, 5xx and invalid bodies count against an endpoint; 4xx do not (docs/design.md, "The
 * circuit").
 */
function healthOf(exchange: Exchange, judged: Judged, { signal }: Urgency): Health {
  if (exchange === EXCHANGE_DEADLINE_EXCEEDED) return 'neither';
  if (exchange.kind === 'reply') {
    if (isServerError(exchange.reply.status)) return 'bad';
    return judged.failure?.code === 'OPERATOR_INVALID_REPLY' ? 'bad' : 'good';
  }
  const { cause, sent } = exchange.fault;
  if (cause === 'rate' || cause === 'descriptors') return 'neither';
  if (cause !== 'cancelled') return 'bad';
  // Silence until the request's deadline counts as well; a caller who hung up proves nothing.
  return signal?.reason instanceof DeadlineExceeded && sent ? 'bad' : 'neither';
}
