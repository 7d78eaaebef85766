import type { LookupFailure } from '../domain/errors.ts';
import type {
  LookupAuthorizer,
  LookupAuthorizers,
  Admitted,
  AuthorizerRequest,
  Denied,
  Ending,
  CachedAnswer,
} from './lookupAuthorizer.ts';

/** Is told of all that is asked of operators, as the audit log is, and decides nothing. Must not throw. */
export interface AdmissionObserver {
  /** A lookup, or a prompt to an owner, is over. */
  ended?(operator: string, asked: AuthorizerRequest, ending: Ending): void;
  /** Something was not asked. */
  denied?(operator: string, asked: AuthorizerRequest, failure: LookupFailure): void;
  /** An answer is told for which no lookup was made. */
  heard?(operator: string, heard: CachedAnswer): void;
}

/** Authorizers that tell observers what becomes of all that they admit. */
export function observedAuthorizers(
  admissions: LookupAuthorizers,
  observers: readonly AdmissionObserver[],
): LookupAuthorizers {
  if (observers.length === 0) return admissions;
  return { of: (operator) => observed(operator, admissions.of(operator), observers) };
}

function observed(
  operator: string,
  authorizer: LookupAuthorizer,
  observers: readonly AdmissionObserver[],
): LookupAuthorizer {
  const tell = (asked: AuthorizerRequest, admitted: Admitted | Denied): Admitted | Denied => {
    if (admitted.kind === 'denied') {
      for (const observer of observers) observer.denied?.(operator, asked, admitted.failure);
      return admitted;
    }
    return {
      kind: 'admitted',
      ended(ending) {
        for (const observer of observers) observer.ended?.(operator, asked, ending);
        return admitted.ended(ending);
      },
    };
  };
  return {
    admit(asked) {
      const admitted = authorizer.admit(asked);
      return admitted instanceof Promise
        ? admitted.then((one) => tell(asked, one))
        : tell(asked, admitted);
    },
    heard(heard) {
      for (const observer of observers) observer.heard?.(heard.operator ?? operator, heard);
      return authorizer.heard(heard);
    },
  };
}
