import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../domain/errors.ts';
import type { LookupRequest } from './lookupRoute.ts';

interface AboutNumber {
  readonly number: PhoneNumber;
  readonly request: Pick<
    LookupRequest,
    'caller' | 'purpose' | 'correlator' | 'deadlineMs' | 'signal' | 'onLookupCounted'
  >;
}

/** A billed lookup; in the 3-legged flow one that a consent has paid for. */
export interface LookupToAuthorize extends AboutNumber {
  readonly event: 'lookup';
  readonly lookup: Lookup;
  readonly consentId?: string;
  /** Another lookup with that consent's token, which is counted; the first was counted with the prompt. */
  readonly isFurther?: true;
}

export type AuthorizerRequest =
  | LookupToAuthorize
  /** A prompt, for the lookup that follows it. */
  | (AboutNumber & {
      readonly event: 'consent-request';
      readonly lookup: Lookup;
      readonly consentId: string;
    })
  /** Without an exchange: a consent's state, or the operator of a number whose prefix does not decide it. */
  | (AboutNumber & { readonly event: 'consent-status' | 'routing' });

/** An answer to a request for which no lookup was made. */
export interface CachedAnswer extends AboutNumber {
  /** `shared`: the lookup was made for another request at the same time; `kept`: at an earlier one. */
  readonly how: 'shared' | 'kept';
  readonly lookup: Lookup;
  readonly consentId?: string;
  /** The name of the operator that gave it, where it may differ from the current one. */
  readonly operator?: string;
}

export interface Ending {
  /** For the audit log: `answered`, `asked` for consent, or a failure; never the answer. */
  readonly outcome: 'answered' | 'asked' | 'broken' | LookupFailure['code'];
  /**
   * Exchanges with the lookup endpoint, or `bc-authorize`, that may have reached the operator. 0 where proven that none did:
   * the quota is given back, except to a caller that hung up or learned of the number from the token endpoint.
   */
  readonly attempts: number;
}

/** For an exchange that threw: its request may have left. */
export const BROKEN_ENDING: Ending = { outcome: 'broken', attempts: 1 };

export interface Admitted {
  readonly kind: 'admitted';
  /** Writes the line after the exchange. To be called once. Never rejects. */
  ended(ending: Ending): Promise<void> | void;
}

export interface Denied {
  readonly kind: 'denied';
  readonly failure: LookupFailure;
}

export interface LookupAuthorizers {
  /** The authorizer for one operator, whose name is recorded with all that it admits. */
  of(operator: string): LookupAuthorizer;
}

export interface LookupAuthorizer {
  /**
   * Counts and records what is about to happen. For a consent status or a routing `ended` only gives back what was counted,
   * so it need not be called. Never rejects.
   */
  admit(action: AuthorizerRequest): Promise<Admitted | Denied> | Admitted | Denied;

  /**
   * Records an answer, or a failure for the number, before it is returned to a request for which no lookup was made.
   * Returns the failure to return instead where the record cannot be written. Never rejects.
   */
  delivered(answer: CachedAnswer): Promise<LookupFailure | undefined> | undefined;
}

/** Counting takes a second at most, and the audit lines before and after take two seconds each. */
export const AUDIT_BUDGET_MS = 5000;

/** Observes everything that is authorized, and decides nothing. Must not throw. */
export interface AdmissionObserver {
  ended(operator: string, action: AuthorizerRequest, ending: Ending): void;
  denied(operator: string, action: AuthorizerRequest, failure: LookupFailure): void;
  delivered(operator: string, answer: CachedAnswer): void;
}

export function observedAuthorizers(
  admissions: LookupAuthorizers,
  observer: AdmissionObserver | undefined,
): LookupAuthorizers {
  if (observer === undefined) return admissions;
  return {
    of(operator) {
      const authorizer = admissions.of(operator);
      const observed = (
        action: AuthorizerRequest,
        admitted: Admitted | Denied,
      ): Admitted | Denied => {
        if (admitted.kind === 'denied') {
          observer.denied(operator, action, admitted.failure);
          return admitted;
        }
        return {
          kind: 'admitted',
          ended(ending) {
            observer.ended(operator, action, ending);
            return admitted.ended(ending);
          },
        };
      };
      return {
        admit(action) {
          const admitted = authorizer.admit(action);
          return admitted instanceof Promise
            ? admitted.then((one) => observed(action, one))
            : observed(action, admitted);
        },
        delivered(answer) {
          observer.delivered(answer.operator ?? operator, answer);
          return authorizer.delivered(answer);
        },
      };
    },
  };
}
