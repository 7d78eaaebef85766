/** How the consent about a number stands, for the caller; reading it starts nothing. */
export interface ConsentStatus {
  readonly state: 'NOT_NEEDED' | 'NOT_ASKED' | 'PENDING' | 'ANSWERED' | 'DENIED' | 'EXPIRED';
  /** When asking can bring something new, in whole seconds. */
  readonly retryAfterSeconds?: number;
  /** When a pending consent ends, milliseconds since 1970. */
  readonly expiresAtMs?: number;
}
