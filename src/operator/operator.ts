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
import type { HttpReply, OutgoingRequest } from '../http/exchange.ts';
import { judgeFault } from '../http/refusal.ts';
import type { GuardedEndpoint, Outcome } from '../http/resilience/guardedEndpoint.ts';
import type { AccessToken } from '../tokens/accessToken.ts';
import type { ClientAuthentication } from '../tokens/clientAuthentication.ts';
import type { DpopProofs } from '../tokens/dpop.ts';
import type { ExchangeContext } from '../tokens/tokenManager.ts';
import { pathWith, profileOf, writeLookup, type LookupWriting } from './lookupRequest.ts';
import type { OperatorClock } from './operatorClock.ts';
import type { OperatorSettings } from './operatorSettings.ts';
import type { Judgement, LookupExchange, LookupJudges } from './responses.ts';

/** Where the operator takes lookups (docs/operator-api.md, "Endpoints"). */
export interface LookupEndpoints {
  readonly retrieveDate: Pick<GuardedEndpoint, 'post'>;
  readonly check: Pick<GuardedEndpoint, 'post'>;
}

/** What decides how lookups are written and their replies are read. */
export type LookupManner = LookupWriting &
  Pick<OperatorSettings, 'name' | 'flow' | 'errors' | 'lookupAddresses'>;

/** What shows at a lookup who asks. */
export interface LookupProof {
  /** Of lookups that need no token; by now, for a key may be renewed. */
  readonly authenticate: () => ClientAuthentication;
  /** Where tokens are bound to a key of ours. */
  readonly dpop?: DpopProofs | undefined;
}

/** The operator's SIM swap API: one billed call each time. */
export class Operator {
  readonly #settings: LookupManner;
  readonly #endpoints: LookupEndpoints;
  readonly #judges: LookupJudges;
  readonly #clock: Clock;
  readonly #proof: LookupProof;
  readonly #operatorClock: Pick<OperatorClock, 'judge'> | undefined;

  /** @param operatorClock compared with ours; absent where nobody asks how long ago a date was */
  constructor(
    settings: LookupManner,
    endpoints: LookupEndpoints,
    judges: LookupJudges,
    clock: Clock,
    proof: LookupProof,
    operatorClock?: Pick<OperatorClock, 'judge'>,
  ) {
    this.#settings = settings;
    this.#endpoints = endpoints;
    this.#judges = judges;
    this.#clock = clock;
    this.#proof = proof;
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
    const value = token.spend({ number, operation: lookup.operation });
    const call = this.#callOf(lookup);
    const { dpop } = this.#proof;
    const path = pathWith(number, call.address);
    const sentTo = path === undefined ? call.address : new URL(path, call.address).href;
    const place = { address: sentTo, token: value };
    const write = (headers: readonly string[]): OutgoingRequest => {
      const written = writeLookup(this.#settings, lookup, number, this.#clock.nowMs());
      return {
        ...written,
        ...(path === undefined ? {} : { path }),
        headers: headers.concat(written.headers),
        correlator: context.correlator.next(),
        signal: context.signal,
      };
    };

    return call.endpoint.post({
      about: number,
      urgency: context,
      isRetry,
      isTokenUnproven: token.isUnproven,
      make: () => {
        const headers = this.#headers(value, sentTo);
        if (headers instanceof Promise) return headers.then(write);
        const written = write(headers);
        return dpop === undefined ? written : dpop.bind(written, place);
      },
      judge: (exchange): Judgement<Fact> => {
        switch (exchange.kind) {
          case 'fault':
            return { kind: 'failed', failure: judgeFault(exchange.fault) };
          case 'reply': {
            const { reply, sentAtMs, isUnproven = false } = exchange;
            dpop?.learn(place, exchange);
            if (isRefusal(reply.status, token) && !isUnproven) token.refused();
            const { flow, errors } = this.#settings;
            const { read: reading } = profileOf(this.#settings, lookup);
            const nowMs = this.#clock.nowMs();
            const made = { sentAtMs, nowMs, flow, number, reading, errors, isUnproven };
            return this.#dated(call.judge(reply, made), reply);
          }
        }
      },
    });
  }

  /** What a token shows, or what shows who asks where there is none: names and values in turn. */
  #headers(token: string, sentTo: string): readonly string[] | Promise<readonly string[]> {
    const address = sentTo.split('?', 1)[0] ?? sentTo;
    if (this.#settings.grant.type === 'none') {
      const proof = this.#proof.authenticate()(address);
      return proof instanceof Promise ? proof.then(({ headers }) => headers) : proof.headers;
    }
    const { header, prefix } = this.#settings.tokens.sentIn ?? AS_BEARER;
    return [header, prefix + token];
  }

  #dated(judged: Judgement<Fact>, reply: HttpReply): Judgement<Fact> {
    const clock = this.#operatorClock;
    if (judged.kind === 'failed' || clock === undefined) return judged;
    const facts = judged.facts.map((fact) =>
      fact.operation === 'retrieve-date' ? clock.judge(fact, reply) : fact,
    );
    return { ...judged, facts };
  }

  #callOf(lookup: Lookup): LookupCall {
    const { retrieveDate, check } = this.#endpoints;
    const { lookupAddresses } = this.#settings;
    switch (lookup.operation) {
      case 'retrieve-date':
        return {
          endpoint: retrieveDate,
          address: lookupAddresses.retrieveDate,
          judge: (reply, made) => this.#judges.retrieveDate(reply, made),
        };
      case 'check': {
        const { maxAgeHours } = lookup;
        return {
          endpoint: check,
          address: lookupAddresses.check,
          judge: (reply, made) => this.#judges.check(reply, made, maxAgeHours),
        };
      }
    }
  }
}

/** All in which the call of one operation differs from that of another. */
interface LookupCall {
  readonly endpoint: Pick<GuardedEndpoint, 'post'>;
  readonly address: string;
  readonly judge: (reply: HttpReply, made: LookupExchange) => Judgement<Fact>;
}

const AS_BEARER = { header: 'authorization', prefix: 'Bearer ' };

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
