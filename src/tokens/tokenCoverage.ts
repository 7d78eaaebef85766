import type { TokenSubject } from './accessToken.ts';
import type { AuthorizationSettings, FlowSettings } from './authorizationSettings.ts';
import { scopeOf } from './tokenRequest.ts';

/** What one token may be used for: equal for two lookups exactly where one token serves both. */
export type TokenCoverage = string;

/** Whether a token of this grant is issued for one number. Pure. */
export function namesNumber(grant: FlowSettings['grant']): boolean {
  switch (grant.type) {
    case 'client_credentials':
      return grant.username !== undefined;
    case 'none':
      return false;
    case 'jwt-bearer':
    case 'ciba':
      return true;
  }
}

/**
 * The scopes of a token and, where it is for one number, that number. A token that was issued for a number
 * serves no other, whatever the settings say: some operators answer by the token, and the answer would be
 * about a stranger. Pure.
 */
export function tokenCoverage(
  { scopes, tokens, grant }: Pick<AuthorizationSettings, 'scopes' | 'tokens' | 'grant'>,
  { number, operation }: TokenSubject,
): TokenCoverage {
  const scope = scopeSet(scopeOf(scopes, operation));
  const isForAny = tokens.use === 'any-number' && !namesNumber(grant);
  return isForAny ? scope : `${number} ${scope}`;
}

/** `scope` is a set (RFC 6749 §3.3): its order says nothing. */
function scopeSet(scope: string): string {
  return [...new Set(scope.split(' '))].toSorted().join(' ');
}
