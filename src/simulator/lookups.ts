import type { Operation } from '../domain/question.ts';
import type { AccessTokens, TokenGrant } from './accessTokens.ts';
import { retrieveDate, swappedWithin } from './line.ts';
import { camaraError, type Reply } from './reply.ts';
import type { Counts } from './stats.ts';
import { findTestNumber } from './testNumbers.ts';

const LARGEST_MAX_AGE_HOURS = 2400;
const DEFAULT_MAX_AGE_HOURS = 240;

/** The SIM swap API: `retrieve-date` and `check`, with the checks of CAMARA SIM Swap 2.1. */
export class Lookups {
  readonly #tokens: AccessTokens;
  readonly #counts: Counts;
  readonly #nowMs: () => number;

  constructor(tokens: AccessTokens, counts: Counts, nowMs: () => number) {
    this.#tokens = tokens;
    this.#counts = counts;
    this.#nowMs = nowMs;
  }

  /** Whom the token lets ask about; a refusal where it does not let this lookup be made. */
  authorize(
    operation: Operation,
    authorization: string | undefined,
    body: Readonly<Record<string, unknown>>,
  ): TokenGrant | Reply {
    const presented = this.#tokens.present(authorization);
    if ('refused' in presented) {
      return { ...camaraError(401, 'UNAUTHENTICATED'), headers: { 'www-authenticate': 'Bearer' } };
    }
    const { grant } = presented;
    if (grant.operation !== operation) return this.#misused('PERMISSION_DENIED');
    const { phoneNumber } = body;
    if (grant.flow === '3-legged') {
      return phoneNumber === undefined ? grant : camaraError(422, 'UNNECESSARY_IDENTIFIER');
    }
    if (phoneNumber === undefined) return camaraError(422, 'MISSING_IDENTIFIER');
    return phoneNumber === grant.number ? grant : this.#misused('INVALID_TOKEN_CONTEXT');
  }

  /** The true answer about a number, billed. */
  answer(operation: Operation, number: string, body: Readonly<Record<string, unknown>>): Reply {
    const found = findTestNumber(number);
    if (found === undefined) return camaraError(404, 'IDENTIFIER_NOT_FOUND');
    if (operation === 'retrieve-date') {
      this.#bill('retrieveDate');
      return { status: 200, body: retrieveDate(found.line, this.#nowMs()) };
    }
    const { maxAge = DEFAULT_MAX_AGE_HOURS } = body;
    if (typeof maxAge !== 'number' || !Number.isInteger(maxAge) || maxAge < 1) {
      return camaraError(400, 'INVALID_ARGUMENT');
    }
    if (maxAge > (found.line.checksBackHours ?? LARGEST_MAX_AGE_HOURS)) {
      return camaraError(400, 'OUT_OF_RANGE');
    }
    this.#bill('check');
    return { status: 200, body: { swapped: swappedWithin(found.line, maxAge) } };
  }

  #misused(code: string): Reply {
    this.#counts.misusedTokens += 1;
    return camaraError(403, code);
  }

  #bill(operation: 'retrieveDate' | 'check'): void {
    this.#counts.lookups += 1;
    this.#counts[operation] += 1;
  }
}
