import type { FromFiles } from '../system/fromFiles.ts';
import type { NumberPrefix } from '../domain/numberPrefix.ts';
import type { Price } from '../domain/price.ts';
import type { Operation } from '../domain/question.ts';
import type { ErrorMap } from '../http/errorMap.ts';
import type {
  ConnectionSettings,
  Http2Setting,
  CorrelatorSettings,
  LimitSettings,
  OperatorHeader,
} from '../http/wireSettings.ts';
import type { AuthorizationSettings } from '../tokens/authorizationSettings.ts';
import type { OperatorProfile, Options } from './profile.ts';

/** The endpoints of the SIM swap API (docs/operator-api.md, "Endpoints"). */
export const LOOKUP_ENDPOINTS = ['retrieveDate', 'check'] as const;

export type LookupEndpointName = (typeof LOOKUP_ENDPOINTS)[number];

export interface LookupSettings {
  /** Absolute, with `{number}` or `{digits}` where the path names the number. */
  readonly lookupAddresses: Readonly<Record<LookupEndpointName, string>>;
  readonly operations: ReadonlySet<Operation>;
  /** The largest window that the operator's `check` takes. */
  readonly maxAgeHours: number;
  /** How far the operator's dates may be off: rounding, mislabelled zones, clocks. */
  readonly dateMarginHours: number;
  readonly trustMonitoredPeriod: boolean;
  /** Whether lookups name the number beside the token; `auto` where the token does not hold it. */
  readonly sendPhoneNumber: OperatorProfile['sendPhoneNumber'];
  readonly lookups: OperatorProfile['lookups'];
  /** What the entry says to the functions of the profile. */
  readonly options: Options;
  /** Whether a lookup whose outcome is unknown is made once more, at the price of a second bill. */
  readonly retriesLookups: boolean;
  /** Whether one call about a number waits for the other: some answer 409 to two at a time. */
  readonly oneCallPerNumber: boolean;
  readonly errors: ErrorMap;
  readonly correlator: CorrelatorSettings;
  readonly http2: Http2Setting;
  /** What the API does with a token that was issued for another number than the body names; `refused`: 401 or 403. */
  readonly tokenMismatch: 'accepted' | 'refused';
  /** Headers that this operator wants, beside those that every operator is sent. */
  readonly headers: readonly OperatorHeader[];
  readonly limits: LimitSettings;
}

export interface ServingSettings {
  /** Stands in the settings, in log and audit lines and in the keys of stores; never in what clients read. */
  readonly name: string;
  /** How it is asked; of one's own with the SHA-256 of its file. */
  readonly profile: { readonly name: string; readonly sha256?: string };
  /** The longest prefix of all operators that fits a number decides. */
  readonly prefixes: readonly NumberPrefix[];
  /** Names of the operators to ask in turn about a number that this one does not know; each try is billed. */
  readonly others: readonly string[];
  /** What it bills; `undefined` where that is not set. */
  readonly price: Price | undefined;
  /** How long after its lookup left a fact answers further requests of its caller and purpose. */
  readonly keepFactsSeconds: number;
}

/** One operator: where it is, what it offers and how it wants to be asked (docs/design.md, "Settings"). */
export type OperatorSettings = AuthorizationSettings &
  LookupSettings &
  ServingSettings &
  ConnectionSettings & {
    /** The same with the secrets, keys and headers that its files hold by now; absent where none of them is in a file. */
    readonly fromFiles?: FromFiles<OperatorSettings>;
  };

/** An HTTP endpoint of the company that says which operator serves a number: `POST {phoneNumber}` → `{operator}`. */
export interface NumberDirectorySettings extends ConnectionSettings {
  readonly url: string;
  /** Such as `authorization`, secrets included. */
  readonly headers: Readonly<Record<string, string>>;
  /** For one question to it. */
  readonly timeoutMs: number;
  /** How long what it said of a number is kept. */
  readonly keepSeconds: number;
  /** When it is down: no call, or the operator of the number's prefix, who may have lost the number. */
  readonly fallback: 'none' | 'prefix';
  /** The same with the headers that its files hold by now; absent where none of them is in a file. */
  readonly fromFiles?: FromFiles<NumberDirectorySettings>;
}
