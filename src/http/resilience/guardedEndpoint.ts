import type { Clock } from '../../system/clock.ts';
import {
  circuitChannel,
  exchangeChannel,
  traced,
  type ExchangeResult,
} from '../../log/diagnostics.ts';
import type { PhoneNumber } from '../../domain/phoneNumber.ts';
import type { LookupFailure } from '../../domain/errors.ts';
import type { Log } from '../../log/log.ts';
import { DeadlineExceeded } from '../requestLife.ts';
import type { OpenConnections } from '../connections/connectionSettings.ts';
import { nameOnWire } from '../correlator.ts';
import { NO_TIME, type Endpoint } from '../connections/endpoint.ts';
import type { ErrorMap } from '../errorMap.ts';
import type { Exchange, OutgoingRequest } from '../exchange.ts';
import { knownWord } from '../operatorWords.ts';
import { ProfileFault } from '../profileCalls.ts';
import { errorWord, leavesInDoubt } from '../refusal.ts';
import type { ReplyFlaw } from '../replyFlaw.ts';
import { retryAfterSeconds } from '../headers.ts';
import type { CorrelatorSettings } from '../wireSettings.ts';
import type { Circuit, Health, Switched } from './circuit.ts';
import { addressSetting, findingOf } from './finding.ts';
import type { RequestRate, Turn } from './requestRate.ts';
import type { RetryBudget } from './retryBudget.ts';
import type { decideRetry, ExchangeKind, RetryDecision, RetryRules } from './retryDecision.ts';
import type { Urgency } from './bulkhead.ts';

/** Spreads retries over so long, so that many that failed together do not come back together. */
const JITTER_MS = 200;

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
  readonly isRetry?: boolean;
}

/** An exchange, its judgement, and whether the same lookup may be tried once more with a new token. */
export interface Outcome<J> {
  readonly judged: J;
  /** Exchanges that may have reached the operator: all but those of which no byte left. */
  readonly attempts: number;
  readonly mayRetryWithNewToken: boolean;
}

/** An exchange, and what it comes to by itself. */
interface Attempt<J> {
  readonly exchange: Exchange;
  readonly outcome: Outcome<J>;
}

