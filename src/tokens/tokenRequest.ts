import { fillTemplate } from '../domain/numberTemplate.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Operation } from '../domain/question.ts';
import type {
  ClientCredentialsGrant,
  ScopeSettings,
  TokenRequestMember,
} from './authorizationSettings.ts';

/** What a request to the authorization server carries, encoded, beside the proof of who sends it. */
export interface AuthorizationRequest {
  readonly form: string;
  /** Of the URL. */
  readonly query?: string;
}

/**
 * Writes requests of the client_credentials grant (RFC 6749 §4.4.2) for one scope; all but the number is
 * encoded once. An empty scope is left out. Pure.
 */
export function clientCredentialsRequest(
  { username, inQuery, parameters }: ClientCredentialsGrant,
  scope: string,
): (number: PhoneNumber) => AuthorizationRequest {
  const members: Readonly<Partial<Record<TokenRequestMember, string>>> = {
    grant_type: 'client_credentials',
    ...(scope === '' ? {} : { scope }),
  };
  const isInQuery = (name: string): boolean => inQuery.some((one) => one === name);
  const query = encodeForm(only(members, isInQuery));
  const form = encodeForm({ ...only(members, (name) => !isInQuery(name)), ...parameters });
  const all = { form, query };
  if (username === undefined) return () => all;
  return (number) => ({
    form: joinForms(form, `username=${encodeURIComponent(fillTemplate(username, number))}`),
    query,
  });
}

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

type Form = Readonly<Record<string, string>>;

function only(members: Form, isWanted: (name: string) => boolean): Form {
  return Object.fromEntries(Object.entries(members).filter(([name]) => isWanted(name)));
}

/** RFC 6749 appendix B. Pure. */
export function encodeForm(members: Form): string {
  // Empty for most requests, which prove who sends them by a header.
  return Object.keys(members).length === 0 ? '' : new URLSearchParams(members).toString();
}

/** Encoded forms as one; those that are empty leave nothing behind. Pure. */
export function joinForms(form: string, further: string): string {
  return form === '' || further === '' ? form + further : `${form}&${further}`;
}
