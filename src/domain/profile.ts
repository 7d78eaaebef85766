/*
 * An operator's profile: how it is called and how its replies are read, as code. What a contract says of it
 * (addresses, credentials, numbers, prices, limits) is its entry in the file of operators. A profile of one's own takes
 * its types from this file only, so nothing is imported here.
 *
 * A profile cannot loosen what makes a reply believable, a token single, a prompt single, or a `false` a `false`: that
 * lies outside it (docs/decisions/0014).
 */

export type ProfileOperation = 'retrieve-date' | 'check';

/** Whether the owner of a number is prompted for consent (`3-legged`). */
export type ProfileFlow = '2-legged' | '3-legged';

export type ProfileEndpoint =
  'token' | 'backchannelAuthentication' | 'cibaToken' | 'retrieveDate' | 'check';

/** What an entry may say in `options`: a text for each that the profile has. */
export type Options = Readonly<Record<string, string>>;

/** A JSON object of the operator's, whose members are not checked yet; frozen. */
export type Body = Readonly<Record<string, unknown>>;

/** A document that an operator, or a standard, has published. */
export interface Paper {
  readonly title: string;
  readonly version?: string | undefined;
  /** When it was last compared with the profile: `YYYY-MM-DD`. */
  readonly readOn: string;
}

/** A way into a JSON body, by the names of members: `/data/lastSimSwapDate` (RFC 6901, without escapes). */
export type Pointer = `/${string}`;

/** How one operator is called and read. `camara` is the base; each profile is its differences. */
export interface OperatorProfile {
  /** What it was written from. A year after they were read, a check of the operator says so. */
  readonly papers: readonly Paper[];
  readonly authentication: Authentication;
  /** How tokens come about, in each flow that the operator has; the entry names the flow where there are two. */
  readonly grants: {
    readonly '2-legged'?: ClientCredentials | JwtBearer | NoToken | undefined;
    readonly '3-legged'?: Ciba | undefined;
  };
  readonly scopes: Scopes;
  readonly tokens: Tokens;
  /** What is not here is not offered. */
  readonly lookups: { readonly [operation in ProfileOperation]?: LookupProfile | undefined };
  /** Whether lookups name the number as well as the token; `auto` where the token does not hold it. */
  readonly sendPhoneNumber: 'auto' | 'always' | 'never';
  readonly errors: Errors;
  /** How exchanges are named, and whether replies repeat it. */
  readonly correlator: {
    readonly header: string;
    /** At most 55 letters, digits and hyphens that begin with the caller's own; or a UUID. */
    readonly form: 'traceable' | 'uuid';
    readonly echo: 'auto' | 'always' | 'never';
  };
  /** In addition to those of each lookup. */
  readonly headers: readonly ProfileHeader[];
  /** The largest window that `check` takes, in hours: 2400 at most. */
  readonly maxAgeHours: number;
  /** How far its dates may be off: rounding, mislabelled zones, clocks. */
  readonly dateMarginHours: number;
  /** Whether a monitored period with a null date says that no swap fell in it. */
  readonly trustMonitoredPeriod: boolean;
  /** Whether a lookup whose outcome is unknown is made once more, at the price of a second bill. */
  readonly retryLookups: boolean;
  /** Whether calls about one number wait for each other: some answer 409 to two at a time. */
  readonly oneCallPerNumber: boolean;
  /** `auto` uses HTTP/2 where the operator supports it. */
  readonly http2: 'auto' | 'never';
  /** What a lookup does with a token of another number than its body names; `refused` if it answers 401 or 403. */
  readonly tokenMismatch: 'accepted' | 'refused';
  /** What an entry may say in `options`, by name: letters and digits. */
  readonly options: Readonly<Record<string, ProfileOption>>;
}

/** One member of an entry's `options`: a text for paths, headers and what functions write. */
export interface ProfileOption {
  /** For the message where it was left out. */
  readonly description: string;
  /** What the whole text must be; printable ASCII of at most 200 characters where absent. */
  readonly pattern?: RegExp | undefined;
  /** Without one it must be in the entry. */
  readonly default?: string | undefined;
}

