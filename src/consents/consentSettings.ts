/** How long a consent is waited for, doubted and remembered (docs/settings.md, "Consent"). */
export interface ConsentSettings {
  readonly waitMs: number;
  /** How long a number is not prompted again when the reply to a prompt was lost. */
  readonly doubtSeconds: number;
  readonly deniedSeconds: number;
  /** How long a lookup that failed after consent is told, and prompts for what it speaks for are held back. */
  readonly failureSeconds: number;
  /** How long an answer or an expiry that no request has heard is kept for its caller. */
  readonly resultSeconds: number;
}
