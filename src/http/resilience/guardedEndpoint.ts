import type { Clock } from '../../system/clock.ts';
import {
  circuitChannel,
  exchangeChannel,
  traced,
  type CircuitMessage,
  type ExchangeResult,
} from '../../log/diagnostics.ts';
import type { PhoneNumber } from '../../domain/phoneNumber.ts';
import type { LookupFailure } from '../../domain/errors.ts';
import type { Log } from '../../log/log.ts';
import { asAbortSignal } from '../abortListeners.ts';
import { DeadlineExceeded } from '../requestLife.ts';
import type { OpenConnections } from '../connections/openConnections.ts';
import { nameOnWire } from '../correlator.ts';
import { NO_TIME, type Endpoint } from '../connections/endpoint.ts';
import type { ErrorMap } from '../errorMap.ts';
import type { Departure, Exchange, HttpReply, OutgoingRequest } from '../exchange.ts';
import { knownWord } from '../operatorWords.ts';
import { ProfileFault } from '../profileCalls.ts';
import { errorWord, leavesInDoubt } from '../refusal.ts';
import type { ReplyFlaw } from '../replyFlaw.ts';
import { retryAfterSeconds } from '../retryAfter.ts';
import type { CorrelatorSettings } from '../wireSettings.ts';
import { AddressWatch } from './addressWatch.ts';
import type { Circuit, Health, Switched } from './circuit.ts';
import { addressSetting, findingOf } from './finding.ts';
import type { RequestRate, Turn } from './requestRate.ts';
import type { RetryBudget } from './retryBudget.ts';
import type { decideRetry, ExchangeKind, RetryDecision, RetryRules } from './retryDecision.ts';
import type { Urgency } from './bulkhead.ts';

/** Spreads retries over so long, so that many that failed together do not come back together. */
const JITTER_MS = 200;

/** What guards an endpoint. */
export interface Guards {
  /** What the log calls the endpoint. */
  readonly name: string;
  /** The operator's name, as in the settings. */
  readonly operator: string;
  readonly kind: ExchangeKind;
  readonly circuit: Circuit;
  /** Shared by all endpoints of an operator. */
  readonly budget: RetryBudget;
  readonly rules: RetryRules;
  /** Shared by all endpoints of an operator; it may be asked as often as need be where absent. */
  readonly rate: RequestRate | undefined;
  /** How the operator words its errors. */
  readonly errors: ErrorMap;
  readonly correlatorForm: CorrelatorSettings['form'];
  readonly decideRetry: typeof decideRetry;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** What a reply was judged to be; a `failure` in it counts for the circuit. */
export interface Judged {
  readonly failure?: LookupFailure;
  /** Which check the reply failed, for the log. */
  readonly flaw?: ReplyFlaw;
  /** Whether it was left out, as it may be another request's: the next exchange takes a fresh connection. */
  readonly isUnproven?: boolean;
  readonly [told: string]: unknown;
}

/** One request to be made, as often as it takes. */
export interface GuardedPost<J extends Judged> {
  /** Whom it is about: an operator may fail at one number, and be well otherwise. */
  readonly about: PhoneNumber;
  readonly urgency: Urgency;
  /**
   * Makes what is sent, anew for each attempt: no two share a correlator or an assertion. A {@link ProfileFault} is the
   * outcome of an exchange that was never begun.
   *
   * @param address of the endpoint, without query
   */
  readonly make: (address: string) => Promise<OutgoingRequest> | OutgoingRequest;
  /** Reads what came of it. */
  readonly judge: (exchange: Exchange) => J;
  /** Whether its token may have been issued for another number. */
  readonly isTokenUnproven?: boolean;
  /** Whether this is the retry already. */
  readonly isRetry?: boolean;
}

/** An exchange, its judgement, and whether the same lookup may be tried once more with a new token. */
export interface Outcome<J> {
  readonly judged: J;
  /** Exchanges that may have reached the operator: all but those of which no byte left. */
  readonly attempts: number;
  readonly mayRetryWithNewToken: boolean;
}

/** An exchange and what it was judged to be. */
interface Attempt<J> {
  readonly exchange: Exchange;
  readonly judged: J;
  readonly health: Health;
}

/** One attempt, as it leaves. */
interface Sending {
  readonly post: OutgoingRequest;
  /** In the log; the post has the one that the operator sees. */
  readonly correlator: string;
  readonly isRetry: boolean;
}

const NOTHING_BUT_NOT_FOUND =
  'The operator has answered nothing but NOT_FOUND, over ten numbers: its address may be wrong.';

/** How an exchange is found: in our log, and in the operator's where it has another name there. */
interface ExchangeNames {
  readonly correlator: string;
  readonly sentAs?: string;
}

/** The request ended while it waited for its turn. */
const HUNG_UP: Exchange = {
  kind: 'fault',
  fault: { cause: 'cancelled', sent: false, detail: 'the request ended' },
};

function notBegun(turn: Extract<Turn, { kind: 'not-in-time' }>): Exchange {
  const { retryAfterSeconds: seconds } = turn;
  const detail = 'the rate of the contract is reached';
  const fault = { cause: 'rate', sent: false, detail, retryAfterSeconds: seconds } as const;
  return { kind: 'fault', fault };
}

/** An exchange that the profile wrote no request for. */
export function profileFault(detail: string): Exchange {
  return { kind: 'fault', fault: { cause: 'invalid-reply', sent: false, detail } };
}

const CIRCUIT_OPEN: Exchange = {
  kind: 'fault',
  fault: { cause: 'connection', sent: false, detail: 'circuit open' },
};

/** An endpoint behind its circuit breaker, with the one retry that {@link decideRetry} may allow. */
export class GuardedEndpoint {
  readonly #endpoint: Endpoint;
  readonly #guards: Guards;
  readonly #address = new AddressWatch();