/** One attempt, as it leaves. */
interface Sending {
  readonly post: OutgoingRequest;
  /** Its correlator, as the operator sees it. */
  readonly sentAs: string;
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

function rateReached(turn: Extract<Turn, { kind: 'not-in-time' }>): Exchange {
  const { retryAfterSeconds: seconds } = turn;
  const detail = 'the rate of the contract is reached';
  const fault = { cause: 'rate', sent: false, detail, retryAfterSeconds: seconds } as const;
  return { kind: 'fault', fault };
}

/** An exchange that the profile wrote no request for. */
export function profileFault(detail: string): Exchange {
  return { kind: 'fault', fault: { cause: 'invalid-reply', sent: false, detail } };
}

function notBegun<J>(exchange: Exchange, judge: (exchange: Exchange) => J): Attempt<J> {
  return {
    exchange,
    outcome: { judged: judge(exchange), attempts: 0, mayRetryWithNewToken: false },
  };
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
  async post<J extends Judged>(request: GuardedPost<J>): Promise<Outcome<J>> {
    const { about, urgency, make, judge, isRetry = false } = request;
    const { circuit, correlatorForm } = this.#guards;
    const isTrial = !circuit.isClosed;
    if (isTrial && !circuit.mayTry(about)) {
      return this.#concluded(request, notBegun(CIRCUIT_OPEN, judge));
    }
    if (isTrial) circuit.trying();
    let health: Health = 'neither';
    let attempt: Attempt<J>;
    try {
      let post: OutgoingRequest;
      try {
        const making = make(this.#endpoint.address);
        post = making instanceof Promise ? await making : making;
      } catch (error) {
        if (!(error instanceof ProfileFault)) throw error;
        return this.#concluded(request, notBegun(this.#notWritten(error), judge));
      }
      const { correlator } = post;
      const sentAs = nameOnWire(correlatorForm, correlator);
      const exchange = await this.#send({ post, sentAs, isRetry }, urgency);
      const judged = judge(exchange);
      if (isAnswer(exchange, judged)) {
        health = 'good';
        this.#address.isRight();
      } else {
        health = healthOf(exchange, judged, urgency);
        if (judged.isUnproven === true) this.#endpoint.distrust();
        const names = sentAs === correlator ? { correlator } : { correlator, sentAs };
        this.#report(about, names, exchange, judged);
      }
      const attempts = exchange.kind === 'fault' && !exchange.fault.sent ? 0 : 1;
      attempt = { exchange, outcome: { judged, attempts, mayRetryWithNewToken: false } };
    } finally {
      const switched = isTrial ? circuit.tried(health, about) : circuit.count(health, about);
      if (switched !== undefined) this.#tellSwitched(switched);
    }
    return this.#concluded(request, attempt);
  }

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

  /** What an attempt comes to: a first one perhaps to a second. */
  #concluded<J extends Judged>(
    request: GuardedPost<J>,
    { exchange, outcome }: Attempt<J>,
  ): Promise<Outcome<J>> | Outcome<J> {
    if (request.isRetry === true) return outcome;
    const { budget, decideRetry: decide, kind, rules, clock } = this.#guards;
    budget.count();
    const reply = exchange.kind === 'reply' ? exchange.reply : undefined;
    if (exchange === CIRCUIT_OPEN || (reply !== undefined && reply.status < 300)) return outcome;
    const decision = decide(
      {
        kind,
        exchange,
        retryAfterSeconds:
          reply === undefined ? undefined : retryAfterSeconds(reply, clock.nowMs()),
        timeLeftMs: request.urgency.deadlineMs - clock.monotonicMs(),
        isTokenUnproven: request.isTokenUnproven ?? false,
      },
      rules,
    );
    if (decision.retry === 'none') return outcome;
    // A lookup with a new token is two exchanges.
    if (!budget.take(decision.retry === 'new-token' ? 2 : 1)) return outcome;
    return this.#retried(request, outcome, decision);
  }

  async #retried<J extends Judged>(
    request: GuardedPost<J>,
    first: Outcome<J>,
    { retry, atLeastMs }: Exclude<RetryDecision, { readonly retry: 'none' }>,
  ): Promise<Outcome<J>> {
    const { clock, random } = this.#guards;
    // Full jitter on top of the operator's Retry-After.
    const isInTime = await pause(clock, atLeastMs + random() * JITTER_MS, request.urgency);
    if (!isInTime) return first;
    if (retry === 'new-token') return { ...first, mayRetryWithNewToken: true };
    const second = await this.post({ ...request, isRetry: true });
    return { ...second, attempts: first.attempts + second.attempts };
  }

