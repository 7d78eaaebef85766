import type { Instant } from '../domain/instant.ts';
import type { MaxAgeHours } from '../domain/maxAge.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';

/** Gathers one request's questions, tick by tick, and answers each. Rejects with a `LookupError`. */
export interface SimSwapLoader {
  /** When the SIM last changed; `null` when the operator may not disclose it. */
  lastSimSwap(number: PhoneNumber): Promise<Instant | null>;
  simSwappedWithin(number: PhoneNumber, maxAgeHours: MaxAgeHours): Promise<boolean>;
}
