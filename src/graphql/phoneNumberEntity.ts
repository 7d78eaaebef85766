import type { PhoneNumber } from '../domain/phoneNumber.ts';

/** What the resolvers below a `PhoneNumber` start from. */
export interface PhoneNumberEntity {
  readonly e164: PhoneNumber;
}
