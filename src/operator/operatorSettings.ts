import type { FromFiles } from '../system/fromFiles.ts';
import type { Purpose } from '../domain/identity.ts';
import type { NumberPrefix } from '../domain/phoneNumber.ts';
import type { Price } from '../domain/price.ts';
import type { Operation } from '../domain/question.ts';
import type { ErrorMap } from '../judging/errorMap.ts';
import type { ConnectionSettings, LimitSettings } from '../wire/wireSettings.ts';
import type {
  AuthorizationSettings,
  AuthorizationSource,
} from '../tokens/authorizationSettings.ts';
import type { OperatorProfile, Options } from '../domain/profile.ts';

/** docs/operator-api.md, "Endpoints". */
export const LOOKUP_ENDPOINTS = ['retrieveDate', 'check'] as const;

export type LookupEndpointName = (typeof LOOKUP_ENDPOINTS)[number];

/** The profile, with the values of the entry where the contract differs. */
export interface LookupSettings extends Omit<OperatorProfile, 'errors' | 'grants' | 'options'> {
  /** Absolute, with `{number}` or `{digits}` where the path names the number. */
  readonly lookupAddresses: Readonly<Record<LookupEndpointName, string>>;
  readonly operations: ReadonlySet<Operation>;
  /** Arguments of the entry for the functions of the profile. */
  readonly options: Options;
  readonly errors: ErrorMap;
  readonly limits: LimitSettings;
  /** In settings, log and audit lines and keys of stores; never visible to clients. */
  readonly name: string;
  /** Names that it had, in keys of stores. */
  readonly formerly: readonly string[];
  /** A custom one has the SHA-256 of its file. */
  readonly profile: { readonly name: string; readonly sha256: string | undefined };
  /** Which set the members of its entry, by these; absent where an entry of OPERATORS_FILE does. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** The longest prefix of all operators that matches a number decides. */
  readonly prefixes: readonly NumberPrefix[];
  /** Names of the operators to call in turn about a number that this one does not know; each try is billed. */
  readonly others: readonly string[];
  readonly price: Price | undefined;
  /** Words of the purposes that its contract allows; any where absent. */
  readonly purposes: readonly string[] | undefined;
  /** How long after its lookup left a fact answers further requests of its caller and purpose. */
  readonly keepFactsSeconds: number;
}

/** One operator: its addresses, what it offers and how it is called (docs/design.md, "Settings"). */
export type OperatorSettings = AuthorizationSettings &
  LookupSettings &
  ConnectionSettings & {
    /** The same with the secrets, keys and headers that its files have now; absent where none of them is in a file. */
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
  /** The same with the headers that its files have now; absent where none of them is in a file. */
  readonly fromFiles?: FromFiles<NumberDirectorySettings>;
}

/** A member of an entry as its setting: an entry has the addresses of its authorization server, or `discovery`. Pure. */
export function settingName(
  {
    name,
    variables,
    authorization,
  }: Pick<OperatorSettings, 'name' | 'variables' | 'authorization'>,
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
    // Its `username` binds the token in ways of each operator's own; docs/operator-api.md, "The date", names both.
    case 'client_credentials':
    case 'none':
      return true;
    // The API knows the number by the token: then CAMARA 2 answers 422 to a number in the request.
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

/** By its present name, and by those that it had. Pure. */
export function operatorIdentitiesOf(settings: OperatorSettings): readonly string[] {
  return [settings.name, ...settings.formerly].map((name) =>
    operatorIdentityOf({ ...settings, name }),
  );
}

/** The name in an identity: names have no spaces. Pure. */
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
