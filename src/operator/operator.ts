import type { Clock } from '../system/clock.ts';
import {
  lookupChannel,
  traced,
  type LookupMessage,
  type LookupResult,
} from '../log/diagnostics.ts';
import type { Fact } from '../domain/fact.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup, Operation } from '../domain/question.ts';
import type { Exchange, OutgoingRequest } from '../http/exchange.ts';
import { judgeFault } from '../http/refusal.ts';
import type { GuardedEndpoint, GuardedPost, Outcome } from '../http/resilience/guardedEndpoint.ts';
import type { AccessToken } from '../tokens/accessToken.ts';
import type { ClientAuthentication } from '../tokens/clientAuthentication.ts';
import type { DpopProofs } from '../tokens/dpop.ts';
import type { ExchangeContext } from '../tokens/tokenManager.ts';
import { pathWith, profileOf, writeLookup, type LookupWriting } from './lookupRequest.ts';
import type { OperatorClock } from './operatorClock.ts';
import type { OperatorSettings } from './operatorSettings.ts';
import type { Judgement, LookupJudges } from './responses.ts';

/** Where the operator takes lookups (docs/operator-api.md, "Endpoints"). */
export interface LookupEndpoints {
  readonly retrieveDate: Pick<GuardedEndpoint, 'post'>;
  readonly check: Pick<GuardedEndpoint, 'post'>;
}

interface LookupCall {
  readonly endpoint: Pick<GuardedEndpoint, 'post'>;
  readonly address: string;
}

/** What decides how lookups are written and their replies are read. */
export type LookupManner = LookupWriting &
  Pick<OperatorSettings, 'name' | 'flow' | 'errors' | 'lookupAddresses'>;

export interface LookupProof {
  /** Of lookups that need no token; by now, for a key may be renewed. */
  readonly authenticate: () => ClientAuthentication;
  /** Where tokens are bound to a key of ours. */
  readonly dpop?: DpopProofs | undefined;
}

/** The operator's SIM swap API: one billed call each time. */
export class Operator {
  readonly #settings: LookupManner;
  readonly #calls: Readonly<Record<Operation, LookupCall>>;
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
    const { lookupAddresses } = settings;
    this.#calls = {
      'retrieve-date': { endpoint: endpoints.retrieveDate, address: lookupAddresses.retrieveDate },
      check: { endpoint: endpoints.check, address: lookupAddresses.check },
    };
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
    const { lookup, number, token, isRetry = false } = order;
    // Spent for good before a byte leaves; a new connection may be tried while none has.
    const value = token.spend({ number, operation: lookup.operation });
    const { endpoint, address } = this.#calls[lookup.operation];
    const path = pathWith(number, address);
    const sentTo = path === undefined ? address : new URL(path, address).href;
    const place = { address: sentTo, token: value };
    const { dpop } = this.#proof;
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
    const post: GuardedPost<Judgement<Fact>> = {
      about: number,
      urgency: context,
      isRetry,
      isTokenUnproven: token.isUnproven,
      make: () => {
        const headers = this.#headers(value, sentTo);
        if (headers instanceof Promise) return headers.then(write);
        return dpop === undefined ? write(headers) : dpop.bind(write(headers), place);
      },
      judge: (exchange) => {
        dpop?.learn(place, exchange);
        return this.#judge(exchange, order);
      },
    };
    if (!lookupChannel.hasSubscribers) return endpoint.post(post);
    const message = messageOf(this.#settings.name, order, context);
    return traced(lookupChannel, message, () => endpoint.post(post), resultOf);
  }

  #judge(exchange: Exchange, { lookup, number, token }: LookupOrder): Judgement<Fact> {
    if (exchange.kind === 'fault') return { kind: 'failed', failure: judgeFault(exchange.fault) };
    const { reply, sentAtMs, isUnproven = false } = exchange;
    const { status } = reply;
    // A token of another number is refused with 403 as well.
    const isRefused = status === 401 || (status === 403 && token.isUnproven);
    if (isRefused && !isUnproven) token.refused();
    const { flow, errors } = this.#settings;
    const { read: reading } = profileOf(this.#settings, lookup);
    const nowMs = this.#clock.nowMs();
    const made = { sentAtMs, nowMs, flow, number, reading, errors, isUnproven };
    const judged =
      lookup.operation === 'check'
        ? this.#judges.check(reply, made, lookup.maxAgeHours)
        : this.#judges.retrieveDate(reply, made);
    const clock = this.#operatorClock;
    if (judged.kind === 'failed' || clock === undefined) return judged;
    const facts = judged.facts.map((fact) =>
      fact.operation === 'retrieve-date' ? clock.judge(fact, reply) : fact,
    );
    return { ...judged, facts };
  }

  /** What a token shows, or what shows who asks where there is none: names and values in turn. */
  #headers(token: string, sentTo: string): readonly string[] | Promise<readonly string[]> {
    const address = sentTo.split('?', 1)[0] ?? sentTo;
    if (this.#settings.grant.type === 'none') {
      const proof = this.#proof.authenticate();
      return typeof proof === 'function'
        ? proof(address).then(({ headers }) => headers)
        : proof.headers;
    }
    const { header, prefix } = this.#settings.tokens.sentIn ?? AS_BEARER;
    return [header, prefix + token];
  }
}

const AS_BEARER = { header: 'authorization', prefix: 'Bearer ' };

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
