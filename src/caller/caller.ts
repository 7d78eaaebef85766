/** Who asks. */
export interface Caller {
  /** One string for (issuer, subject, client): consents are shared within it, and with nobody else. */
  readonly key: string;
}

/** Everyone who does not say who they are. */
export const ANONYMOUS: Caller = { key: 'anonymous' };
