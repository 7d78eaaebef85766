import type { Operation } from '../src/domain/question.ts';
import { oauthError, type Reply } from './reply.ts';
import { wordingOf, type CamaraVersion, type Refusal } from './refusals.ts';

/** Below the address of the authorization server, and of the SIM swap API. An absent path is not offered. */
export interface DialectPaths {
  /** The authorization server's metadata (RFC 8414). */
  readonly discovery?: string;
  readonly token?: string;
  readonly backchannelAuthentication?: string;
  /** May be the path of `token`: the grant decides. */
  readonly cibaToken?: string;
  readonly simSwap: string;
  readonly retrieveDate?: string;
  readonly check?: string;
}

/** The required form of a 2-legged token request. */
export type TokenRequestForm =
  | {
      readonly grant: 'client_credentials';
      /** Whether `username` must name the number, or must be absent. */
      readonly namesNumber: boolean;
      /** Whether `grant_type` must be in the query, and not in the body. */
      readonly inQuery: boolean;
    }
  /** The assertion names the number and the scope, and authenticates the client (CAMARA, "JWT Bearer Flow"). */
  | { readonly grant: 'jwt-bearer' };

/** How the operator accepts its tokens. */
export interface TokenRule {
  readonly use: 'once' | 'until it expires';
  readonly lifetimeSeconds: number;
  /** Whether `expires_in` is a text, as some operators write it. */
  readonly expiresInAsText?: boolean;
}

/** How an operator differs from others: everything that a client must know in addition to its credentials. */
export interface Dialect {
  readonly paths: DialectPaths;
  /** The version whose words and rules refuse lookups. */
  readonly version: CamaraVersion;
  /** How lookups are refused: as in CAMARA, or inside an envelope of the operator's own. */
  readonly lookupErrors: 'camara' | 'envelope';
  /** How the authorization server refuses: by RFC 6749 §5.2, or as `{ code, message }`. Polls use the first. */
  readonly authorizationErrors: 'oauth' | 'code-and-message';
  readonly clientAuthentication: 'basic' | 'private_key_jwt' | 'both';
  /** The audience of assertions: the authorization server, or the endpoint itself. */
  readonly audience: 'server' | 'endpoint';
  readonly tokenRequest: TokenRequestForm;
  readonly cibaGrantType: string;
  /** `scope` as a whole, and its operations, empty for requests without a scope; or as in CAMARA, for any purpose. */
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
  /** A header that bc-authorize and lookups require. */
  readonly partnerHeader?: string;
  /** Whether a second lookup about a number is refused while the first is under way. */
  readonly oneCallPerNumber: boolean;
  /** Refusals that the operator words differently from its version. */
  readonly ownWords?: Readonly<Partial<Record<Refusal, { status: number; code: string }>>>;
}

/**
 * The operations of a scope; `undefined` where it is not one of the dialect's. CAMARA's has exactly one purpose
 * (Security and Interoperability Profile, "Purpose as a scope"), `openid` where it is for the owner (CIBA Core §7.1),
 * and operations, in any order.
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

/** The form of an `x-correlator`; before 2.0 it is any text. */
const CORRELATORS: Readonly<Record<CamaraVersion, RegExp>> = {
  '0.4': /^/,
  '1.0': /^/,
  '2.1': /^[a-zA-Z0-9-_:;./<>{}]{0,256}$/,
};

/** Whether the dialect accepts this correlator. */
export function takesCorrelator({ version }: Dialect, correlator: string): boolean {
  return CORRELATORS[version].test(correlator);
}

/** A refused lookup in the dialect's words. Never quotes what was sent. */
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

/** A refusal of the authorization server, except to a poll. */
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
