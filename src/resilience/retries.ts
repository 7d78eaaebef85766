import type { Clock } from '../system/clock.ts';
import type { Exchange, TransportFault } from '../wire/exchange.ts';
import { leavesInDoubt } from '../judging/refusal.ts';

/** Endpoints, as retries distinguish them (docs/design.md, "Retries"); the directory is the company's own. */
export type ExchangeKind =
  'backchannel-authentication' | 'token-poll' | 'client-credentials' | 'lookup' | 'directory';

export interface FinishedExchange {
  readonly kind: ExchangeKind;
  readonly exchange: Exchange;
  readonly retryAfterSeconds: number | undefined;
  readonly timeLeftMs: number;
  /** Whether the token of a lookup may have been issued for another number. */
  readonly isTokenUnproven?: boolean;
  /** Whether other lookups have the same token. */
  readonly isTokenShared?: boolean;
}

export interface RetryRules {
  /** Whether a token can be acquired without a prompt. */
  readonly canTakeNewToken: boolean;
  /** `retryLookups`: repeats a lookup whose outcome is unknown; both may be billed. */
  readonly retriesDoubtfulLookups: boolean;
}

/**
 * Whether and how to try again: `same` sends the same request again, `new-token` first takes another
 * token, `refresh` one that replaces a shared token for all who have it; `atLeastMs` is the wait that the operator requires, without jitter.
 */
export type RetryDecision =
  | { readonly retry: 'none' }
  | { readonly retry: 'same' | 'new-token' | 'refresh'; readonly atLeastMs: number };

const NONE: RetryDecision = { retry: 'none' };

/** The table of docs/design.md, "Retries", for a first attempt, without regard to the budget. Pure. */
export function decideRetry(finished: FinishedExchange, rules: RetryRules): RetryDecision {
  const { exchange, timeLeftMs } = finished;
  // It was already repeated with the nonce of its challenge.
  if (exchange.kind === 'reply' && exchange.challenge !== undefined) return NONE;
  const decision =
    exchange.kind === 'reply'
      ? byStatus(exchange.reply.status, finished, rules)
      : byFault(exchange.fault, finished, rules);
  return decision.retry !== 'none' && decision.atLeastMs >= timeLeftMs ? NONE : decision;
}

function byFault(
  { cause, sent }: TransportFault,
  { kind }: FinishedExchange,
  rules: RetryRules,
): RetryDecision {
  if (cause !== 'connection' && cause !== 'timeout') return NONE;
  switch (kind) {
    case 'client-credentials':
    case 'directory':
      return retryWith('same');
    case 'backchannel-authentication':
      return sent ? NONE : retryWith('same');
    case 'lookup':
      return sent ? onDoubt(rules) : retryWith('same');
    case 'token-poll':
      return NONE;
  }
}

function byStatus(
  status: number,
  { kind, exchange, retryAfterSeconds, isTokenUnproven, isTokenShared }: FinishedExchange,
  rules: RetryRules,
): RetryDecision {
  const afterMs = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000;
  switch (kind) {
    case 'lookup':
      if (status === 401 || (status === 403 && isTokenUnproven === true)) {
        if (!rules.canTakeNewToken) return NONE;
        const isProven = exchange.kind === 'reply' && exchange.isUnproven !== true;
        return retryWith(isTokenShared === true && isProven ? 'refresh' : 'new-token');
      }
      return isServerError(status) ? onDoubt(rules, afterMs) : NONE;
    case 'client-credentials':
    case 'directory':
      if (status === 429) return afterMs === undefined ? NONE : retryWith('same', afterMs);
      return isServerError(status) ? retryWith('same', afterMs) : NONE;
    // Whatever the operator replies, it may have prompted the owner.
    case 'backchannel-authentication':
    // The next poll follows its interval.
    case 'token-poll':
      return NONE;
  }
}

function onDoubt(rules: RetryRules, atLeastMs?: number): RetryDecision {
  return rules.retriesDoubtfulLookups && rules.canTakeNewToken
    ? retryWith('new-token', atLeastMs)
    : NONE;
}

/** 501 says that the operation does not exist: a retry would get the same. */
export function isServerError(status: number): boolean {
  return leavesInDoubt(status) && status !== 501;
}

function retryWith(retry: 'same' | 'new-token' | 'refresh', atLeastMs = 0): RetryDecision {
  return { retry, atLeastMs };
}

const EARNED_PER_EXCHANGE = 0.1;
/** The most tokens that busy times can earn for a burst of failures. */
const MAX_EARNED = 100;
const GRANTED_PER_MINUTE = 10;
const MINUTE_MS = 60_000;
/** The sum of ten tenths is slightly less than one. */
const ROUNDING = 1e-6;

/**
 * The token bucket of docs/design.md, "The retry budget": exchanges earn tokens, and time grants some. Each retry is
 * taken from both, so that granted tokens are not earned again: earned ones may become negative.
 */
export class RetryBudget {
  readonly #clock: Clock;
  #earned = 0;
  #granted = GRANTED_PER_MINUTE;
  #grantedAtMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#grantedAtMs = clock.monotonicMs();
  }

  count(): void {
    this.#earned = Math.min(MAX_EARNED, this.#earned + EARNED_PER_EXCHANGE);
  }

  /** Takes a retry of this many exchanges out of the budget; `false` when the budget does not cover them all. */
  take(exchanges = 1): boolean {
    this.#grant();
    if (Math.max(this.#earned, this.#granted) < exchanges - ROUNDING) return false;
    this.#earned = Math.max(-GRANTED_PER_MINUTE, this.#earned - exchanges);
    this.#granted = Math.max(0, this.#granted - exchanges);
    return true;
  }

  #grant(): void {
    const nowMs = this.#clock.monotonicMs();
    const grant = ((nowMs - this.#grantedAtMs) / MINUTE_MS) * GRANTED_PER_MINUTE;
    this.#granted = Math.min(GRANTED_PER_MINUTE, this.#granted + grant);
    this.#grantedAtMs = nowMs;
  }
}
