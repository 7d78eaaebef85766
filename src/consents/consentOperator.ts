import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Operation } from '../domain/question.ts';
import type { Bulkhead } from '../http/resilience/bulkhead.ts';
import type { LookupAuthorizer } from '../lookups/lookupAuthorizer.ts';
import type { Offer } from '../lookups/plan.ts';
import type { Operator } from '../operator/operator.ts';
import type { TokenManager } from '../tokens/tokenManager.ts';
import type { ConsentRules } from './consentRecord.ts';
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

/** For each operation a time in milliseconds. */
export type ByOperation = Readonly<Record<Operation, number>>;

/**
 * Which operations an operator refuses us, whatever the number: no owner is prompted for them meanwhile.
 *
 * Methods of shared ones reject with {@link SharedStateLost} while they cannot be asked.
 */
export interface OperatorRefusals {
  /** For how long each is refused still; 0 where it is not. */
  leftMs(): Promise<ByOperation>;

  /**
   * Notes that the operator refused us an operation at a lookup about this number. Once it has about so many
   * numbers, each within `forMs` of the one before, no owner is prompted for the operation for so long: a caller
   * with one number that the operator refuses keeps no other caller from an answer.
   */
  refuse(
    number: PhoneNumber,
    operation: Operation,
    afterNumbers: number,
    forMs: number,
  ): Promise<void>;

  /** Notes that a lookup of an operation was answered: the numbers before it are no longer counted. */
  answered(operation: Operation): Promise<void>;
}
