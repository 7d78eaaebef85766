import type { IncomingHttpHeaders } from 'node:http';
import type { Operation } from '../src/domain/question.ts';
import type { AccessTokens, Grant, NumberGrant, TokenGrant } from './accessTokens.ts';
import { refuse, type Dialect } from './dialect.ts';
import { retrieveDate, swappedWithin, type Line } from './line.ts';
import type { Reply } from './reply.ts';
import type { Counts } from './stats.ts';
import { findTestNumber } from './testNumbers.ts';

const DEFAULT_MAX_AGE_HOURS = 240;

const E164 = /^\+[1-9][0-9]{4,14}$/;

/** A lookup as it arrives. */
export interface LookupRequest {
  readonly operation: Operation;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** The thumbprint of the key that proves it. */
  readonly thumbprint?: string | undefined;
}

/** The number that a request names; `undefined` where it is not valid. */
type Named = { readonly number: string | undefined } | 'malformed';

/** The SIM swap API: `retrieve-date` and `check`, with the checks of its dialect. */
export class Lookups {
  readonly #dialect: Dialect;
  readonly #tokens: AccessTokens;
  readonly #counts: Counts;
  readonly #nowMs: () => number;

  constructor(dialect: Dialect, tokens: AccessTokens, counts: Counts, nowMs: () => number) {
    this.#dialect = dialect;
    this.#tokens = tokens;
    this.#counts = counts;
    this.#nowMs = nowMs;
  }

  /** The number that the token is for; a refusal where it does not allow this lookup. */
  authorize(request: LookupRequest): Grant<NumberGrant> {
    const grant = this.#tokens.present(request.headers.authorization, request.thumbprint);
    if (grant !== undefined) return this.#permit(grant, request);
    const headers = { 'www-authenticate': 'Bearer' };
    return refused({ ...refuse(this.#dialect, 'not authenticated'), headers });
  }

  /** Whether the token permits this lookup. */
  #permit(grant: TokenGrant, request: LookupRequest): Grant<NumberGrant> {
    if (!grant.operations.includes(request.operation)) {
      return refused(this.#misused('no permission'));
    }
    const named = this.#numberIn(request);
    if (named === 'malformed') return refused(refuse(this.#dialect, 'invalid argument'));
    if (named.number === undefined) {
      const { number } = grant;
      return grant.identifies && number !== undefined
        ? { kind: 'granted', grant: { ...grant, number } }
        : refused(refuse(this.#dialect, 'number not derivable'));
    }
    if (grant.identifies && this.#dialect.version === '2.1') {
      return refused(refuse(this.#dialect, 'number not needed'));
    }
    const { number = named.number } = grant;
    return number === named.number
      ? { kind: 'granted', grant: { ...grant, number } }
      : refused(this.#misused('token of another number'));
  }

  /** The number in the place where this dialect has it; elsewhere it is not allowed. */
  #numberIn({ headers, body }: LookupRequest): Named {
    const { phoneNumber: place } = this.#dialect;
    const inBody = body['phoneNumber'];
    switch (place.in) {
      case 'body':
        if (inBody === undefined) return { number: undefined };
        return typeof inBody === 'string' && E164.test(inBody) ? { number: inBody } : 'malformed';
      case 'header': {
        const digits = headers[place.name];
        if (inBody !== undefined) return 'malformed';
        if (digits === undefined) return { number: undefined };
        const number = `+${String(digits)}`;
        return E164.test(number) ? { number } : 'malformed';
      }
    }
  }

  /** The true answer about a number, billed. */
  answer(operation: Operation, number: string, body: Readonly<Record<string, unknown>>): Reply {
    const found = findTestNumber(number);
    if (found === undefined) return refuse(this.#dialect, 'unknown number');
    switch (operation) {
      case 'retrieve-date':
        return this.#retrieveDate(found.line);
      case 'check':
        return this.#check(found.line, body);
    }
  }

  #retrieveDate(line: Line): Reply {
    this.#bill('retrieveDate');
    const { latestSimChange, ...more } = retrieveDate(line, this.#nowMs());
    // Before 2.1 there is no monitored period.
    const body =
      this.#dialect.version === '2.1' ? { latestSimChange, ...more } : { latestSimChange };
    return { status: 200, body };
  }

  #check(line: Line, body: Readonly<Record<string, unknown>>): Reply {
    const { maxAgeUnit, maxAgeHours, swappedMember } = this.#dialect;
    const hour = maxAgeUnit === 'seconds' ? 3600 : 1;
    const { maxAge = DEFAULT_MAX_AGE_HOURS * hour } = body;
    if (typeof maxAge !== 'number' || !Number.isInteger(maxAge) || maxAge < 1) {
      return refuse(this.#dialect, 'invalid argument');
    }
    const requestedHours = maxAge / hour;
    if (requestedHours > Math.min(maxAgeHours, line.checksBackHours ?? maxAgeHours)) {
      return refuse(this.#dialect, 'period out of range');
    }
    this.#bill('check');
    return { status: 200, body: { [swappedMember]: swappedWithin(line, requestedHours) } };
  }

  #misused(refusal: 'no permission' | 'token of another number'): Reply {
    this.#counts.misusedTokens += 1;
    return refuse(this.#dialect, refusal);
  }

  #bill(operation: 'retrieveDate' | 'check'): void {
    this.#counts.lookups += 1;
    this.#counts[operation] += 1;
  }
}

function refused(reply: Reply): Grant<NumberGrant> {
  return { kind: 'refused', reply };
}
