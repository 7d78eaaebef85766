import { randomBytes } from 'node:crypto';
import type { Operation } from '../src/domain/question.ts';
import type { TokenRule } from './dialect.ts';
import type { Reply } from './reply.ts';
import type { Counts } from './stats.ts';

/** What a token was issued for. */
export interface TokenGrant {
  /** Absent in a token for any number. */
  readonly number?: string;
  readonly operations: readonly Operation[];
  /** Whether the token identifies the number of a lookup. If so, the lookup does not. */
  readonly identifies: boolean;
  /** The thumbprint of the key that must prove each use. */
  readonly thumbprint?: string | undefined;
}

/** What a token about one number was issued for. */
export type NumberGrant = TokenGrant & { readonly number: string };

/** What a token is issued for, or the reply instead. */
export type Grant<Granted = TokenGrant> =
  | { readonly kind: 'granted'; readonly grant: Granted }
  | { readonly kind: 'refused'; readonly reply: Reply };

interface IssuedToken {
  readonly grant: TokenGrant;
  readonly expiresAtMs: number;
  isUsed: boolean;
}

/**
 * Issues access tokens, and accepts each by the dialect's rule: once (docs/design.md, "A token works once"), or until
 * it expires.
 */
export class AccessTokens {
  readonly #rule: TokenRule;
  readonly #counts: Counts;
  readonly #nowMs: () => number;
  readonly #issued = new Map<string, IssuedToken>();

  constructor(rule: TokenRule, counts: Counts, nowMs: () => number) {
    this.#rule = rule;
    this.#counts = counts;
    this.#nowMs = nowMs;
  }

  /** A fresh token, as the reply of a token endpoint (docs/operator-api.md, "The token"). */
  issue(grant: TokenGrant): Reply {
    this.#dropExpired();
    this.#counts.tokens += 1;
    const { lifetimeSeconds, expiresInAsText = false } = this.#rule;
    const value = randomBytes(24).toString('base64url');
    const expiresAtMs = this.#nowMs() + lifetimeSeconds * 1000;
    this.#issued.set(value, { grant, expiresAtMs, isUsed: false });
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      body: {
        access_token: value,
        token_type: grant.thumbprint === undefined ? 'Bearer' : 'DPoP',
        expires_in: expiresInAsText ? String(lifetimeSeconds) : lifetimeSeconds,
        refresh_token: randomBytes(24).toString('base64url'),
        id_token: randomBytes(24).toString('base64url'),
      },
    };
  }

  /** What the token was issued for; `undefined` where it is unknown, used or expired. */
  present(authorization: string | undefined, thumbprint?: string): TokenGrant | undefined {
    const [, scheme, value = ''] = /^(Bearer|DPoP) (\S+)$/.exec(authorization ?? '') ?? [];
    const token = this.#issued.get(value);
    const isBound = thumbprint !== undefined;
    const isItsHolder = token?.grant.thumbprint === thumbprint && (scheme === 'DPoP') === isBound;
    if (token === undefined || !isItsHolder) return undefined;
    if (token.isUsed && this.#rule.use === 'once') {
      this.#counts.reusedTokens += 1;
      return undefined;
    }
    token.isUsed = true;
    return token.expiresAtMs > this.#nowMs() ? token.grant : undefined;
  }

  /** Invalidates all tokens issued so far. */
  revoke(): void {
    this.#issued.clear();
  }

  /** Tokens are kept for a while after they expire, to distinguish a second use from an unknown token. */
  #dropExpired(): void {
    for (const [value, { expiresAtMs }] of this.#issued) {
      if (expiresAtMs + this.#rule.lifetimeSeconds * 1000 > this.#nowMs()) return;
      this.#issued.delete(value);
    }
  }
}
