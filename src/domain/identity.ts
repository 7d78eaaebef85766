export type Identity = typeof ANONYMOUS_IDENTITY | TokenIdentity;

/** A caller as the access token names it. */
export interface TokenIdentity {
  readonly kind: 'token';
  readonly issuer: string;
  readonly subject: string;
  readonly client: string | null;
  /** Equal for equal identities and for no others: stores and quotas identify the caller by it. */
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

/** What a caller needs an answer for (PURPOSES). */
export interface Purpose {
  /** The name by which callers state it. */
  readonly name: string;
  /** What operators get: `dpv:` with a purpose of the Data Privacy Vocabulary; the name where none is mapped. */
  readonly word: string;
  /** Equal for purposes with the same word, and for no others: stores identify the purpose by it. */
  readonly key: string;
}

/** A caller with a purpose. What one of them learned, or was granted, is not available to another. */
export interface CallerKey {
  readonly caller: Identity;
  readonly purpose: Purpose;
}

/** The purpose of a request that has not been admitted. */
export const NO_PURPOSE: Purpose = { name: '', word: '', key: '' };

/** Before PURPOSES mapped names, owners were prompted for this purpose, whatever the name. */
const FORMERLY_SENT = 'dpv:FraudPreventionAndDetection';

/**
 * The purposes that callers may state, in order. Pure.
 *
 * @param mapped each is a name, or a name and a word with `=` between
 */
export function purposesOf(mapped: readonly string[]): readonly Purpose[] {
  const stated = mapped.map((text) => {
    const [name = '', word = name] = text.split('=');
    return { name, word };
  });
  // Its consents and facts are stored under its name, so that live ones are found.
  const former = stated.find(({ word }) => word === FORMERLY_SENT);
  return stated.map((one) => {
    return { ...one, key: one.word === FORMERLY_SENT ? (former ?? one).name : one.word };
  });
}
