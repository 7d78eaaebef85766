import type { Clock } from '../system/clock.ts';
import {
  lookupChannel,
  traced,
  type LookupMessage,
  type LookupResult,
} from '../log/diagnostics.ts';
import type { Fact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { HttpReply } from '../http/exchange.ts';
import { judgeFault } from '../http/refusal.ts';
import type { GuardedEndpoint, Outcome } from '../http/resilience/guardedEndpoint.ts';
import type { AccessToken } from '../tokens/accessToken.ts';
import type { ExchangeContext } from '../tokens/tokenManager.ts';
import { lookupRequest, type LookupWriting } from './lookupRequest.ts';
import type { OperatorClock } from './operatorClock.ts';
import type { OperatorSettings } from './operatorSettings.ts';
import type { Judgement, LookupExchange, LookupJudges } from './responses.ts';

/** Where the operator takes lookups (docs/operator-api.md, "Endpoints"). */
export interface LookupEndpoints {
  readonly retrieveDate: Pick<GuardedEndpoint, 'post'>;
  readonly check: Pick<GuardedEndpoint, 'post'>;
}

/** What decides how lookups are written and their replies are read. */
export type LookupManner = LookupWriting & Pick<OperatorSettings, 'name' | 'flow' | 'errors'>;

/** The operator's SIM swap API: one billed call each time. */
export class Operator {
  readonly #settings: LookupManner;
  readonly #endpoints: LookupEndpoints;
  readonly #judges: LookupJudges;
  readonly #clock: Clock;
  readonly #operatorClock: Pick<OperatorClock, 'judge'> | undefined;

  /** @param operatorClock compared with ours; absent where nobody asks how long ago a date was */
  constructor(
    settings: LookupManner,
    endpoints: LookupEndpoints,
    judges: LookupJudges,
    clock: Clock,
    operatorClock?: Pick<OperatorClock, 'judge'>,
  ) {
    this.#settings = settings;
    this.#endpoints = endpoints;
    this.#judges = judges;
    this.#clock = clock;
    this.#operatorClock = operatorClock;
  }

  /**
   * Makes one lookup, which spends the token at once. Never rejects for what the operator does.
   *
   * @throws {TokenMisused} when the token is spent, or was issued for another number or operation
   */
  lookUp(order: LookupOrder, context: ExchangeContext): Promise<Outcome<Judgement<Fact>>> {
    if (!lookupChannel.hasSubscribers) return this.#lookUp(order, context);
    return traced(
      lookupChannel,
      messageOf(this.#settings.name, order, context),
      () => this.#lookUp(order, context),
      resultOf,
    );
  }

  #lookUp(
    { lookup, number, token, isRetry = false }: LookupOrder,
    context: ExchangeContext,
  ): Promise<Outcome<Judgement<Fact>>> {
    // Spent for good before a byte leaves; a new connection may be tried while none has.
    const authorization = token.spend({ number, operation: lookup.operation });
    const { headers, body } = lookupRequest(this.#settings, lookup, number);
    const call = this.#callOf(lookup);

    return call.endpoint.post({
      about: number,
      urgency: context,
      isRetry,
      isTokenUnproven: token.isUnproven,
      make: () => ({
        headers: ['authorization', authorization, ...headers],
        contentType: 'application/json',
        body,
        correlator: context.correlator.next(),
        signal: context.signal,
      }),
      judge: (exchange): Judgement<Fact> => {
        switch (exchange.kind) {
          case 'fault':
            return { kind: 'failed', failure: judgeFault(exchange.fault) };
          case 'reply': {
            const { reply, sentAtMs, isUnproven = false } = exchange;
            if (isRefusal(reply.status, token) && !isUnproven) token.refused();
            const { flow, reading, errors } = this.#settings;
            const nowMs = this.#clock.nowMs();
            const made = { sentAtMs, nowMs, flow, reading, errors, isUnproven };
            return this.#dated(call.judge(reply, made), reply);
          }
        }
      },
    });
  }

  #dated(judged: Judgement<Fact>, reply: HttpReply): Judgement<Fact> {
    if (judged.kind === 'failed') return judged;
    const facts = judged.facts.map((fact) =>
      fact.operation === 'retrieve-date' ? (this.#operatorClock?.judge(fact, reply) ?? fact) : fact,
    );
    return { ...judged, facts };
  }

  #callOf(lookup: Lookup): LookupCall {
    const { retrieveDate, check } = this.#endpoints;
    switch (lookup.operation) {
      case 'retrieve-date':
        return {
          endpoint: retrieveDate,
          judge: (reply, made) => this.#judges.retrieveDate(reply, made),
        };
      case 'check': {
        const { maxAgeHours } = lookup;
        return {
          endpoint: check,
          judge: (reply, made) => this.#judges.check(reply, made, maxAgeHours),
        };
      }
    }
  }
}

/** All in which the call of one operation differs from that of another. */
interface LookupCall {
  readonly endpoint: Pick<GuardedEndpoint, 'post'>;
  readonly judge: (reply: HttpReply, made: LookupExchange) => Judgement<Fact>;
}

/** Whether a lookup's status refuses its token: one of another number is refused with 403 as well. */
function isRefusal(status: number, { isUnproven }: AccessToken): boolean {
  return status === 401 || (status === 403 && isUnproven);
}

function messageOf(
  operator: string,
  { lookup }: LookupOrder,
  { correlator }: ExchangeContext,
): LookupMessage {
  const { operation } = lookup;
  const message = { operator, correlator: correlator.name, operation };
  switch (operation) {
    case 'retrieve-date':
      return message;
    case 'check':
      return { ...message, maxAgeHours: lookup.maxAgeHours };
  }
}

/** What is published of a lookup: never the answer. */
function resultOf({ judged, attempts }: Outcome<Judgement<Fact>>): LookupResult {
  switch (judged.kind) {
    case 'answered':
      return { outcome: 'answered', attempts };
    case 'failed':
      return { outcome: judged.failure.code, attempts };
  }
}

/** One lookup to make, and the token to pay it with. */
export interface LookupOrder {
  readonly lookup: Lookup;
  readonly number: PhoneNumber;
  readonly token: AccessToken;
  /** Whether an earlier attempt at it came to nothing: then there is no further one. */
  readonly isRetry?: boolean;
}
