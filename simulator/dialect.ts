import type { Operation } from '../src/domain/question.ts';
import { oauthError, type Reply } from './reply.ts';
import { wordingOf, type CamaraVersion, type Refusal } from './refusals.ts';

/** Below the authorization server's address, and below that of the SIM swap API. Absent: not offered. */
export interface DialectPaths {
  /** The authorization server's metadata (RFC 8414). */
  readonly discovery?: string;
  readonly token?: string;
  readonly backchannelAuthentication?: string;
  /** May be that of `token`: the grant decides. */
  readonly cibaToken?: string;
  readonly simSwap: string;
  readonly retrieveDate?: string;
  readonly check?: string;
}

/** What a 2-legged token request must look like. */
export type TokenRequestForm =
  | {
      readonly grant: 'client_credentials';
      /** Whether `username` must name the number, or must not be there. */
      readonly namesNumber: boolean;
      /** Whether `grant_type` must be in the query, and not in the body. */
      readonly inQuery: boolean;
    }
  /** The assertion names the number and the scope, and proves the client (CAMARA, "JWT Bearer Flow"). */
  | { readonly grant: 'jwt-bearer' };

/** What the operator takes its tokens for. */
export interface TokenRule {
  readonly use: 'once' | 'until it expires';
  readonly lifetimeSeconds: number;
  /** Whether `expires_in` is a text, as some write it. */
  readonly expiresInAsText?: boolean;
}

/** How an operator departs from another: all that a client must know in addition to its credentials. */
export interface Dialect {
  readonly paths: DialectPaths;
  /** Whose words refuse lookups, and whose rules they follow. */
  readonly version: CamaraVersion;
  /** How lookups are refused: as CAMARA does, or inside an envelope of the operator's own. */
  readonly lookupErrors: 'camara' | 'envelope';
  /** How the authorization server refuses: by RFC 6749 §5.2, or as `{ code, message }`. Polls use the first. */
  readonly authorizationErrors: 'oauth' | 'code-and-message';
  readonly clientAuthentication: 'basic' | 'private_key_jwt' | 'both';
  /** What assertions must be for: the authorization server, or the very endpoint. */
  readonly audience: 'server' | 'endpoint';
  readonly tokenRequest: TokenRequestForm;
  readonly cibaGrantType: string;
  /** `scope` as a whole, and what it is for, empty for requests without one; or as CAMARA has it, for any purpose. */
  readonly scopes: Readonly<Record<string, readonly Operation[]>> | 'camara';
  readonly tokens: TokenRule;
  readonly consent: { readonly intervalSeconds: number; readonly expiresInSeconds: number };
  /** How lookups name the number: in the body with its plus, or in a header without. */
  readonly phoneNumber: { readonly in: 'body' } | { readonly in: 'header'; readonly name: string };
  readonly maxAgeUnit: 'hours' | 'seconds';
  /** The largest window that `check` takes. */
  readonly maxAgeHours: number;
  readonly swappedMember: 'swapped' | 'simSwapped';
  readonly correlatorHeader: string;
  /** Must be there on bc-authorize and on lookups. */
  readonly partnerHeader?: string;
  /** Whether a second lookup about a number is refused while the first is under way. */
  readonly oneCallPerNumber: boolean;
  /** A refusal that the operator words otherwise than its version does. */
  readonly ownWords?: Readonly<Partial<Record<Refusal, { status: number; code: string }>>>;
}

/**
 * What a scope is for; `undefined` where it is not one of the dialect's. CAMARA's has exactly one purpose (Security and
 * Interoperability Profile, "Purpose as a scope"), `openid` where it is for the owner (CIBA Core §7.1), and operations, in any order.
 */
export function operationsOf(
  { scopes }: Pick<Dialect, 'scopes'>,
  scope: string,
  isForOwner: boolean,
): readonly Operation[] | undefined {
  if (scopes !== 'camara') return scopes[scope];
  const words = scope.split(' ');
  const purposes = words.filter((word) => PURPOSE.test(word));
  const operations = OPERATIONS.filter((operation) => words.includes(`sim-swap:${operation}`));
  const known = purposes.length + operations.length + (isForOwner ? 1 : 0);
  const isComplete = purposes.length === 1 && (!isForOwner || words.includes('openid'));
  return isComplete && operations.length > 0 && words.length === known ? operations : undefined;
}

/** A purpose of the Data Privacy Vocabulary. */
const PURPOSE = /^dpv:[A-Z][A-Za-z]*$/;

const OPERATIONS: readonly Operation[] = ['retrieve-date', 'check'];

/** What an `x-correlator` may be; before 2.0 it is any text. */
const CORRELATORS: Readonly<Record<CamaraVersion, RegExp>> = {
  '0.4': /^/,
  '1.0': /^/,
  '2.1': /^[a-zA-Z0-9-_:;./<>{}]{0,256}$/,
};

/** Whether the dialect takes this correlator. */
export function takesCorrelator({ version }: Dialect, correlator: string): boolean {
  return CORRELATORS[version].test(correlator);
}

/** A refused lookup as the dialect words it. It never quotes what was sent. */
export function refuse(dialect: Dialect, refusal: Refusal): Reply {
  const wording = { ...wordingOf(dialect.version, refusal), ...dialect.ownWords?.[refusal] };
  const { status, code, message } = wording;
  switch (dialect.lookupErrors) {
    case 'camara':
      return { status, body: { status, code, message } };
    case 'envelope':
      return {
        status,
        body: {
          apiVersion: 'v1',
          transactionId: 'simulated',
          error: { httpCode: status, errorCode: code, message },
        },
      };
  }
}

/** A refusal of the authorization server, polls aside. */
export function refuseAuthorization(
  { authorizationErrors }: Dialect,
  status: number,
  error: string,
): Reply {
  switch (authorizationErrors) {
    case 'oauth':
      return oauthError(status, error);
    case 'code-and-message':
      return { status, body: { code: status, message: error } };
  }
}