  constructor(endpoint: Endpoint, guards: Guards) {
    this.#endpoint = endpoint;
    this.#guards = guards;
  }

  /** Never starts after the deadline, and never rejects unless `make` or `judge` do, a {@link ProfileFault} aside. */
  post<J extends Judged>(request: GuardedPost<J>): Promise<Outcome<J>> {
    return this.#attempt(request).then((first) => {
      if (request.isRetry !== true) this.#guards.budget.count();
      return request.isRetry === true || isSuccess(first.exchange)
        ? { judged: first.judged, attempts: leftOf(first), mayRetryWithNewToken: false }
        : this.#retry(request, first);
    });
  }

  /** How many connections are open now. */
  get connections(): OpenConnections {
    return this.#endpoint.connections;
  }

  /** Breaks what is still under way and closes the connections. */
  close(): Promise<void> {
    return this.#endpoint.close();
  }

  /** What came of late may have been another request's: fresh connections for a while, or until an echo. */
  distrust(): void {
    this.#endpoint.distrust();
  }

  async #retry<J extends Judged>(request: GuardedPost<J>, first: Attempt<J>): Promise<Outcome<J>> {
    const attempts = leftOf(first);
    const over: Outcome<J> = { judged: first.judged, attempts, mayRetryWithNewToken: false };
    const decision = this.#decide(first.exchange, request);
    if (decision.retry === 'none') return over;
    // A lookup with a new token is two exchanges.
    if (!this.#guards.budget.take(decision.retry === 'new-token' ? 2 : 1)) return over;
    if (!(await this.#pause(decision.atLeastMs, request.urgency))) return over;
    if (decision.retry === 'new-token') return { ...over, mayRetryWithNewToken: true };
    const second = await this.#attempt({ ...request, isRetry: true });
    return {
      judged: second.judged,
      attempts: attempts + leftOf(second),
      mayRetryWithNewToken: false,
    };
  }

  #decide<J extends Judged>(
    exchange: Exchange,
    { urgency, isTokenUnproven = false }: GuardedPost<J>,
  ): RetryDecision {
    if (exchange === CIRCUIT_OPEN) return { retry: 'none' };
    const { kind, rules, clock } = this.#guards;
    return this.#guards.decideRetry(
      {
        kind,
        exchange,
        retryAfterSeconds: retryAfterOf(exchange, clock.nowMs()),
        timeLeftMs: this.#timeLeftMs(urgency),
        isTokenUnproven,
      },
      rules,
    );
  }

  #attempt<J extends Judged>(request: GuardedPost<J>): Promise<Attempt<J>> {
    return this.#guards.circuit.isClosed ? this.#exchange(request) : this.#try(request);
  }

  async #try<J extends Judged>(request: GuardedPost<J>): Promise<Attempt<J>> {
    const { circuit } = this.#guards;
    if (!circuit.mayTry(request.about)) {
      return { exchange: CIRCUIT_OPEN, judged: request.judge(CIRCUIT_OPEN), health: 'neither' };
    }
    circuit.trying();
    let health: Health = 'neither';
    try {
      const tried = await this.#exchange(request);
      ({ health } = tried);
      return tried;
    } finally {
      this.#reportCircuit(circuit.tried(health, request.about));
    }
  }

  async #exchange<J extends Judged>(request: GuardedPost<J>): Promise<Attempt<J>> {
    const { about, urgency, make, judge, isRetry = false } = request;
    let post: OutgoingRequest;
    try {
      const making = make(this.#endpoint.address);
      post = making instanceof Promise ? await making : making;
    } catch (error) {
      if (!(error instanceof ProfileFault)) throw error;
      return this.#notWritten(request, error);
    }
    const { correlator } = post;
    const sentAs = nameOnWire(this.#guards.correlatorForm, correlator);
    const onWire = sentAs === correlator ? post : { ...post, correlator: sentAs };
    const exchange = await this.#send({ post: onWire, correlator, isRetry }, urgency);
    const judged = judge(exchange);
    if (judged.isUnproven === true) this.#endpoint.distrust();
    const names = sentAs === correlator ? { correlator } : { correlator, sentAs };
    this.#report(about, names, exchange, judged);
    const health = healthOf(exchange, judged, urgency);
    this.#reportCircuit(this.#guards.circuit.count(health, about));
    return { exchange, judged, health };
  }

  #notWritten<J extends Judged>({ judge }: GuardedPost<J>, { detail }: ProfileFault): Attempt<J> {
    const { name: endpoint, log } = this.#guards;
    log.error('The profile of this operator does not keep to its type: nothing is sent.', {
      endpoint,
      detail,
    });
    const exchange = profileFault(detail);
    return { exchange, judged: judge(exchange), health: 'neither' };
  }

  #send({ post, correlator, isRetry }: Sending, urgency: Urgency): Promise<Exchange> {
    if (!exchangeChannel.hasSubscribers) return this.#sendInTurn(post, urgency);
    const { operator, name: endpoint } = this.#guards;
    const { address: url } = this.#endpoint;
    const { method = 'POST' } = post;
    const added: string[] = [];
    const addHeader = (name: string, value: string): void => void added.push(name, value);
    return traced(
      exchangeChannel,
      { operator, correlator, endpoint, method, url, isRetry, addHeader },
      () => {
        const sent = added.length === 0 ? post : { ...post, headers: post.headers.concat(added) };
        return this.#sendInTurn(sent, urgency);
      },
      resultOf,
    );
  }

  #sendInTurn(post: OutgoingRequest, urgency: Urgency): Promise<Exchange> {
    const { rate } = this.#guards;
    const send = () => this.#endpoint.post(post, this.#exchangeTimeMs(urgency), this.#now());
    return rate === undefined ? send() : this.#inTurn(rate, urgency, send);
  }

  /** At most half of what is left is waited for: an exchange that leaves has time for its reply. */
  async #inTurn(
    rate: RequestRate,
    { deadlineMs, signal }: Urgency,
    send: () => Promise<Exchange>,
  ): Promise<Exchange> {
    const { kind, clock } = this.#guards;
    const halfMs = (clock.monotonicMs() + deadlineMs) / 2;
    const turn = await rate.turn(kind, { deadlineMs: halfMs, signal });
    switch (turn.kind) {
      case 'now':
        return send();
      case 'not-in-time':
        return signal?.aborted === true ? HUNG_UP : notBegun(turn);
    }
  }

  #report(about: PhoneNumber, names: ExchangeNames, exchange: Exchange, judged: Judged): void {
    const { name: endpoint, kind, errors, log } = this.#guards;
    const { failure, flaw, isUnproven } = judged;
    const finding = findingOf({ endpoint, kind, exchange, errors, failure, flaw, isUnproven });
    if (finding !== undefined) {
      log[finding.level](finding.message, { ...finding.details, ...names });
    }
    switch (exchange.kind) {
      case 'reply':
        this.#watchAddress(about, exchange.reply, judged, names);
        return;
      case 'fault':
    }
  }

  #watchAddress(
    about: PhoneNumber,
    reply: HttpReply,
    { failure, isUnproven }: Judged,
    names: ExchangeNames,
  ): void {
    if (leavesInDoubt(reply.status) || isUnproven === true) return;
    const { name: endpoint, kind, errors, log } = this.#guards;
    const wording = { wordIn: 'code', errors } as const;
    const word = failure === undefined ? undefined : knownWord(errorWord(reply, wording));
    if (failure === undefined || (word !== undefined && word !== 'NOT_FOUND')) {
      this.#address.isRight();
    } else if (failure.code === 'NUMBER_NOT_SERVED' && this.#address.notFound(about)) {
      const setting = addressSetting(kind);
      log.error(NOTHING_BUT_NOT_FOUND, { endpoint, status: reply.status, setting, ...names });
    }
  }

  #reportCircuit(switched: Switched | undefined): void {
    const { operator, name: endpoint, log } = this.#guards;
    switch (switched) {
      case 'opened':
        publishCircuit({ operator, endpoint, state: 'open' });
        log.warn(
          'The circuit is open: the operator is not called, except for a trial every few seconds.',
          {
            endpoint,
          },
        );
        return;
      case 'closed':
        publishCircuit({ operator, endpoint, state: 'closed' });
        log.info('The circuit is closed: the operator is back.', { endpoint });
        return;
      case undefined:
    }
  }

  /** Full jitter on top of what the operator asked for; `false` when time ran out meanwhile. */
  async #pause(atLeastMs: number, { deadlineMs, signal }: Urgency): Promise<boolean> {
    const { clock, random } = this.#guards;
    const pauseMs = atLeastMs + random() * JITTER_MS;
    if (clock.monotonicMs() + pauseMs >= deadlineMs) return false;
    try {
      await clock.sleep(pauseMs, signal === undefined ? undefined : asAbortSignal(signal));
    } catch {
      return false;
    }
    return true;
  }

  #now(): Departure {
    const { clock } = this.#guards;
    return { sentAtMs: clock.nowMs(), leftAtMs: clock.monotonicMs() };
  }

  #exchangeTimeMs(urgency: Urgency): number {
    const timeLeftMs = this.#timeLeftMs(urgency);
    return urgency.isShared === true && timeLeftMs > 0 ? Infinity : timeLeftMs;
  }

  #timeLeftMs({ deadlineMs }: Urgency): number {
    return deadlineMs - this.#guards.clock.monotonicMs();
  }
}

