import type { PhoneNumber } from '../domain/phoneNumber.ts';
import type { Lookup } from '../domain/question.ts';
import type { LookupFailure } from '../errors.ts';
import type { LookupRequest } from './lookupRoute.ts';

/** What is about to be asked of the operator, and for whom. */
export interface AskedLookup {
  /** In the 3-legged flow the owner is asked first, and the lookup follows when they consented. */
  readonly event: 'consent-request' | 'lookup';
  readonly lookup: Lookup;
  readonly number: PhoneNumber;
  readonly request: Pick<LookupRequest, 'caller' | 'purpose' | 'correlator'>;
  readonly consentId?: string;
}

/** What came of it: `answered`, `asked` for a consent, or the code of its failure; never the answer. */
export type LookupEnd = 'answered' | 'asked' | 'broken' | LookupFailure['code'];

/** A lookup that may be made. */
export interface AdmittedLookup {
  /** To be told what came of it. Never rejects. */
  ended(end: LookupEnd): Promise<void> | void;
}

/** A lookup that may not be made. */
export interface TurnedDown {
  readonly failure: LookupFailure;
}

/** Stands before every lookup: whether it may be made, and that it was. */
export interface Admission {
  /** Never rejects: a lookup that may not be made has a failure. */
  admit(asked: AskedLookup): Promise<AdmittedLookup | TurnedDown> | AdmittedLookup | TurnedDown;
}

/** Lets every lookup through. */
export const OPEN_ADMISSION: Admission = {
  admit: () => ({ ended: () => undefined }),
};

/** What is asked if it may be. */
export interface Asking<T> {
  readonly asked: AskedLookup;
  readonly ask: () => Promise<T>;
  /** How what came of it is put on record. */
  readonly endOf: (outcome: T) => LookupEnd;
  /** What it comes to when it may not. */
  readonly otherwise: (failure: LookupFailure) => T;
}

/** Asks if it may, and tells what came of it, whatever did. */
export async function ifAdmitted<T>(
  admission: Admission,
  { asked, ask, endOf, otherwise }: Asking<T>,
): Promise<T> {
  const admitted = await admission.admit(asked);
  if ('failure' in admitted) return otherwise(admitted.failure);
  let end: LookupEnd = 'broken';
  try {
    const outcome = await ask();
    end = endOf(outcome);
    return outcome;
  } finally {
    await admitted.ended(end);
  }
}
