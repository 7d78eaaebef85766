export type Identity = typeof ANONYMOUS_IDENTITY | TokenIdentity;

/** As the access token names it. */
export interface TokenIdentity {
  readonly kind: 'token';
  readonly issuer: string;
  readonly subject: string;
  readonly client: string | null;
  /** Equal for equal identities and for no others: what stores and quotas know the caller by. */
  readonly key: string;
}

/** All requests without a token are one caller. */
export const ANONYMOUS_IDENTITY = { kind: 'anonymous', key: 'anonymous' } as const;

export function tokenIdentity(
  issuer: string,
  subject: string,
  client: string | null,
): TokenIdentity {
  // As JSON, so that no choice of subject can read like another subject and client.
  return { kind: 'token', issuer, subject, client, key: JSON.stringify([issuer, subject, client]) };
}

/** A caller with a purpose: what one learned, or was granted, is not another's. */
export interface CallerKey {
  readonly caller: Identity;
  /** One of those allowed. */
  readonly purpose: string;
}
