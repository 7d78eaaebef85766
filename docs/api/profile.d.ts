export type ProfileOperation = 'retrieve-date' | 'check';
/** Whether the owner of a number is prompted for consent (`3-legged`). */
export type ProfileFlow = '2-legged' | '3-legged';
export type ProfileEndpoint =
  'token' | 'backchannelAuthentication' | 'cibaToken' | 'retrieveDate' | 'check';
/** What an entry may set in `options`: a text for each option of the profile. */
export type Options = Readonly<Record<string, string>>;
/** A JSON object of the operator's, whose members are not checked yet; frozen. */
export type Body = Readonly<Record<string, unknown>>;
/** A document that an operator, or a standards body, has published. */
export interface Paper {
  readonly title: string;
  readonly version?: string | undefined;
  /** When it was last compared with the profile: `YYYY-MM-DD`. */
  readonly readOn: string;
}
/** A way into a JSON body, by the names of members: `/data/lastSimSwapDate` (RFC 6901, without escapes). */
export type Pointer = `/${string}`;
/** How one operator is called and its replies are read. `camara` is the base; each profile states its differences. */
export interface OperatorProfile {
  /** What it was written from. A check of the operator warns when they were read more than a year ago. */
  readonly papers: readonly Paper[];
  readonly authentication: Authentication;
  /** How tokens are acquired, in each flow that the operator has; the entry names the flow where there are two. */
  readonly grants: {
    readonly '2-legged'?: ClientCredentials | JwtBearer | NoToken | undefined;
    readonly '3-legged'?: Ciba | undefined;
  };
  readonly scopes: Scopes;
  readonly tokens: Tokens;
  /** An operation that is not listed is not offered. */
  readonly lookups: {
    readonly [operation in ProfileOperation]?: LookupProfile | undefined;
  };
  /** Whether lookups name the number in addition to the token; `auto` where the token does not hold it. */
  readonly sendPhoneNumber: 'auto' | 'always' | 'never';
  readonly errors: Errors;
  /** How exchanges are named, and whether replies repeat the name. */
  readonly correlator: {
    readonly header: string;
    /** At most 55 letters, digits and hyphens, starting with the caller's correlator; or a UUID. */
    readonly form: 'traceable' | 'uuid';
    readonly echo: 'auto' | 'always' | 'never';
  };
  /** Sent in addition to the headers of each lookup. */
  readonly headers: readonly ProfileHeader[];
  /** The largest window that `check` takes, in hours: 2400 at most. */
  readonly maxAgeHours: number;
  /** How far its dates may be off: rounding, mislabelled zones, clocks. */
  readonly dateMarginHours: number;
  /** Whether a monitored period with a null date says that no swap fell in it. */
  readonly trustMonitoredPeriod: boolean;
  /** Whether a lookup whose outcome is unknown is repeated once, at the risk of a second bill. */
  readonly retryLookups: boolean;
  /** Whether calls about one number wait for each other: some operators answer 409 to two at a time. */
  readonly oneCallPerNumber: boolean;
  /** `auto` uses HTTP/2 where the operator supports it. */
  readonly http2: 'auto' | 'never';
  /** What a lookup does with a token of another number than its body names; `refused` if it answers 401 or 403. */
  readonly tokenMismatch: 'accepted' | 'refused';
  /** What an entry may set in `options`, by name: letters and digits. */
  readonly options: Readonly<Record<string, ProfileOption>>;
}
/** One option of an entry: a text for paths, headers and what functions write. */
export interface ProfileOption {
  /** For the message where the option is missing. */
  readonly description: string;
  /** What the whole text must match; printable ASCII of at most 200 characters where absent. */
  readonly pattern?: RegExp | undefined;
  /** Where absent, the entry must set the option. */
  readonly default?: string | undefined;
}
/** How the client authenticates: at the authorization server, or at each lookup where there is no token step. */
export interface Authentication {
  /**
   * The methods that the operator accepts. If there are several, `client.method` of the entry names one; where it is absent,
   * the first one for which the entry's `secret` and `key` are sufficient applies.
   */
  readonly methods: readonly [AuthenticationMethod, ...AuthenticationMethod[]];
  readonly assertion: AssertionProfile;
  /** Whether bc-authorize carries a signed `request` (CIBA Core §7.1.1); `on` repeats `scope` outside it. */
  readonly signedRequest: 'off' | 'on' | 'strict';
  /** Whether tokens are bound to a key (RFC 9449): a proof goes with each token request and each lookup. */
  readonly dpop: boolean;
  /** For the method `headers`, with the placeholders `{id}` and `{secret}`: `{ 'x-rapidapi-key': '{secret}' }`. */
  readonly headers: Readonly<Record<string, string>>;
}
/**
 * - `basic`: base64(id:secret) in `authorization`.
 * - `post`: `client_id` and `client_secret` in the form (client_secret_post).
 * - `private_key_jwt`: an assertion in the form (RFC 7523).
 * - `both`: Basic, and an assertion.
 * - `bearer_jwt`: the JWT as `authorization: Bearer`.
 * - `headers`: headers of the operator's own.
 * - `tls`: `client_id` in the form, and the certificate of the connection (RFC 8705 §2).
 */