/** What is published of an exchange: nothing of what was sent, nor of the reply's body. */
function resultOf(exchange: Exchange): ExchangeResult {
  switch (exchange.kind) {
    case 'reply':
      return { outcome: 'replied', status: exchange.reply.status };
    case 'fault': {
      const { cause, sent, detail } = exchange.fault;
      return { outcome: cause, sent, detail };
    }
  }
}

function publishCircuit(message: CircuitMessage): void {
  if (circuitChannel.hasSubscribers) circuitChannel.publish(message);
}

function leftOf({ exchange }: { readonly exchange: Exchange }): 0 | 1 {
  switch (exchange.kind) {
    case 'reply':
      return 1;
    case 'fault':
      return exchange.fault.sent ? 1 : 0;
  }
}

function isSuccess(exchange: Exchange): boolean {
  switch (exchange.kind) {
    case 'reply':
      return exchange.reply.status < 300;
    case 'fault':
      return false;
  }
}

function retryAfterOf(exchange: Exchange, nowMs: number): number | undefined {
  switch (exchange.kind) {
    case 'reply':
      return retryAfterSeconds(exchange.reply, nowMs);
    case 'fault':
      return undefined;
  }
}

/** Transport, timeout, 5xx and bad bodies speak against an endpoint; 4xx do not (docs/design.md, "The circuit"). */
function healthOf(exchange: Exchange, judged: Judged, { signal }: Urgency): Health {
  if (exchange === NO_TIME) return 'neither';
  switch (exchange.kind) {
    case 'fault': {
      const { cause, sent } = exchange.fault;
      if (cause === 'rate' || cause === 'descriptors') return 'neither';
      if (cause !== 'cancelled') return 'bad';
      // Silent until the request's own deadline is silence too; a caller who hung up proves nothing.
      return signal?.reason instanceof DeadlineExceeded && sent ? 'bad' : 'neither';
    }
    case 'reply': {
      const { status } = exchange.reply;
      if (leavesInDoubt(status) && status !== 501) return 'bad';
      return judged.failure?.code === 'OPERATOR_INVALID_REPLY' ? 'bad' : 'good';
    }
  }
}
