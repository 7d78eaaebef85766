import type { LookupFailure } from '../domain/errors.ts';
import type { Admission, Admissions, Admitted, Asked, Denied, Ending, Heard } from './admission.ts';

/** Is told of all that is asked of operators, as the audit log is, and decides nothing. Must not throw. */
export interface AdmissionObserver {
  /** A lookup, or a prompt to an owner, is over. */
  ended?(operator: string, asked: Asked, ending: Ending): void;
  /** Something was not asked. */
  denied?(operator: string, asked: Asked, failure: LookupFailure): void;
  /** An answer is told for which no lookup was made. */
  heard?(operator: string, heard: Heard): void;
}

/** Admissions that tell observers what becomes of all that they admit. */
export function observedAdmissions(
  admissions: Admissions,
  observers: readonly AdmissionObserver[],
): Admissions {
  if (observers.length === 0) return admissions;
  return {
    of: (operator) => new ObservedAdmission(operator, admissions.of(operator), observers),
  };
}

class ObservedAdmission implements Admission {
  readonly #operator: string;
  readonly #admission: Admission;
  readonly #observers: readonly AdmissionObserver[];

  constructor(operator: string, admission: Admission, observers: readonly AdmissionObserver[]) {
    this.#operator = operator;
    this.#admission = admission;
    this.#observers = observers;
  }

  admit(asked: Asked): Promise<Admitted | Denied> | Admitted | Denied {
    const admitted = this.#admission.admit(asked);
    return admitted instanceof Promise
      ? admitted.then((one) => this.#observed(asked, one))
      : this.#observed(asked, admitted);
  }

  heard(heard: Heard): Promise<LookupFailure | undefined> | undefined {
    for (const observer of this.#observers) observer.heard?.(this.#operator, heard);
    return this.#admission.heard(heard);
  }

  #observed(asked: Asked, admitted: Admitted | Denied): Admitted | Denied {
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