  #send({ post, sentAs, isRetry }: Sending, urgency: Urgency): Promise<Exchange> {
    // Of a thousand numbers each message costs, and mostly nobody hears it.
    if (!exchangeChannel.hasSubscribers && sentAs === post.correlator) {
      return this.#sendInTurn(post, urgency);
    }
    const { operator, name: endpoint } = this.#guards;
    const { address: url } = this.#endpoint;
    const { method = 'POST', correlator } = post;
    let { headers } = post;
    const addHeader = (name: string, value: string): void => {
      headers = headers.concat(name, value);
    };
    return traced(
      exchangeChannel,
      () => ({ operator, correlator, endpoint, method, url, isRetry, addHeader }),
      () => this.#sendInTurn({ ...post, headers, correlator: sentAs }, urgency),
      resultOf,
    );
  }

  #sendInTurn(post: OutgoingRequest, urgency: Urgency, isItsTurn = false): Promise<Exchange> {
    const { rate, kind, clock } = this.#guards;
    const { deadlineMs, signal, isShared = false } = urgency;
    const leftAtMs = clock.monotonicMs();
    if (rate !== undefined && !isItsTurn) {
      // At most half of what is left is waited for: an exchange that leaves has time for its reply.
      const halfMs = (leftAtMs + deadlineMs) / 2;
      return rate.turn(kind, { deadlineMs: halfMs, signal }).then((turn) => {
        if (turn.kind === 'now') return this.#sendInTurn(post, urgency, true);
        return signal?.aborted === true ? HUNG_UP : rateReached(turn);
      });
    }
    const timeLeftMs = deadlineMs - leftAtMs;
    const timeMs = isShared && timeLeftMs > 0 ? Infinity : timeLeftMs;
    return this.#endpoint.post(post, timeMs, { sentAtMs: clock.nowMs(), leftAtMs });
  }

  /** An exchange that the profile wrote no request for. */
  #notWritten({ detail }: ProfileFault): Exchange {
    const { name: endpoint, log } = this.#guards;
    log.error('The profile of this operator does not keep to its type: nothing is sent.', {
      endpoint,
      detail,
    });
    return profileFault(detail);
  }

  #report(about: PhoneNumber, names: ExchangeNames, exchange: Exchange, judged: Judged): void {
    const { failure, flaw, isUnproven } = judged;
    const reply = exchange.kind === 'reply' ? exchange.reply : undefined;
    const { name: endpoint, kind, errors, log } = this.#guards;
    const finding = findingOf({ endpoint, kind, exchange, errors, failure, flaw, isUnproven });
    if (finding !== undefined) {
      log[finding.level](finding.message, { ...finding.details, ...names });
    }
    if (reply === undefined || leavesInDoubt(reply.status) || isUnproven === true) return;
    const word =
      failure === undefined ? undefined : knownWord(errorWord(reply, { wordIn: 'code', errors }));
    if (failure === undefined || (word !== undefined && word !== 'NOT_FOUND')) {
      this.#address.isRight();
    } else if (failure.code === 'NUMBER_NOT_SERVED' && this.#address.notFound(about)) {
      const setting = addressSetting(kind);
      log.error(NOTHING_BUT_NOT_FOUND, { endpoint, status: reply.status, setting, ...names });
    }
  }

  #tellSwitched(switched: Switched): void {
    const { operator, name: endpoint, log } = this.#guards;
    switch (switched) {
      case 'opened':
        circuitChannel.publish({ operator, endpoint, state: 'open' });
        log.warn(
          'The circuit is open: the operator is not called, except for a trial every few seconds.',
          { endpoint },
        );
        return;
      case 'closed':
        circuitChannel.publish({ operator, endpoint, state: 'closed' });
        log.info('The circuit is closed: the operator is back.', { endpoint });
    }
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

/** `false` when the request ended or ran out of time meanwhile. */
async function pause(
  clock: Clock,
  pauseMs: number,
  { deadlineMs, signal }: Urgency,
): Promise<boolean> {
  if (clock.monotonicMs() + pauseMs >= deadlineMs) return false;
  try {
    await clock.sleep(pauseMs, signal?.asAbortSignal());
    return true;
  } catch {
    return false;
  }
}

function isAnswer(exchange: Exchange, { failure, isUnproven }: Judged): boolean {
  const isSuccess = exchange.kind === 'reply' && exchange.reply.status < 300;
  return isSuccess && failure === undefined && isUnproven !== true;
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

const MIN_NUMBERS = 10;

/**
 * Suspects an address that knows no number. NOT_FOUND is CAMARA's word for an unknown number, and many a
 * gateway's for a wrong path: a mistyped URL would tell every user that their number is not served.
 */
class AddressWatch {
  /** Numbers that were not found, until a reply shows that the address is right. */
  #notFound: Set<PhoneNumber> | undefined = new Set();

  /** A lookup's number was not found; whether the endpoint has said nothing else over ten numbers. */
  notFound(number: PhoneNumber): boolean {
    if (this.#notFound === undefined) return false;
    if (this.#notFound.size < MIN_NUMBERS) this.#notFound.add(number);
    return this.#notFound.size >= MIN_NUMBERS;
  }

  /** The endpoint gave an answer, or an error that only an operator's own endpoint gives. */
  isRight(): void {
    this.#notFound = undefined;
  }
}
