import type { Clock } from '../clock.ts';
import type { Fact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import { judgeFault } from '../http/refusal.ts';
import type { GuardedEndpoint, Outcome } from '../http/resilience/guardedEndpoint.ts';
import type { AccessToken } from '../tokens/accessToken.ts';
import type { Flow } from '../tokens/authorizationSettings.ts';
import type { ExchangeContext } from '../tokens/tokenManager.ts';
import type { OperatorSettings } from './operatorSettings.ts';
import type { Judgement, LookupJudges } from './responses.ts';

/** Where the operator takes lookups (service, "Endpoints" 4 and 5). */
export interface LookupEndpoints {
  readonly retrieveDate: GuardedEndpoint;
  readonly check: GuardedEndpoint;
}

/** The operator's SIM swap API: one billed call each time. */
export class Operator {
  readonly #endpoints: LookupEndpoints;
  readonly #judges: LookupJudges;
  readonly #sendsPhoneNumber: boolean;
  readonly #flow: Flow;
  readonly #clock: Clock;

  constructor(
    settings: Pick<OperatorSettings, 'flow' | 'sendPhoneNumber'>,
    endpoints: LookupEndpoints,
    judges: LookupJudges,
    clock: Clock,
  ) {
    this.#endpoints = endpoints;
    this.#judges = judges;
    // A 3-legged token holds the number, and CAMARA 2 answers 422 to one that is named beside it.
    this.#sendsPhoneNumber =
      settings.sendPhoneNumber === 'auto'
        ? settings.flow === '2-legged'
        : settings.sendPhoneNumber === 'always';
    this.#flow = settings.flow;
    this.#clock = clock;
  }

  /**
   * Makes one lookup, which spends the token at once. Never rejects for what the operator does.
   *
   * @throws {TokenMisused} when the token is spent, or was issued for another number or operation
   */
  lookUp(
    { lookup, number, token, isRetry = false }: LookupOrder,
    context: ExchangeContext,
  ): Promise<Outcome<Judgement<Fact>>> {
    // Spent for good before a byte leaves; a new connection may be tried while none has.
    const authorization = token.spend({ number, operation: lookup.operation });
    const isCheck = lookup.operation === 'check';
    const phoneNumber = this.#sendsPhoneNumber ? { phoneNumber: number } : {};
    const body = JSON.stringify(
      isCheck ? { ...phoneNumber, maxAge: lookup.maxAgeHours } : phoneNumber,
    );

    return this.#endpoints[isCheck ? 'check' : 'retrieveDate'].post({
      about: number,
      urgency: context,
      isRetry,
      make: () => ({
        headers: ['authorization', authorization],
        contentType: 'application/json',
        body,
        correlator: context.correlator.next(),
        signal: context.signal,
      }),
      judge: (exchange): Judgement<Fact> => {
        if ('fault' in exchange) return { failure: judgeFault(exchange.fault) };
        const { reply, sentAtMs, isUnproven = false } = exchange;
        const made = { sentAtMs, nowMs: this.#clock.nowMs(), flow: this.#flow, isUnproven };
        return isCheck
          ? this.#judges.check(reply, made, lookup.maxAgeHours)
          : this.#judges.retrieveDate(reply, made);
      },
    });
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
