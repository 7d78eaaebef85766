/** What a check is for, as the service's audit log has it, and as the page shows it. */
export interface Purpose {
  /** One of the service's PURPOSES. */
  readonly id: string;
  readonly label: string;
}

/** How long sessions last, and how many there may be. */
export interface SessionLimits {
  /** Without a request. */
  readonly idleMs: number;
  /** Since the sign-in. */
  readonly absoluteMs: number;
  /** With one more, the session that was idle longest ends: of the same person where there is one. */
  readonly maxSessions: number;
  /** With one more, the person's session that was idle longest ends. */
  readonly maxSessionsPerPerson: number;
}

/** What the desk must know. */
export interface DeskSettings {
  /** What people have in the address line, without a slash at the end. With https, cookies are `Secure`. */
  readonly origin: string;
  /** The OpenID provider, and as whom it knows us. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** For whom the access tokens are: the service's JWT_AUDIENCE. */
  readonly resource: string;
  /** The requested scopes of the service; the provider grants each person theirs. */
  readonly scopes: readonly string[];
  /** The service's BATCH_SCOPE. */
  readonly batchScope: string;
  /** Where the supergraph answers. */
  readonly gatewayUrl: string;
  readonly purposes: readonly Purpose[];
  /** By your contract with the operator: the page says what a list costs. */
  readonly lookupPrice?: { readonly amount: number; readonly currency: string };
  /** Where the built page is. */
  readonly pageDirectory: string;
  readonly sessions: SessionLimits;
  /** Different questions in an hour for a person without the batch scope; a case takes two or three. */
  readonly singleQuestionsPerHour: number;
  /** A clock that no administrator sets back. */
  readonly monotonicMs: () => number;
}

export const SESSION_LIMITS: SessionLimits = {
  idleMs: 30 * 60_000,
  absoluteMs: 8 * 3_600_000,
  maxSessions: 1000,
  maxSessionsPerPerson: 5,
};
