import type { ConnectionSettings } from '../http/connections/connectionSettings.ts';

/** The algorithms that an issuer may sign with: asymmetric ones, so that no shared secret verifies. */
export const SIGNING_ALGORITHMS = ['RS256', 'PS256', 'ES256'] as const;

export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

/** Whose access tokens are believed (RFC 9068). */
export interface TokenSettings {
  /** Set where these are development tokens: then no keys are fetched. */
  readonly isForDevelopment?: true;
  /** Where the issuer publishes its keys (RFC 7517 §5). */
  readonly jwksUrl: string;
  /** How that place is connected to. */
  readonly jwksConnection: ConnectionSettings;
  readonly issuer: string;
  /** Who this service is to the issuer. */
  readonly audience: string;
  /** What a token needs to ask about several numbers in one operation; nothing where absent. */
  readonly batchScope?: string;
}
