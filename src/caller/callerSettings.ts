import type { ConnectionSettings } from '../http/wireSettings.ts';

export interface CallerSettings {
  /** Absent where every caller is anonymous: on loopback alone. */
  readonly tokens: IssuerSettings | undefined;
  /** What a caller needs to ask about several numbers in one operation, if anything. */
  readonly batchScope: string | undefined;
  /** Any of them proves that a request comes from the router; where there is none, no proof is asked. */
  readonly routerSecrets: readonly string[];
  /** What may be asked for; the first is taken where nothing is said. */
  readonly purposes: readonly [string, ...string[]];
}

/** The algorithms that an issuer may sign with: asymmetric ones, so that no shared secret verifies. */
export const SIGNING_ALGORITHMS = ['RS256', 'PS256', 'ES256'] as const;

export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

/** Whose access tokens are believed (RFC 9068). */
export interface IssuerSettings {
  /** Set where these are development tokens: then no keys are fetched. */
  readonly isForDevelopment?: true;
  /** Where the issuer publishes its keys (RFC 7517 §5). */
  readonly jwksUrl: string;
  readonly jwksConnection: ConnectionSettings;
  readonly issuer: string;
  readonly audience: string;
  /** What a token needs to ask about several numbers in one operation; nothing where absent. */
  readonly batchScope?: string;
}
