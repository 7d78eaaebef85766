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
  return {
    of: (operator) => new ObservedAuthorizer(operator, admissions.of(operator), observers),
  };
}

class ObservedAuthorizer implements LookupAuthorizer {
  readonly #operator: string;
  readonly #admission: LookupAuthorizer;
  readonly #observers: readonly AdmissionObserver[];

  constructor(
    operator: string,
    admission: LookupAuthorizer,
    observers: readonly AdmissionObserver[],
  ) {
    this.#operator = operator;
    this.#admission = admission;
    this.#observers = observers;
  }

  admit(asked: AuthorizerRequest): Promise<Admitted | Denied> | Admitted | Denied {
    const admitted = this.#admission.admit(asked);
    return admitted instanceof Promise
      ? admitted.then((one) => this.#observed(asked, one))
      : this.#observed(asked, admitted);
  }

  heard(heard: CachedAnswer): Promise<LookupFailure | undefined> | undefined {
    for (const observer of this.#observers)
      observer.heard?.(heard.operator ?? this.#operator, heard);
    return this.#admission.heard(heard);
  }

  #observed(asked: AuthorizerRequest, admitted: Admitted | Denied): Admitted | Denied {
    switch (admitted.kind) {
      case 'admitted':
        return {
          kind: 'admitted',
          ended: (ending) => {
            for (const observer of this.#observers) {
              observer.ended?.(this.#operator, asked, ending);
            }
            return admitted.ended(ending);
          },
        };
      case 'denied':
        for (const observer of this.#observers) {
          observer.denied?.(this.#operator, asked, admitted.failure);
        }
        return admitted;
    }
  }
}
