import { hash } from 'node:crypto';
import { decodeJwt, errors, jwtVerify, type JWTVerifyOptions, type JWTVerifyResult } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../system/clock.ts';
import { callerFrom, SIGNING_ALGORITHMS, type Caller, type IssuerSettings } from './caller.ts';
import { KeysUnavailable, type SigningKeys } from './signingKeys.ts';

/** Allowed clock skew. */
const TOLERANCE_SECONDS = 5;

/** The last second that is a date (ECMA-262, "Time Values"); JSON can contain later ones, and 1e999. */
const MAX_DATE_SECONDS = 8.64e12;

/** Longer tokens are not parsed. */
const MAX_TOKEN_CHARACTERS = 8192;

/** The memory for verified tokens; the least recently used are evicted. */
const MAX_SEEN_BYTES = 16 * 1024 * 1024;

/** How many keys are tried for a token without `kid`: more than an issuer has while it rotates them. */
const MAX_CANDIDATES = 10;

/** Accepted values of `typ`: an access token (RFC 9068 §2.1), or what most issuers write. */
const TYPES: ReadonlySet<string> = new Set(['at+jwt', 'application/at+jwt', 'jwt']);

interface Verified {
  readonly caller: Caller;
  readonly untilMs: number;
  /** The generation of the keys that verified it; a number, so that withdrawn keys are not kept in memory. */
  readonly generation: number | undefined;
}

/** The token's caller; otherwise the token is invalid, or cannot be verified at present. */
type CallerJudgement = Caller | 'invalid' | KeysUnavailable['reason'];

export interface TokenVerifierParts extends Pick<IssuerSettings, 'issuer' | 'audience'> {
  readonly batchScope?: string | undefined;
  readonly keys: Readonly<SigningKeys>;
  readonly clock: Clock;
  /** Gets the reason, for the log. One word for every flaw: a forger learns nothing from it. */
  readonly onRefused?: (reason: string) => void;
  readonly maxBytes?: number | undefined;
}

/** Verifies access tokens (RFC 9068 §4), each once: verified ones are cached. */
export class TokenVerifier {
  readonly #parts: TokenVerifierParts;
  /** Keyed by the token's hash: a dump of memory has no token. */
  readonly #seen: LRUCache<string, Verified>;

  constructor(parts: TokenVerifierParts) {
    this.#parts = parts;
    const { maxBytes: maxSize = MAX_SEEN_BYTES } = parts;
    this.#seen = new LRUCache({ maxSize, sizeCalculation: bytesOf });
  }

  /**
   * Never rejects, whatever the token contains.
   *
   * @param mayWait as for {@link SigningKeys.select}
   */
  async verify(token: string, mayWait?: () => boolean): Promise<CallerJudgement> {
    if (token.length > MAX_TOKEN_CHARACTERS) return this.#refuse('too long');
    const name = hash('sha256', token, 'base64');
    const seen = this.#seen.get(name);
    if (seen !== undefined && this.#isGood(seen)) return seen.caller;
    try {
      const verified = await this.#verify(token, mayWait);
      if (typeof verified === 'string') return this.#refuse(verified);
      this.#seen.set(name, verified);
      return verified.caller;
    } catch (error) {
      return error instanceof KeysUnavailable ? error.reason : this.#refuse(tokenRefusal(error));
    }
  }

  #refuse(reason: TokenRefusal): 'invalid' {
    this.#parts.onRefused?.(reason);
    return 'invalid';
  }

