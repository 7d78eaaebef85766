import type { Clock } from '../../clock.ts';
import type { LookupFailure } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { DeadlineExceeded } from '../abortReasons.ts';
import { NO_TIME, type Endpoint } from '../endpoint.ts';
import type { Exchange, Post } from '../exchange.ts';
import { retryAfterSeconds } from '../retryAfter.ts';
import type { Circuit, Health } from './circuit.ts';
import type { RetryBudget } from './retryBudget.ts';
import type { decideRetry, ExchangeKind, RetryDecision, RetryRules } from './retryDecision.ts';
import type { Urgency } from './bulkhead.ts';

/** Spreads retries over so long, so that many that failed together do not come back together. */
const JITTER_MS = 200;

/** What guards an endpoint. */
export interface Guards {
  /** What the log calls the endpoint. */
  readonly name: string;
  readonly kind: ExchangeKind;
  readonly circuit: Circuit;
  /** Shared by all endpoints of an operator. */
  readonly budget: RetryBudget;
  readonly rules: RetryRules;
  readonly decideRetry: typeof decideRetry;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** What a reply was judged to be; a `failure` in it counts for the circuit. */
export interface Judged {
  readonly failure?: LookupFailure;
  readonly [told: string]: unknown;
}

/** One request to be made, as often as it takes. */
export interface GuardedPost<J extends Judged> {
  readonly urgency: Urgency;
  /** Makes what is sent, anew for each attempt: no two share a correlator or an assertion. */
  readonly make: () => Promise<Post> | Post;
  /** Reads what came of it. */
  readonly judge: (exchange: Exchange) => J;
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

const CIRCUIT_OPEN: Exchange = {
  fault: { cause: 'connection', sent: false, detail: 'circuit open' },
};

/** An endpoint behind its circuit breaker, with the one retry that {@link decideRetry} may allow. */
export class GuardedEndpoint {
  readonly #endpoint: Endpoint;
  readonly #guards: Guards;

  constructor(endpoint: Endpoint, guards: Guards) {
    this.#endpoint = endpoint;
    this.#guards = guards;
  }

  /** Never starts after the deadline, and never rejects unless `make` or `judge` do. */
  post<J extends Judged>(request: GuardedPost<J>): Promise<Outcome<J>> {
    return this.#attempt(request).then((first) => {
      if (request.isRetry !== true) this.#guards.budget.count();
      return request.isRetry === true || isSuccess(first.exchange)
        ? { judged: first.judged, attempts: leftOf(first), mayRetryWithNewToken: false }
        : this.#retry(request, first);
    });
  }

  async #retry<J extends Judged>(request: GuardedPost<J>, first: Attempt<J>): Promise<Outcome<J>> {
    const attempts = leftOf(first);
    const over: Outcome<J> = { judged: first.judged, attempts, mayRetryWithNewToken: false };
    const decision = this.#decide(first.exchange, request.urgency);
    if (decision.retry === 'none') return over;
    // A lookup with a new token is two exchanges.
    if (!this.#guards.budget.take(decision.retry === 'new-token' ? 2 : 1)) return over;
    if (!(await this.#pause(decision.atLeastMs, request.urgency))) return over;
    if (decision.retry === 'new-token') return { ...over, mayRetryWithNewToken: true };
    const second = await this.#attempt(request);
    return {
      judged: second.judged,
      attempts: attempts + leftOf(second),
      mayRetryWithNewToken: false,
    };
  }

  #decide(exchange: Exchange, urgency: Urgency): RetryDecision {
    if (exchange === CIRCUIT_OPEN) return { retry: 'none' };
    const { kind, rules, clock } = this.#guards;
    const waitSeconds =
      'reply' in exchange ? retryAfterSeconds(exchange.reply, clock.nowMs()) : undefined;
    const timeLeftMs = this.#timeLeftMs(urgency);
    return this.#guards.decideRetry(
      { kind, exchange, retryAfterSeconds: waitSeconds, timeLeftMs },
      rules,
    );
  }

