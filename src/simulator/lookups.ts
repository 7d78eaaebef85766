import type { Operation } from '../domain/question.ts';
import type { AccessTokens, Grant, TokenGrant } from './accessTokens.ts';
import { retrieveDate, swappedWithin, type Line } from './line.ts';
import { refuse, type Dialect } from './dialect.ts';
import type { Reply } from './reply.ts';
import type { Counts } from './stats.ts';
import { findTestNumber } from './testNumbers.ts';

const MAX_MAX_AGE_HOURS = 2400;
const DEFAULT_MAX_AGE_HOURS = 240;

const E164 = /^\+[1-9][0-9]{4,14}$/;

/** The SIM swap API: `retrieve-date` and `check`, with the checks of CAMARA SIM Swap 1.0 or 2.1. */
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

  /** Whom the token lets ask about; a refusal where it does not let this lookup be made. */
  authorize(
    operation: Operation,
    authorization: string | undefined,
    body: Readonly<Record<string, unknown>>,
  ): Grant {
    const presented = this.#tokens.present(authorization);
    switch (presented.kind) {
      case 'refused':
        return {
          kind: 'refused',
          reply: {
            ...refuse(this.#dialect, 'not authenticated'),
            headers: { 'www-authenticate': 'Bearer' },
          },
        };
      case 'granted': {
        const { grant } = presented;
        const reply = this.#misuseOf(grant, operation, body);
        return reply === undefined ? { kind: 'granted', grant } : { kind: 'refused', reply };
      }
    }
  }

  /** What is replied to a token that does not let this lookup be made. */
  #misuseOf(
    grant: TokenGrant,
    operation: Operation,
    { phoneNumber }: Readonly<Record<string, unknown>>,
  ): Reply | undefined {
    if (grant.operation !== operation) return this.#misused('no permission');
    if (phoneNumber === undefined) {
      return grant.flow === '3-legged' ? undefined : refuse(this.#dialect, 'number not derivable');
    }
    if (typeof phoneNumber !== 'string' || !E164.test(phoneNumber)) {
      return refuse(this.#dialect, 'invalid argument');
    }
    if (grant.flow === '3-legged' && this.#dialect === '2.1') {
      return refuse(this.#dialect, 'number not needed');
    }
    return phoneNumber === grant.number ? undefined : this.#misused('token of another number');
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
    // 1.0 knows of no monitored period.
    const body = this.#dialect === '2.1' ? { latestSimChange, ...more } : { latestSimChange };
    return { status: 200, body };
  }

  #check(line: Line, { maxAge = DEFAULT_MAX_AGE_HOURS }: Readonly<Record<string, unknown>>): Reply {
    if (typeof maxAge !== 'number' || !Number.isInteger(maxAge) || maxAge < 1) {
      return refuse(this.#dialect, 'invalid argument');
    }
    if (maxAge > (line.checksBackHours ?? MAX_MAX_AGE_HOURS)) {
      return refuse(this.#dialect, 'period out of range');
    }
    this.#bill('check');
    return { status: 200, body: { swapped: swappedWithin(line, maxAge) } };
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
