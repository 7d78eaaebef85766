/** Who asks, and what for. What one asker learned, or was granted, is not another's. */
export interface Asker {
  /** The caller as (issuer, subject, client) in one string; all anonymous requests are one caller. */
  readonly caller: string;
  /** What they ask for, one of those allowed. */
  readonly purpose: string;
}
