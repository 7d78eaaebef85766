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
import type { Exchange, OutgoingRequest } from '../wire/exchange.ts';
import { HEADER_NAME, HEADER_TEXT, OWN_HEADERS } from '../wire/headers.ts';
import { callProfile, ProfileFault } from '../judging/profileCall.ts';
import { failed, judgeFault } from '../judging/refusal.ts';
import type { GuardedEndpoint, GuardedPost, Outcome } from '../resilience/guardedEndpoint.ts';
import type { AccessToken } from '../tokens/accessToken.ts';
import type { ClientAuthentication, ClientProof } from '../tokens/clientAuthentication.ts';
import type { ExchangeContext } from '../tokens/tokenManager.ts';
import type { OperatorClock } from './operatorClock.ts';
import {
  sendsPhoneNumber,
  type LookupEndpointName,
  type OperatorSettings,
} from './operatorSettings.ts';
import type { LookupAsk, LookupProfile } from '../domain/profile.ts';
import { judgeLookup, type Judgement } from './responses.ts';

type LookupEndpoint = Pick<GuardedEndpoint, 'post'>;

type LookupWriteSettings = Pick<OperatorSettings, 'options' | 'correlator' | 'tokens'>;

/** The settings that decide how lookups are written and their replies are read. */
export type LookupDialect = LookupWriteSettings &
  Pick<
    OperatorSettings,
    | 'name'
    | 'flow'
    | 'grant'
    | 'errors'
    | 'headers'
    | 'lookups'
    | 'lookupAddresses'
    | 'sendPhoneNumber'
  >;

export interface LookupOrder {
  readonly lookup: Lookup;
  readonly number: PhoneNumber;
  readonly token: AccessToken;
  /** Whether an earlier attempt failed. If so, no other attempt follows. */
  readonly isRetry?: boolean;
}

/** The operator's SIM swap API: one billed call each time. */
export class Operator {
  readonly #settings: LookupDialect;
  /** Whether lookups name the number as well as the token. */
  readonly #isNamed: boolean;
  readonly #endpoints: Readonly<Record<LookupEndpointName, LookupEndpoint>>;
  readonly #clock: Clock;
  /** When it was created, in milliseconds since 1970. */
  readonly #madeAtMs: number;
  readonly #authenticate: () => ClientAuthentication;
  readonly #operatorClock: Pick<OperatorClock, 'judge'> | undefined;

  /**
   * @param authenticate authenticates lookups without a token; called each time, since a key may be renewed
   * @param operatorClock compared with ours; absent where nothing depends on the age of a date
   */
  constructor(
    settings: LookupDialect,
    endpoints: Readonly<Record<LookupEndpointName, LookupEndpoint>>,
    clock: Clock,
    authenticate: () => ClientAuthentication,
    operatorClock?: Pick<OperatorClock, 'judge'>,
  ) {
    this.#settings = settings;
    this.#isNamed = sendsPhoneNumber(settings);
    this.#endpoints = endpoints;
    this.#clock = clock;
    this.#madeAtMs = clock.nowMs();
    this.#authenticate = authenticate;
    this.#operatorClock = operatorClock;
  }

