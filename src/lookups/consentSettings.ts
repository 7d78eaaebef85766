/** How long a consent is waited for, doubted and remembered (design §4, "Consent"; §6, CONSENT_…). */
export interface ConsentSettings {
  /** How long one request waits for the owner of a number. */
  readonly waitMs: number;
  /** How long a number is not prompted again when the reply to a prompt was lost. */
  readonly doubtSeconds: number;
  readonly deniedSeconds: number;
  /** How long a result that nobody was there to receive is kept for the same caller. */
  readonly resultSeconds: number;
}
