import type { Bulkhead } from '../http/resilience/bulkhead.ts';
import type { LookupAuthorizer } from '../lookups/lookupAuthorizer.ts';
import type { Offer } from '../lookups/planner.ts';
import type { Operator } from '../operator/operator.ts';
import type { TokenManager } from '../tokens/tokenManager.ts';
import type { ConsentRules } from './consentRecord.ts';
import type { OperatorRefusals } from './consentStore.ts';
import type { ConsentTokens } from './consentTokens.ts';

/** One operator that is asked with the consent of owners. */
export interface ConsentOperator {
  /** As consents and facts name it. */
  readonly identity: string;
  /** As in the settings. */
  readonly name: string;
  readonly tokens: Pick<TokenManager, 'requestConsent' | 'poll'>;
  readonly operator: Pick<Operator, 'lookUp'>;
  /** Where the operator lets the tokens of consents be used again. */
  readonly consentTokens?: Pick<ConsentTokens, 'keep'> | undefined;
  readonly admission: LookupAuthorizer;
  readonly refusals: OperatorRefusals;
  readonly offer: Offer;
  readonly rules: ConsentRules;
  /** Prompts and polls have permits of their own, so that a thousand pending consents hold up nothing. */
  readonly bulkheads: { readonly requests: Bulkhead; readonly polls: Bulkhead };
  /** For an exchange and its one retry; shorter than the lease. */
  readonly exchangeMs: number;
}
