import type { Operation } from '../domain/question.ts';
import type { ScopeSettings } from './authorizationSettings.ts';

/**
 * The `scope` of a request: `openid` first, then the purpose and the operation's own, joined as the operator
 * wants it. Empty where it knows no scopes. Pure.
 */
export function scopeOf(
  { operations, openid, purpose, joinedBy }: ScopeSettings,
  operation: Operation,
): string {
  const purposed = [purpose ?? '', operations[operation]].filter((one) => one !== '');
  return [openid ? 'openid' : '', purposed.join(joinedBy)].filter((one) => one !== '').join(' ');
}