export type AuthenticationMethod =
  'basic' | 'post' | 'private_key_jwt' | 'both' | 'bearer_jwt' | 'headers' | 'tls';
/** JWTs that are signed with the client's key. */
export interface AssertionProfile {
  /** The first one that fits the key is used. */
  readonly algs: readonly ('ES256' | 'PS256' | 'RS256')[];
  /** How long an assertion is valid: from 5 to 300 seconds. */
  readonly lifetimeSeconds: number;
  /** `server` is `authUrl`, or the issuer of `discovery`; `endpoint` is the address that it is sent to; or any text. */
  readonly audience: 'server' | 'endpoint' | (string & {});
  /** All claims but `iat`, `exp` and `jti`, which are added. Synchronous. */
  readonly claims: (about: AssertionAbout) => Readonly<Record<string, unknown>>;
}
/** Frozen. */
export interface AssertionAbout {
  readonly clientId: string;
  readonly audience: string;
  readonly options: Options;
}
/** RFC 6749 §4.4. */
export interface ClientCredentials {
  readonly type: 'client_credentials';
  /** Below `authUrl`; `{name}` is an option. */
  readonly path: string;
  /** What binds the token to its number, such as `tel:{number}` or `{digits}`. */
  readonly username?: string | undefined;
  /**
   * Members that are sent in the query of the address, not in the body; never the number, since addresses are logged.
   */
  readonly inQuery: readonly ('grant_type' | 'scope')[];
  /** Further members of the form, which never change. */
  readonly parameters: Readonly<Record<string, string>>;
}
/** RFC 7523 §2.1, as CAMARA profiles it: the assertion names the number and the scope, and authenticates the client. */
export interface JwtBearer {
  readonly type: 'jwt-bearer';
  readonly path: string;
  /** `sub` of the assertion, such as `tel:{number}`. */
  readonly subject: string;
  readonly parameters: Readonly<Record<string, string>>;
  /**
   * What `invalid_grant` means for the number: that its owner has opted out (CONSENT_DENIED, without a prompt), or that
   * it is not served; absent where it is about the assertion only. It is OPERATOR_REFUSED nevertheless until the key
   * has brought a token, and from the fifth number in a row on.
   */
  readonly invalidGrant?: 'CONSENT_DENIED' | 'NUMBER_NOT_SERVED' | undefined;
}
/** No token step: each lookup is authenticated by {@link Authentication}. */
export interface NoToken {
  readonly type: 'none';
}
/** OpenID CIBA Core, in poll mode. */
export interface Ciba {
  readonly type: 'ciba';
  /** The paths of bc-authorize and of the polls, below `authUrl`. */
  readonly paths: {
    readonly backchannelAuthentication: string;
    readonly cibaToken: string;
  };
  /** `grant_type` of a poll. */
  readonly grantType: string;
  /** `login_hint` of bc-authorize, such as `tel:{number}`. */
  readonly loginHint: string;
  readonly firstPoll: 'at-once' | 'after-interval';
  /** The least time between two polls, even where `interval` is shorter: from 1 to 60 seconds. */
  readonly minIntervalSeconds: number;
  /** Further members of bc-authorize, which never change. */
  readonly parameters: Readonly<Record<string, string>>;
}
/** The parts of `scope`: `openid`, a purpose and the operation's own. */
export interface Scopes {
  /** Empty where the operator has no scopes. */
  readonly operations: {
    readonly [operation in ProfileOperation]: string;
  };
  /** Only in the 3-legged flow: the other has no ID token. */
  readonly openid: boolean;
  /** Whether it includes the purpose that the caller states (PURPOSES), such as `dpv:FraudPreventionAndDetection`. */
  readonly purpose: boolean;
  /** What separates the purpose and the operation's own scope. */
  readonly joinedBy: ' ' | '#';
}
export interface Tokens {
  /** What a token may be used for where the entry does not say; `once` unless the papers promise more. */
  readonly use: 'once' | 'per-number' | 'any-number';
  /** How long before it expires a kept token is no longer used. */
  readonly marginSeconds: number;
  /** The lifetime of a kept token without `expires_in`. */
  readonly defaultLifetimeSeconds: number;
  /** What `token_type` may be, in upper or lower case; with DPoP, only `DPoP` is accepted. */
  readonly types: readonly string[];
  /** Where a lookup carries the token: a header, and the prefix there, `Bearer ` with its space. */
  readonly sentIn: {
    readonly header: string;
    readonly prefix: string;
  };
}
export interface LookupProfile {
  readonly method: 'GET' | 'POST';
  /**
   * Below `simSwapUrl`, with the placeholders `{number}` (its plus percent-encoded), `{digits}` and the names of
   * options. Logs, spans and metrics identify the lookup by this template.
   */
  readonly path: string;
  /** Writes the rest of the request. Synchronous; no member of what it returns may have a CR or LF. */
  readonly write: (input: LookupAsk) => LookupParts;
  readonly read: LookupReading;
}
/** Frozen. */
export interface LookupAsk {
  readonly operation: ProfileOperation;
  /** `+447700900001`; undefined where the token holds the number, and a lookup that names it is refused. */
  readonly number: string | undefined;
  /** `447700900001`, where {@link number} is defined. */
  readonly digits: string | undefined;
  /** Undefined for `retrieve-date`. */
  readonly maxAgeHours: number | undefined;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  readonly options: Options;
}
/** What a function writes. Members that are `undefined` are left out. */
export interface LookupParts {
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** JSON, only for POST; an empty object where absent. */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
}
/** How a reply of 200 is read, as data: the facts are made outside the profile. */
export interface LookupReading {
  /** Chooses the object that the pointers below refer to; the body itself where absent. */
  readonly pick?: ((body: Body) => Body | undefined) | undefined;
  /** The date of the last change, where the reply has one, for either operation. */
  readonly date?: DateReading | undefined;
  /** Whether the SIM was swapped, where the reply says so, for either operation. */
  readonly swapped?: SwappedReading | undefined;
  /**
   * Whether these members may be null or absent where the operator knows nothing. A date that is missing next to
   * `swapped` is withheld; if nothing at all is known, the failure is NUMBER_NOT_SERVED.
   */
  readonly isPartial?: boolean | undefined;
  /** Where the reply names the number, with or without its plus: a reply about another number is invalid. */
  readonly number?: Pointer | undefined;
}
export interface DateReading {
  readonly at: Pointer;
  /**
   * `rfc3339` has a zone. `utc` is the same without a zone, which is UTC according to the papers. `day` is
   * `YYYY-MM-DD`, and takes a margin of 38 hours or more. The others are numbers since 1970.
   */
  readonly form: 'rfc3339' | 'utc' | 'day' | 'epoch-seconds' | 'epoch-milliseconds';
  /** Texts, or their beginnings, that are read as null: `1900-01-01`. */
  readonly sentinels: readonly string[];
  /** Where the reply states for how many days a null date means no swap. */
  readonly monitoredPeriod?: Pointer | undefined;
  /** What a null date means by the contract, where the reply states no period. */
  readonly nullMeans:
    | 'not-disclosed'
    | {
        readonly noSwapWithinDays: number;
      };
}
export interface SwappedReading {
  readonly at: Pointer;
  /** The exact value for a swap: `true`, `'Y'`, 1; any value but these two is an invalid reply. */
  readonly true: string | number | boolean;
  /** The exact value for no swap; never `null`. */
  readonly false: string | number | boolean;
  /**
   * Which window the reply is about: the one that was sent; the hours that each such request names; or a period in the
   * reply (ISO 8601: `PT48H`, `P2D`). Years and months have no fixed length. A period in the reply is rounded down to
   * hours for a false and up for a true, and answers no other windows: those are PERIOD_NOT_SUPPORTED, without another
   * lookup.
   */
  readonly window: 'asked' | number | Pointer;
}
/** How an operator words its failures, by status and word. */
export interface Errors {
  /** Where a body names its error, tried in turn before `code` and `error`. */
  readonly wordAt: readonly Pointer[];
  /** The word of an answer there, such as `0000` or `OK`: a 200 with another word, or without one, is not an answer. */
  readonly okWords: readonly string[];
  /** The first rule that matches applies; without one, the rules of CAMARA and OAuth do. */
  readonly rules: readonly ErrorRuleProfile[];
}
export interface ErrorRuleProfile {
  /** The status of the reply: 400 to 599, or 200 with a word. */
  readonly status: number;
  /** The word in the body; any where absent. */
  readonly word?: string | undefined;
  readonly code:
    | 'NUMBER_NOT_SERVED'
    | 'PERIOD_NOT_SUPPORTED'
    | 'OPERATION_NOT_OFFERED'
    | 'CONSENT_DENIED'
    | 'CONSENT_EXPIRED'
    | 'OPERATOR_RATE_LIMITED'
    | 'OPERATOR_UNAVAILABLE'
    | 'OPERATOR_TIMEOUT'
    | 'OPERATOR_REFUSED'
    | 'OPERATOR_INVALID_REPLY';
  /**
   * What the failure closes: of PERIOD_NOT_SUPPORTED, OPERATION_NOT_OFFERED, OPERATOR_REFUSED, OPERATOR_INVALID_REPLY.
   */
  readonly reach?: 'question' | 'operation' | 'number' | undefined;
  /** After how many seconds a retry can help, unless the reply states it. */
  readonly retryAfterSeconds?: number | undefined;
  /** For NUMBER_NOT_SERVED with a word that means: this number is not ours. The entry's `others` are called then. */
  readonly isUnknownNumber?: true | undefined;
}
export interface ProfileHeader {
  readonly name: string;
  /**
   * A text, in which `{name}` is an option, and which is left out where it becomes empty; or one that is generated for
   * each exchange: a UUID, or the time of sending (RFC 3339, UTC).
   */
  readonly value:
    | string
    | {
        readonly generated: 'uuid' | 'timestamp';
      };
  /** All endpoints where absent. */
  readonly endpoints?: readonly ProfileEndpoint[] | undefined;
}
/** The base profile, which has both flows and both operations. */
export interface Camara extends OperatorProfile {
  readonly grants: {
    readonly '2-legged': ClientCredentials;
    readonly '3-legged': Ciba;
  };
  readonly lookups: {
    readonly [operation in ProfileOperation]: LookupProfile;
  };
}
/**
 * A profile as its file exports it: `export default (camara) => ({ ...camara, … })`. Called once, with the frozen base.
 */
export type MakeProfile = (camara: Camara) => OperatorProfile;