  async #verify(token: string, mayWait = () => true): Promise<Verified | TokenRefusal> {
    const { issuer, audience, batchScope, keys, clock } = this.#parts;
    // No key makes these valid, so none is fetched for them.
    const stated = decodeJwt(token);
    if (stated.iss !== issuer) return 'issuer';
    if (Number(stated.exp) + TOLERANCE_SECONDS <= clock.nowMs() / 1000) return 'expired';
    // Read before: a key that is withdrawn while the token is verified must not count as still published.
    await keys.load();
    let generation = keys.published?.generation;
    const options = {
      issuer,
      audience,
      algorithms: [...SIGNING_ALGORITHMS],
      requiredClaims: ['exp', 'sub'],
      clockTolerance: TOLERANCE_SECONDS,
      currentDate: new Date(clock.nowMs()),
    };
    const verified = this.#verifyWithAnyKey(token, options, mayWait);
    const { payload, protectedHeader } = await verified.catch(async (error: unknown) => {
      // A new key without an id, or with the id of the former one, shows only in its signatures.
      if (!isOfAnotherKey(error)) throw error;
      const latest = await keys.since(generation, mayWait);
      if (latest === undefined) throw error;
      ({ generation } = latest);
      return this.#verifyWithAnyKey(token, options, mayWait);
    });
    const { typ } = protectedHeader;
    if (typ !== undefined && !TYPES.has(typ.toLowerCase())) return 'type';
    const { exp = 0, iat = 0 } = payload;
    if (exp > MAX_DATE_SECONDS) return 'no expiry';
    if (iat > clock.nowMs() / 1000 + TOLERANCE_SECONDS) return 'not issued yet';
    const caller = callerFrom(payload, batchScope);
    if (caller === undefined) return payload['cnf'] === undefined ? 'no subject' : 'bound to a key';
    return { caller, untilMs: (exp + TOLERANCE_SECONDS) * 1000, generation };
  }

  /** A token without `kid` is tried with each key that fits, as jose describes. */
  async #verifyWithAnyKey(
    token: string,
    options: JWTVerifyOptions,
    mayWait: () => boolean,
  ): Promise<JWTVerifyResult> {
    const { keys } = this.#parts;
    try {
      return await jwtVerify(token, (...named) => keys.select(...named, mayWait), options);
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      let tried = 0;
      for await (const candidate of error) {
        tried += 1;
        if (tried > MAX_CANDIDATES) break;
        try {
          return await jwtVerify(token, candidate, options);
        } catch (refusal) {
          if (!(refusal instanceof errors.JWSSignatureVerificationFailed)) throw refusal;
        }
      }
      throw error;
    }
  }

  /** A verification is valid for the token's life, unless the issuer has changed its keys since. */
  #isGood({ untilMs, generation }: Verified): boolean {
    const { clock, keys } = this.#parts;
    const isCurrent = keys.areCurrent() && keys.published?.generation === generation;
    return clock.nowMs() < untilMs && isCurrent;
  }
}

/** Whether no key of the issuer, among those that fit the token, has signed it. */
function isOfAnotherKey(error: unknown): boolean {
  return (
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JWKSMultipleMatchingKeys
  );
}

/** The bytes of a cached token in addition to its claims. */
const SEEN_BYTES = 512;

function bytesOf({ caller: { identity, purpose = '' } }: Verified): number {
  return SEEN_BYTES + 2 * (2 * identity.key.length + purpose.length);
}

/** For the log, which gets nothing from a token. */
type TokenRefusal =
  | (typeof REFUSALS)[number][1]
  | 'bound to a key'
  | 'malformed'
  | 'not issued yet'
  | 'too long'
  | 'type';

/** The reasons, by the claim or the code of an error of jose. */
const REFUSALS = [
  ['aud', 'audience'],
  ['exp', 'no expiry'],
  ['iss', 'issuer'],
  ['nbf', 'not valid yet'],
  ['sub', 'no subject'],
  ['ERR_JWT_EXPIRED', 'expired'],
  ['ERR_JWKS_NO_MATCHING_KEY', 'key'],
  ['ERR_JWKS_MULTIPLE_MATCHING_KEYS', 'key'],
  ['ERR_JWS_SIGNATURE_VERIFICATION_FAILED', 'signature'],
  ['ERR_JOSE_ALG_NOT_ALLOWED', 'algorithm'],
] as const;

function tokenRefusal(error: unknown): TokenRefusal {
  if (!(error instanceof errors.JOSEError)) return 'malformed';
  const name = error instanceof errors.JWTClaimValidationFailed ? error.claim : error.code;
  return REFUSALS.find(([one]) => one === name)?.[1] ?? 'malformed';
}
