import type { ConnectionSettings } from '../wire/wireSettings.ts';
import {
  ANONYMOUS_IDENTITY,
  tokenIdentity,
  type Identity,
  type Purpose,
} from '../domain/identity.ts';
import { parsePhoneNumber, type PhoneNumber } from '../domain/phoneNumber.ts';

export interface CallerSettings {
  /** Absent where every caller is anonymous: on loopback. */
  readonly tokens: IssuerSettings | undefined;
  /** The scope that a query for several numbers in one operation requires. */
  readonly batchScope: string | undefined;
  /** Each secret proves that a request comes from the router; without any, no proof is required. */
  readonly routerSecrets: readonly string[];
  /** The allowed purposes; the first is the default. */
  readonly purposes: readonly [Purpose, ...Purpose[]];
}

/**
 * The algorithms of an issuer, of which its published keys allow some (RFC 7518 §3, RFC 8037, RFC 9864): asymmetric, so
 * that no shared secret verifies a token. ML-DSA is left out, since it is experimental in Node 24.
 */
export const SIGNING_ALGORITHMS = [
  'RS256',
  'PS256',
  'ES256',
  'RS384',
  'RS512',
  'PS384',
  'PS512',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** The issuer of accepted access tokens (RFC 9068). */
export interface IssuerSettings {
  /** Set for development tokens, whose keys are not fetched. */
  readonly isForDevelopment?: true;
  /** Where the issuer publishes its keys (RFC 7517 §5). */
  readonly jwksUrl: string;
  readonly jwksConnection: ConnectionSettings;
  readonly issuer: string;
  readonly audience: string;
}

export interface Caller {
  /** Consents are shared only between requests of the same identity. */
  readonly identity: Identity;
  /** For risk teams and services; other callers query only their own number. */
  readonly mayAskAboutAnyone: boolean;
  /** The scope that it lacks to query several numbers in one operation; absent where it may. */
  readonly missingBatchScope?: string | undefined;
  /** The caller's own number, verified by the issuer. */
  readonly ownNumber?: PhoneNumber | undefined;
  /** The purpose that its token states. */
  readonly purpose?: string | undefined;
}

/** Every caller, where no issuer is configured: on loopback only. */
export const ANONYMOUS: Caller = { identity: ANONYMOUS_IDENTITY, mayAskAboutAnyone: true };

/** Does not depend on what an operator knows. */
export function mayAskAbout(caller: Caller, number: PhoneNumber): boolean {
  return caller.mayAskAboutAnyone || caller.ownNumber === number;
}

/** The claims of a token (RFC 7519 §4). */
type Claims = Readonly<Record<string, unknown>>;

const READ_SCOPE = 'sim-swap:read';

/**
 * The caller in the claims of a verified token; `undefined` where they name none. A token that is bound to a key of its
 * holder (`cnf`, RFC 7800) is not accepted: its proof cannot be verified here. Pure.
 */
export function callerFrom(claims: Claims, batchScope?: string): Caller | undefined {
  const { iss, sub, cnf } = claims;
  if (typeof iss !== 'string' || typeof sub !== 'string' || sub === '' || cnf !== undefined) {
    return undefined;
  }
  const { purpose } = claims;
  const scopes = scopesIn(claims);
  return {
    identity: tokenIdentity(iss, sub, clientIn(claims)),
    mayAskAboutAnyone: scopes.includes(READ_SCOPE),
    missingBatchScope: scopes.includes(batchScope) ? undefined : batchScope,
    ownNumber: ownNumberIn(claims),
    purpose: typeof purpose === 'string' ? purpose : undefined,
  };
}

/** RFC 9068 names the client in `client_id`; other issuers use `azp` (OpenID Connect Core §2). */
export function clientIn({ client_id: clientId, azp }: Claims): string | null {
  return [clientId, azp].find((one) => typeof one === 'string') ?? null;
}

/** RFC 9068: one string, separated by spaces; some issuers send a list, and some name it `scp`. */
function scopesIn({ scope, scp }: Claims): readonly unknown[] {
  const scopes = scope ?? scp;
  if (typeof scopes === 'string') return scopes.split(' ');
  return Array.isArray(scopes) ? scopes : [];
}

/** OpenID Connect Core §5.1: a number counts only together with the boolean that it was verified. */
function ownNumberIn(claims: Claims): PhoneNumber | undefined {
  const { phone_number: text, phone_number_verified: isVerified } = claims;
  if (typeof text !== 'string' || isVerified !== true) return undefined;
  const parsed = parsePhoneNumber(text);
  return parsed.kind === 'parsed' ? parsed.value : undefined;
}
