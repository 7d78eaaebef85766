import type { ConnectionSettings } from '../http/wireSettings.ts';
import { ANONYMOUS_IDENTITY, tokenIdentity, type Identity } from '../domain/identity.ts';
import { parsePhoneNumber, type PhoneNumber } from '../domain/phoneNumber.ts';

export interface CallerSettings {
  /** Absent where every caller is anonymous: on loopback alone. */
  readonly tokens: IssuerSettings | undefined;
  /** What a caller needs to ask about several numbers in one operation, if anything. */
  readonly batchScope: string | undefined;
  /** Any of them proves that a request comes from the router; where there is none, no proof is asked. */
  readonly routerSecrets: readonly string[];
  /** What may be asked for; the first is taken where nothing is said. */
  readonly purposes: readonly [string, ...string[]];
}

/** The algorithms that an issuer may sign with: asymmetric ones, so that no shared secret verifies. */
export const SIGNING_ALGORITHMS = ['RS256', 'PS256', 'ES256'] as const;

/** Whose access tokens are believed (RFC 9068). */
export interface IssuerSettings {
  /** Set where these are development tokens: then no keys are fetched. */
  readonly isForDevelopment?: true;
  /** Where the issuer publishes its keys (RFC 7517 §5). */
  readonly jwksUrl: string;
  readonly jwksConnection: ConnectionSettings;
  readonly issuer: string;
  readonly audience: string;
}

/** Who asks, and about whom they may. */
export interface Caller {
  /** Consents are shared within it, and with no other caller. */
  readonly identity: Identity;
  /** Risk teams and services; every other caller asks about itself. */
  readonly mayAskAboutAnyone: boolean;
  /** The scope that it would need to ask about several numbers in one operation; absent where it may. */
  readonly missingBatchScope?: string;
  /** The number that the issuer has verified to be the caller's own. */
  readonly ownNumber?: PhoneNumber;
  /** What the issuer says the caller asks for. */
  readonly purpose?: string;
}

/** Every caller, where no issuer is configured: on loopback alone. */
export const ANONYMOUS: Caller = { identity: ANONYMOUS_IDENTITY, mayAskAboutAnyone: true };

/** Whether a caller may learn anything about a number. It depends on nothing that an operator knows. */
export function mayAskAbout(caller: Caller, number: PhoneNumber): boolean {
  return caller.mayAskAboutAnyone || caller.ownNumber === number;
}

/** What a verified token says (RFC 7519 §4). */
type Claims = Readonly<Record<string, unknown>>;

const READ_SCOPE = 'sim-swap:read';

/**
 * The caller that the claims of a verified token name; `undefined` where they name none. Pure.
 *
 * A token that is bound to a key of its holder (`cnf`, RFC 7800) is not accepted: it would have to come
 * with a proof that nothing in this service can verify.
 *
 * @param batchScope what a caller needs to ask about several numbers in one operation, if anything
 */
export function callerFrom(claims: Claims, batchScope?: string): Caller | undefined {
  const { iss, sub, cnf } = claims;
  if (typeof iss !== 'string' || typeof sub !== 'string' || sub === '' || cnf !== undefined) {
    return undefined;
  }
  const ownNumber = ownNumberIn(claims);
  const { purpose } = claims;
  const scopes = scopesIn(claims);
  const mayAskAboutSeveral = batchScope === undefined || scopes.includes(batchScope);
  return {
    identity: tokenIdentity(iss, sub, clientIn(claims)),
    mayAskAboutAnyone: scopes.includes(READ_SCOPE),
    ...(mayAskAboutSeveral ? {} : { missingBatchScope: batchScope }),
    ...(ownNumber === undefined ? {} : { ownNumber }),
    ...(typeof purpose === 'string' ? { purpose } : {}),
  };
}

/** RFC 9068 names the client in `client_id`; others in `azp` (OpenID Connect Core §2). */
function clientIn({ client_id: clientId, azp }: Claims): string | null {
  if (typeof clientId === 'string') return clientId;
  return typeof azp === 'string' ? azp : null;
}

/** RFC 9068 has one string with spaces between; some issuers send a list, some name it `scp`. */
function scopesIn({ scope, scp }: Claims): readonly unknown[] {
  const scopes = scope ?? scp;
  if (typeof scopes === 'string') return scopes.split(' ');
  return Array.isArray(scopes) ? scopes : [];
}

/** OpenID Connect Core §5.1: a number counts only beside the word, as a boolean, that it was verified. */
function ownNumberIn(claims: Claims): PhoneNumber | undefined {
  const { phone_number: text, phone_number_verified: isVerified } = claims;
  if (typeof text !== 'string' || isVerified !== true) return undefined;
  const parsed = parsePhoneNumber(text);
  return parsed.kind === 'parsed' ? parsed.value : undefined;
}