  #attempt<J extends Judged>(request: GuardedPost<J>): Promise<Attempt<J>> {
    return this.#guards.circuit.isClosed ? this.#exchange(request) : this.#try(request);
  }

  async #try<J extends Judged>(request: GuardedPost<J>): Promise<Attempt<J>> {
    const tried = await this.#guards.circuit.try(() => this.#exchange(request));
    if (tried !== undefined) return tried;
    return { exchange: CIRCUIT_OPEN, judged: request.judge(CIRCUIT_OPEN), health: 'neither' };
  }

  async #exchange<J extends Judged>({ urgency, make, judge }: GuardedPost<J>): Promise<Attempt<J>> {
    const making = make();
    const post = making instanceof Promise ? await making : making;
    const exchange = await this.#endpoint.post(post, this.#exchangeTimeMs(urgency));
    const judged = judge(exchange);
    this.#report(post, exchange, judged);
    const health = healthOf(exchange, judged, urgency);
    this.#guards.circuit.count(health);
    return { exchange, judged, health };
  }

  /** Whoever runs the service must hear of a refusal: only they can mend it. */
  #report({ correlator }: Post, exchange: Exchange, { failure }: Judged): void {
    const { name: endpoint, log } = this.#guards;
    if (failure?.code === 'OPERATOR_REFUSED' && 'reply' in exchange) {
      const { status } = exchange.reply;
      log.error('the operator refused our request', { endpoint, status, correlator });
    } else if ('fault' in exchange && exchange.fault.cause !== 'cancelled') {
      const { detail } = exchange.fault;
      log.warn('an exchange with the operator failed', { endpoint, detail, correlator });
    } else if (failure?.code === 'OPERATOR_INVALID_REPLY') {
      log.warn('the operator sent a reply that cannot be trusted', { endpoint, correlator });
    }
  }

  /** Full jitter on top of what the operator asked for; `false` when time ran out meanwhile. */
  async #pause(atLeastMs: number, { deadlineMs, signal }: Urgency): Promise<boolean> {
    const { clock, random } = this.#guards;
    const pauseMs = atLeastMs + random() * JITTER_MS;
    if (clock.monotonicMs() + pauseMs >= deadlineMs) return false;
    try {
      await clock.sleep(pauseMs, signal);
    } catch {
      return false;
    }
    return true;
  }

  #exchangeTimeMs(urgency: Urgency): number {
    const timeLeftMs = this.#timeLeftMs(urgency);
    return urgency.isShared === true && timeLeftMs > 0 ? Infinity : timeLeftMs;
  }

  #timeLeftMs({ deadlineMs }: Urgency): number {
    return deadlineMs - this.#guards.clock.monotonicMs();
  }
}

function leftOf({ exchange }: { readonly exchange: Exchange }): 0 | 1 {
  return 'fault' in exchange && !exchange.fault.sent ? 0 : 1;
}

function isSuccess(exchange: Exchange): boolean {
  return 'reply' in exchange && exchange.reply.status < 300;
}

/** Transport, timeout, 5xx and bad bodies speak against an endpoint; 4xx do not (design §5). */
function healthOf(exchange: Exchange, judged: Judged, { signal }: Urgency): Health {
  if (exchange === NO_TIME) return 'neither';
  if ('fault' in exchange) {
    if (exchange.fault.cause !== 'cancelled') return 'bad';
    // Silent until the request's own deadline is silence too; a caller who hung up proves nothing.
    return signal?.reason instanceof DeadlineExceeded && exchange.fault.sent ? 'bad' : 'neither';
  }
  const { status } = exchange.reply;
  if (status >= 500 && status !== 501) return 'bad';
  return judged.failure?.code === 'OPERATOR_INVALID_REPLY' ? 'bad' : 'good';
}