  /**
   * Makes one lookup, which spends the token at once. Never rejects for what the operator does.
   *
   * @throws {TokenMisused} when the token is spent, or was issued for another number or operation
   */
  lookUp(order: LookupOrder, context: ExchangeContext): Promise<Outcome<Judgement<Fact>>> {
    const { lookup, number, token, isRetry = false } = order;
    // Spent before a byte leaves, and for good; a new connection may be tried while no byte has left.
    const value = token.spend({ number, operation: lookup.operation });
    const { lookups, lookupAddresses } = this.#settings;
    const profile = lookups[lookup.operation];
    if (profile === undefined) throw new Error('A lookup was planned that is not offered.');
    const name = ENDPOINTS[lookup.operation];
    const endpoint = this.#endpoints[name];
    const path = pathWith(number, lookupAddresses[name]);
    const request: GuardedPost<Judgement<Fact>> = {
      about: number,
      urgency: context,
      isRetry,
      isTokenUnproven: token.origin.isUnproven === true,
      isTokenShared: token.origin.sharedSinceMs !== undefined,
      make: () => this.#make(order, context, profile, path, value),
      judge: (exchange) => this.#judge(exchange, order, profile),
    };
    const message = (): LookupMessage => messageOf(this.#settings.name, order, context);
    return traced(lookupChannel, message, () => endpoint.post(request), resultOf);
  }

  /**
   * What is sent for a lookup, except for what differs each time: correlator, proof and time. Lookups for which it is
   * equal share one request. `undefined` where it cannot be written.
   */
  requestOf(lookup: Lookup, number: PhoneNumber): string | undefined {
    const { lookups, lookupAddresses, headers } = this.#settings;
    const profile = lookups[lookup.operation];
    if (profile === undefined) return undefined;
    const name = ENDPOINTS[lookup.operation];
    const address = lookupAddresses[name];
    const named = this.#isNamed ? number : undefined;
    const own = headers.filter(({ endpoints }) => endpoints?.includes(name) !== false);
    try {
      const written = writeLookup(this.#settings, profile, lookup, named, this.#madeAtMs);
      return JSON.stringify([address, pathWith(number, address), own, written]);
    } catch (error) {
      if (error instanceof ProfileFault) return undefined;
      throw error;
    }
  }

  /** The lookup with its token, or with our client authentication where it takes none. */
  #make(
    { lookup, number }: LookupOrder,
    { correlator, signal }: ExchangeContext,
    profile: LookupProfile,
    path: string | undefined,
    token: string,
  ): OutgoingRequest | Promise<OutgoingRequest> {
    const { grant, tokens, lookupAddresses } = this.#settings;
    const named = this.#isNamed ? number : undefined;
    const written = writeLookup(this.#settings, profile, lookup, named, this.#clock.nowMs());
    const sent = { ...written, path, correlator: correlator.next(), signal };
    if (grant.type !== 'none') {
      const { header, prefix } = tokens.sentIn;
      const headers = [header, prefix + token, ...written.headers];
      return { ...sent, headers, accessToken: token };
    }
    const proven = ({ headers }: ClientProof): OutgoingRequest => ({
      ...sent,
      headers: headers.concat(written.headers),
    });
    const proof = this.#authenticate();
    if (typeof proof !== 'function') return proven(proof);
    const address = lookupAddresses[ENDPOINTS[lookup.operation]];
    const sentTo = path === undefined ? address : new URL(path, address).href;
    return proof(sentTo.split('?', 1)[0] ?? sentTo).then(proven);
  }

  #judge(
    exchange: Exchange,
    { lookup, number, token }: LookupOrder,
    { read: reading }: LookupProfile,
  ): Judgement<Fact> {
    if (exchange.kind === 'fault') return failed(judgeFault(exchange.fault));
    const { reply, sentAtMs, isUnproven = false, challenge } = exchange;
    const { status } = reply;
    // A token of another number is refused with 403 as well.
    const isRefused = status === 401 || (status === 403 && token.origin.isUnproven === true);
    if (isRefused && !isUnproven && challenge === undefined) token.refused();
    const { flow, errors } = this.#settings;
    const nowMs = this.#clock.nowMs();
    const made = { sentAtMs, nowMs, flow, number, reading, errors, isUnproven };
    const judged = judgeLookup(reply, made, lookup);
    const clock = this.#operatorClock;
    if (judged.kind === 'failed' || clock === undefined) return judged;
    const facts = judged.facts.map((fact) =>
      fact.operation === 'retrieve-date' ? clock.judge(fact, reply) : fact,
    );
    return { ...judged, facts };
  }
}

const ENDPOINTS: Readonly<Record<Operation, LookupEndpointName>> = {
  'retrieve-date': 'retrieveDate',
  check: 'check',
};

function messageOf(
  operator: string,
  { lookup }: LookupOrder,
  { correlator }: ExchangeContext,
): LookupMessage {
  const { operation } = lookup;
  const message = { operator, correlator: correlator.name, operation };
  return lookup.operation === 'check' ? { ...message, maxAgeHours: lookup.maxAgeHours } : message;
}

/** The published result of a lookup: never the answer. */
function resultOf({ judged, attempts }: Outcome<Judgement<Fact>>): LookupResult {
  return { outcome: judged.kind === 'failed' ? judged.failure.code : judged.kind, attempts };
}

type WrittenLookup = Pick<OutgoingRequest, 'method' | 'query' | 'contentType' | 'body' | 'headers'>;

/**
 * @param number where the lookup names it as well as its token
 * @throws {ProfileFault} where the profile's function does not keep to its type
 */
export function writeLookup(
  settings: LookupWriteSettings,
  { method, write }: Pick<LookupProfile, 'method' | 'write'>,
  lookup: Lookup,
  number: PhoneNumber | undefined,
  nowMs: number,
): WrittenLookup {
  const input: LookupAsk = Object.freeze({
    operation: lookup.operation,
    number,
    digits: number?.slice(1),
    maxAgeHours: lookup.operation === 'check' ? lookup.maxAgeHours : undefined,
    nowMs,
    options: settings.options,
  });
  const { query, headers, body = {}, ...others } = callProfile('write', write, input);
  if (Object.keys(others).length > 0 || !isObject(body)) throw wrongParts();
  const isGet = method === 'GET';
  return {
    method,
    query: query === undefined ? '' : new URLSearchParams(textsIn(query)).toString(),
    headers: headers === undefined ? NO_HEADERS : headersIn(headers, settings),
    contentType: isGet ? undefined : 'application/json',
    body: isGet ? undefined : JSON.stringify(body),
  };
}

const NO_HEADERS: readonly string[] = [];

function wrongParts(): ProfileFault {
  return new ProfileFault('write returned something other than query, headers and body');
}

/** The path with the number in its place; `undefined` where the address has none. Pure. */
export function pathWith(number: PhoneNumber, address: string): string | undefined {
  if (!NUMBER_PLACE.test(address)) return undefined;
  const { pathname, search } = new URL(address);
  const path = pathname
    .replaceAll('%7Bnumber%7D', encodeURIComponent(number))
    .replaceAll('%7Bdigits%7D', number.slice(1));
  return path + search;
}

const NUMBER_PLACE = /\{(?:number|digits)\}/;

function textsIn(query: unknown): Readonly<Record<string, string>> {
  if (!isObject(query)) throw wrongParts();
  return Object.fromEntries(
    Object.entries(query).map(([name, value]: [string, unknown]) => {
      if (typeof value === 'string' || typeof value === 'number') return [name, String(value)];
      throw new ProfileFault('write returned a query member that is neither text nor number');
    }),
  );
}

/** Names and values in turn. A line break in one would begin another header. */
function headersIn(
  headers: unknown,
  { correlator, tokens }: Pick<LookupWriteSettings, 'correlator' | 'tokens'>,
): readonly string[] {
  if (!isObject(headers)) throw wrongParts();
  return Object.entries(headers).flatMap(([name, value]: [string, unknown]) => {
    const lower = name.toLowerCase();
    if (OWN_HEADERS.has(lower) || lower === correlator.header || lower === tokens.sentIn.header) {
      throw new ProfileFault('write returned a header that the service sets itself');
    }
    if (!HEADER_NAME.test(name) || typeof value !== 'string' || !HEADER_TEXT.test(value)) {
      throw new ProfileFault('write returned characters that no header can have');
    }
    return [name, value];
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
