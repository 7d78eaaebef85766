import type { Exchange, TransportFault } from '../exchange.ts';
import { leavesInDoubt } from '../refusal.ts';

/** Endpoints, as far as retries tell them apart (docs/design.md, "Retries"); the directory is the company's own. */
export type ExchangeKind =
  'backchannel-authentication' | 'token-poll' | 'client-credentials' | 'lookup' | 'directory';

/** One exchange that is over, and what bears on trying again. */
export interface FinishedExchange {
  readonly kind: ExchangeKind;
  readonly exchange: Exchange;
  /** `Retry-After` of its reply, if it has one. */
  readonly retryAfterSeconds: number | undefined;
  readonly timeLeftMs: number;
  /** Whether the token of a lookup may have been issued for another number. */
  readonly isTokenUnproven?: boolean;
}

export interface RetryRules {
  /** Whether a token can be had without asking a person. */
  readonly canTakeNewToken: boolean;
  /** `retryLookups`: repeat a lookup whose outcome is unknown, and may be billed twice. */
  readonly retriesDoubtfulLookups: boolean;
}

/**
 * Whether and how to try again: `same` sends the same request anew, `new-token` first takes another
 * token; `atLeastMs` is the wait that the operator asked for, jitter aside.
 */
export type RetryDecision =
  { readonly retry: 'none' } | { readonly retry: 'same' | 'new-token'; readonly atLeastMs: number };

const NONE: RetryDecision = { retry: 'none' };

/**
 * The table of docs/design.md, "Retries": what is billed or prompts a person is never sent twice on a doubt.
 *
 * It decides about a first attempt; whether the budget allows it is not its business. Pure.
 */
export function decideRetry(finished: FinishedExchange, rules: RetryRules): RetryDecision {
  const decision = byTable(finished, rules);
  return decision.retry !== 'none' && decision.atLeastMs >= finished.timeLeftMs ? NONE : decision;
}

function byTable(finished: FinishedExchange, rules: RetryRules): RetryDecision {
  const { exchange } = finished;
  switch (exchange.kind) {
    case 'reply':
      return byStatus(exchange.reply.status, finished, rules);
    case 'fault':
      return byFault(exchange.fault, finished, rules);
  }
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
      return again('same');
    case 'backchannel-authentication':
      return sent ? NONE : again('same');
    case 'lookup':
      return sent ? onDoubt(rules) : again('same');
    case 'token-poll':
      return NONE;
  }
}

function byStatus(
  status: number,
  { kind, retryAfterSeconds, isTokenUnproven = false }: FinishedExchange,
  rules: RetryRules,
): RetryDecision {
  const afterMs = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000;
  switch (kind) {
    case 'lookup':
      if (status === 401 || (status === 403 && isTokenUnproven))
        return rules.canTakeNewToken ? again('new-token') : NONE;
      return isServerError(status) ? onDoubt(rules, afterMs) : NONE;
    case 'client-credentials':
    case 'directory':
      if (status === 429) return afterMs === undefined ? NONE : again('same', afterMs);
      return isServerError(status) ? again('same', afterMs) : NONE;
    // Whatever the operator answers, it may have prompted the owner before.
    case 'backchannel-authentication':
      return NONE;
    // A poll is repeated by its own rhythm, at the next interval.
    case 'token-poll':
      return NONE;
  }
}

/** The lookup may have been made and billed. */
function onDoubt(rules: RetryRules, atLeastMs?: number): RetryDecision {
  return rules.retriesDoubtfulLookups && rules.canTakeNewToken
    ? again('new-token', atLeastMs)
    : NONE;
}

/** 501 says that the operation does not exist, and will say so again. */
function isServerError(status: number): boolean {
  return leavesInDoubt(status) && status !== 501;
}

function again(retry: 'same' | 'new-token', atLeastMs = 0): RetryDecision {
  return { retry, atLeastMs };
}
