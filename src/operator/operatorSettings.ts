import type { FromFiles } from '../system/fromFiles.ts';
import type { Purpose } from '../domain/identity.ts';
import type { NumberPrefix } from '../domain/phoneNumber.ts';
import type { Price } from '../domain/price.ts';
import type { Operation } from '../domain/question.ts';
import type { ErrorMap } from '../judging/errorMap.ts';
import type { ConnectionSettings, LimitSettings } from '../wire/wireSettings.ts';
import {
  AUTHORIZATION_ENDPOINTS,
  type AuthorizationSettings,
  type AuthorizationSource,
} from '../tokens/authorizationSettings.ts';
import type { OperatorProfile, Options } from '../domain/profile.ts';

/** docs/operator-api.md, "Endpoints". */
export const LOOKUP_ENDPOINTS = ['retrieveDate', 'check'] as const;

export type LookupEndpointName = (typeof LOOKUP_ENDPOINTS)[number];

export const ENDPOINT_NAMES = [...AUTHORIZATION_ENDPOINTS, ...LOOKUP_ENDPOINTS] as const;

export type EndpointName = (typeof ENDPOINT_NAMES)[number];

/** The profile, with the values of the entry where the contract differs. */
export interface LookupSettings extends Omit<OperatorProfile, 'errors' | 'grants' | 'options'> {
  /** Absolute, with `{number}` or `{digits}` where the path names the number. */
  readonly lookupAddresses: Readonly<Record<LookupEndpointName, string>>;
  readonly operations: ReadonlySet<Operation>;
  /** The arguments that the entry passes to the functions of the profile. */
  readonly options: Options;
  readonly errors: ErrorMap;
  readonly limits: LimitSettings;
  /** Used in settings, log and audit lines and keys of stores; never visible to clients. */
  readonly name: string;
  /** Former names, which keys of stores may have. */
  readonly formerly: readonly string[];
  /** A custom profile has the SHA-256 of its file. */
  readonly profile: { readonly name: string; readonly sha256: string | undefined };
  /** The variables that set the members of its entry; absent where an entry of OPERATORS_FILE does. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** The operator with the longest prefix that matches a number serves it. */
  readonly prefixes: readonly NumberPrefix[];
  /** The operators to call in turn about a number that this one does not know; each call is billed. */
  readonly others: readonly string[];
  readonly price: Price | undefined;
  /** The purposes that its contract allows; any purpose where absent. */
  readonly purposes: readonly string[] | undefined;
  /** How long after its lookup left a fact answers further requests of its caller and purpose. */
  readonly keepFactsSeconds: number;
}

/** One operator: its addresses, what it offers and how it is called (docs/design.md, "Settings"). */
export type OperatorSettings = AuthorizationSettings &
  LookupSettings &
  ConnectionSettings & {
    /** The same settings with the present secrets, keys and headers of its files; absent where none is in a file. */
    readonly fromFiles?: FromFiles<OperatorSettings>;
  };

/** An HTTP endpoint of the company that says which operator serves a number: `POST {phoneNumber}` → `{operator}`. */
export interface NumberDirectorySettings extends ConnectionSettings {
  readonly url: string;
  /** Such as `authorization`, secrets included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** How long its answer about a number is kept. */
  readonly keepSeconds: number;
  /** When it is down: no call, or the operator of the number's prefix, which may have lost the number. */
  readonly fallback: 'none' | 'prefix';
  /** The same settings with the current headers of its files; absent where none of them is in a file. */
  readonly fromFiles?: FromFiles<NumberDirectorySettings>;
}

/** The setting of an entry's member: an entry has the addresses of its authorization server, or `discovery`. Pure. */
export function settingName(
  { name, variables, authorization }: OperatorSettings,
  member: string,
): string {
  if (variables !== undefined) return variables[member] ?? member;
  const isDiscovered = member === 'authUrl' && authorization.from === 'discovery';
  return `${isDiscovered ? 'discovery' : member} of "${name}"`;
}

/** Whether a caller's purpose is one that the contract allows and, where the scopes name it, of CAMARA's vocabulary. Pure. */
export function permitsPurpose(
  { scopes, purposes }: Pick<OperatorSettings, 'scopes' | 'purposes'>,
  { word }: Purpose,
): boolean {
  if (scopes.purpose && !word.startsWith('dpv:')) return false;
  return purposes === undefined || purposes.includes(word);
}

export function sendsPhoneNumber({
  grant,
  sendPhoneNumber,
}: Pick<OperatorSettings, 'grant' | 'sendPhoneNumber'>): boolean {
  if (sendPhoneNumber !== 'auto') return sendPhoneNumber === 'always';
  switch (grant.type) {
    // Its `username` binds the token in ways that differ between operators; docs/operator-api.md, "The date", names
    // both.
    case 'client_credentials':
    case 'none':
      return true;
    // The token identifies the number: CAMARA 2 answers 422 where the request names it as well.
    case 'jwt-bearer':
    case 'ciba':
      return false;
  }
}

/**
 * Identifies an operator in stores of consents and facts: the same number at another operator, at another authorization
 * server or by another client is another. Credentials and limits may change. Pure.
 */
export function operatorIdentityOf({
  name,
  flow,
  clientId,
  lookupAddresses,
  authorization,
}: OperatorSettings): string {
  const { origin } = new URL(lookupAddresses.check);
  return [name, origin, clientId, flow, ...placesOf(authorization)].join(' ');
}

/** The operator's identity under its present name, and under its former names. Pure. */
export function operatorIdentitiesOf(settings: OperatorSettings): readonly string[] {
  return [settings.name, ...settings.formerly].map((name) =>
    operatorIdentityOf({ ...settings, name }),
  );
}

/** The name in an identity. Names have no spaces. Pure. */
export function operatorNameOf(identity: string): string {
  return identity.split(' ', 1).join('');
}

function placesOf(source: AuthorizationSource): readonly string[] {
  switch (source.from) {
    case 'settings':
      return [source.addresses.backchannelAuthentication, source.addresses.cibaToken];
    case 'nowhere':
      return [];
    case 'discovery':
      return [source.issuer, source.documentUrl];
  }
}
