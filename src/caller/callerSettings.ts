import type { TokenSettings } from './tokenSettings.ts';

/** Who may ask, and how they show who they are. */
export interface CallerSettings {
  /** Absent where every caller is anonymous: on loopback alone. */
  readonly tokens: TokenSettings | undefined;
  /** What a caller needs to ask about several numbers in one operation, if anything. */
  readonly batchScope: string | undefined;
  /** Any of them proves that a request comes from the router; where there is none, no proof is asked. */
  readonly routerSecrets: readonly string[];
  /** What may be asked for; the first is taken where nothing is said. */
  readonly purposes: readonly [string, ...string[]];
}
