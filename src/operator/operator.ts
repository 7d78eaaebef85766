import type { Clock } from '../clock.ts';
import type { Fact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { judgeFault } from '../http/refusal.ts';
import type { AccessToken } from '../tokens/accessToken.ts';
import type { ExchangeContext } from '../tokens/tokenManager.ts';
import type { OperatorSettings } from './operatorSettings.ts';
import { judgeCheck, judgeRetrieveDate, type Judgement } from './responses.ts';

/** Where the operator takes lookups (service, "Endpoints" 4 and 5). */
export interface LookupEndpoints {
  readonly retrieveDate: Endpoint;
  readonly check: Endpoint;
}

/** The operator's SIM swap API: one billed call each time. */
export class Operator {
  readonly #endpoints: LookupEndpoints;
  readonly #sendsPhoneNumber: boolean;
  readonly #clock: Clock;

  constructor(
    settings: Pick<OperatorSettings, 'flow' | 'sendPhoneNumber'>,
    endpoints: LookupEndpoints,
    clock: Clock,
  ) {
    this.#endpoints = endpoints;
    // A 3-legged token holds the number, and CAMARA 2 answers 422 to one that is named beside it.
    this.#sendsPhoneNumber =
      settings.sendPhoneNumber === 'auto'
        ? settings.flow === '2-legged'
        : settings.sendPhoneNumber === 'always';
    this.#clock = clock;
  }

  /**
   * Makes one lookup, which spends the token. Never rejects for what the operator does.
   *
   * @throws {TokenMisused} when the token is spent, or was issued for another number or operation
   */
  async lookUp(
    lookup: Lookup,
    number: PhoneNumber,
    token: AccessToken,
    context: ExchangeContext,
  ): Promise<Judgement<Fact>> {
    const authorization = token.spend({ number, operation: lookup.operation });
    const phoneNumber = this.#sendsPhoneNumber ? { phoneNumber: number } : {};
    const isCheck = lookup.operation === 'check';
    const body = isCheck ? { ...phoneNumber, maxAge: lookup.maxAgeHours } : phoneNumber;
    const endpoint = isCheck ? this.#endpoints.check : this.#endpoints.retrieveDate;

    const sentAtMs = this.#clock.nowMs();
    const exchange = await endpoint.post({
      headers: ['authorization', authorization],
      contentType: 'application/json',
      body: JSON.stringify(body),
      correlator: context.correlator.next(),
      signal: context.signal,
    });
    if ('fault' in exchange) return { failure: judgeFault(exchange.fault) };
    const times = { sentAtMs, nowMs: this.#clock.nowMs() };
    return isCheck
      ? judgeCheck(exchange.reply, times, lookup.maxAgeHours)
      : judgeRetrieveDate(exchange.reply, times);
  }
}