/** How the client shows who it is: at the authorization server, or at each lookup where there is no token step. */
export interface Authentication {
  /**
   * Those that the operator takes. Of several, `client.method` of the entry names one; where it is absent, the first
   * counts that the entry's `secret` and `key` are enough for.
   */
  readonly methods: readonly [AuthenticationMethod, ...AuthenticationMethod[]];
  readonly assertion: AssertionProfile;
  /** Whether bc-authorize carries a signed `request` (CIBA Core §7.1.1); `on` repeats `scope` outside it. */
  readonly signedRequest: 'off' | 'on' | 'strict';
  /** Whether tokens are bound to a key (RFC 9449): a proof goes with each token request and each lookup. */
  readonly dpop: boolean;
  /** For the method `headers`, with `{id}` and `{secret}` in their places: `{ 'x-rapidapi-key': '{secret}' }`. */
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

/** JWTs that the client's key signs. */
export interface AssertionProfile {
  /** The first that fits the key. */
  readonly algs: readonly ('ES256' | 'PS256' | 'RS256')[];
  /** How long one counts, from 5 to 300. */
  readonly lifetimeSeconds: number;
  /** `server` is `authUrl`, or the issuer of `discovery`; `endpoint` the address that it is sent to; or a text of its own. */
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
  /** Members that are sent in the query of the address, and not in the body; never the number, since addresses are logged. */
  readonly inQuery: readonly ('grant_type' | 'scope')[];
  /** Further members of the form, the same each time. */
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
   * What `invalid_grant` says of the number: that its owner has opted out (CONSENT_DENIED, without a prompt), or that it is
   * not served; absent where it is about the assertion only. It is OPERATOR_REFUSED all the same until the key has brought
   * a token, and from the fifth number in a row on.
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
  /** Of bc-authorize and of the polls, below `authUrl`. */
  readonly paths: { readonly backchannelAuthentication: string; readonly cibaToken: string };
  /** `grant_type` of a poll. */
  readonly grantType: string;
  /** `login_hint` of bc-authorize, such as `tel:{number}`. */
  readonly loginHint: string;
  readonly firstPoll: 'at-once' | 'after-interval';
  /** The least between two polls, also where `interval` is less: from 1 to 60. */
  readonly minIntervalSeconds: number;
  /** Further members of bc-authorize, the same each time. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** What `scope` is made of: `openid`, a purpose and the operation's own. */
export interface Scopes {
  /** Empty where the operator knows none. */
  readonly operations: { readonly [operation in ProfileOperation]: string };
  /** In the 3-legged flow only: the other has no ID token. */
  readonly openid: boolean;
  /** Whether it has the purpose that the caller states (PURPOSES), such as `dpv:FraudPreventionAndDetection`. */
  readonly purpose: boolean;
  /** Between the purpose and the operation's own. */
  readonly joinedBy: ' ' | '#';
}

export interface Tokens {
  /** What one may be used for where the entry does not say; `once` unless the papers promise more. */
  readonly use: 'once' | 'per-number' | 'any-number';
  /** How long before its end a kept token is used no more. */
  readonly marginSeconds: number;
  /** How long a kept token lives whose `expires_in` is absent. */
  readonly defaultLifetimeSeconds: number;
  /** What `token_type` may be, in any case of letters; with DPoP, only `DPoP` counts. */
  readonly types: readonly string[];
  /** Where a lookup carries it: a header, and the prefix there, `Bearer ` with its space. */
  readonly sentIn: { readonly header: string; readonly prefix: string };
}

export interface LookupProfile {
  readonly method: 'GET' | 'POST';
  /**
   * Below `simSwapUrl`, with `{number}` (its plus percent-encoded), `{digits}` and the names of options in their places.
   * Logs, spans and metrics know the lookup by this template.
   */
  readonly path: string;
  /** The rest of the request. Synchronous; no member of what it returns may hold a CR or LF. */
  readonly write: (input: LookupAsk) => LookupParts;
  readonly read: LookupReading;
}

/** Frozen. */
export interface LookupAsk {
  readonly operation: ProfileOperation;
  /** `+447700900001`; undefined where the token holds the number, and a lookup that names it is refused. */
  readonly number: string | undefined;
  /** `447700900001`, where {@link number} is there. */
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
  /** The object that holds what the pointers below lead to, where one has to be chosen; the body itself where absent. */
  readonly pick?: ((body: Body) => Body | undefined) | undefined;
  /** Where the reply has one, for either operation. */
  readonly date?: DateReading | undefined;
  /** Where the reply says so, for either operation. */
  readonly swapped?: SwappedReading | undefined;
  /**
   * Whether these members may be null or absent where the operator knows nothing: a date that is left out where there is `swapped`
   * is withheld; with nothing known at all it is NUMBER_NOT_SERVED.
   */
  readonly isPartial?: boolean | undefined;
  /** Where the reply names the number, with or without its plus: a reply about another one is invalid. */
  readonly number?: Pointer | undefined;
}

export interface DateReading {
  readonly at: Pointer;
  /**
   * `rfc3339`, with a zone. `utc` is the same without a zone, in UTC by the papers. `day` is `YYYY-MM-DD`, and takes a
   * margin of 38 hours or more. Otherwise a number since 1970.
   */
  readonly form: 'rfc3339' | 'utc' | 'day' | 'epoch-seconds' | 'epoch-milliseconds';
  /** Texts, or what they begin with, that are read as null: `1900-01-01`. */
  readonly sentinels: readonly string[];
  /** Where it says for how many days a null date means no swap. */
  readonly monitoredPeriod?: Pointer | undefined;
  /** What a null date means by the contract, where the reply has no period. */
  readonly nullMeans: 'not-disclosed' | { readonly noSwapWithinDays: number };
}

export interface SwappedReading {
  readonly at: Pointer;
  /** The exact value that says so: `true`, `'Y'`, 1; anything else is an invalid reply. */
  readonly true: string | number | boolean;
  /** Never `null`. */
  readonly false: string | number | boolean;
  /**
   * Which window the reply is about: the one that was sent; the hours that each such request names; or a period of its own
   * (ISO 8601: `PT48H`, `P2D`). Years and months are no lengths. A period of its own is rounded down to hours for a false
   * and up for a true, and answers no other windows: those are PERIOD_NOT_SUPPORTED, without a further lookup.
   */
  readonly window: 'asked' | number | Pointer;
}

/** How an operator words its failures, by status and word. */
export interface Errors {
  /** Where a body names its error, tried in turn before `code` and `error`. */
  readonly wordAt: readonly Pointer[];
  /** The word of an answer there, such as `0000` or `OK`: with any other word, or without one, a 200 is not an answer. */
  readonly okWords: readonly string[];
  /** The first that fits counts; without one, CAMARA and OAuth do. */
  readonly rules: readonly ErrorRuleProfile[];
}

export interface ErrorRuleProfile {
  /** Of the reply: 400 to 599, or 200 with a word. */
  readonly status: number;
  /** What the body names it by; every one where absent. */
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
  /** What it closes, of PERIOD_NOT_SUPPORTED, OPERATION_NOT_OFFERED, OPERATOR_REFUSED and OPERATOR_INVALID_REPLY. */
  readonly reach?: 'question' | 'operation' | 'number' | undefined;
  /** After how many seconds a retry can help, unless the reply says so. */
  readonly retryAfterSeconds?: number | undefined;
  /** Of NUMBER_NOT_SERVED with a word that says: this number is not ours. The entry's `others` are called then. */
  readonly isUnknownNumber?: true | undefined;
}

export interface ProfileHeader {
  readonly name: string;
  /**
   * A text, in which `{name}` is an option and which is left out where that leaves it empty; or one that is made for each
   * exchange: a UUID, or the time of sending (RFC 3339, UTC).
   */
  readonly value: string | { readonly generated: 'uuid' | 'timestamp' };
  /** All where absent. */
  readonly endpoints?: readonly ProfileEndpoint[] | undefined;
}

/** The base, which has both flows and both operations. */
export interface Camara extends OperatorProfile {
  readonly grants: { readonly '2-legged': ClientCredentials; readonly '3-legged': Ciba };
  readonly lookups: { readonly [operation in ProfileOperation]: LookupProfile };
}

/** A profile as its file exports it: `export default (camara) => ({ ...camara, … })`. Called once, with the base, frozen. */
export type MakeProfile = (camara: Camara) => OperatorProfile;
