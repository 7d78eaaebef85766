import { ANONYMOUS_IDENTITY, type Identity } from '../domain/identity.ts';
import type { PhoneNumber } from '../domain/phoneNumber.ts';

/** Who asks, and about whom they may. */
export interface Caller {
  /** Consents are shared within it, and with no other caller. */
  readonly identity: Identity;
  /** Risk teams and services; every other caller asks about itself. */
  readonly mayAskAboutAnyone: boolean;
  /** The scope that it would need to ask about several numbers in one operation; absent where it may. */
  readonly missingBatchScope?: string;
  /** The number that the issuer has verified to be the caller's own. */
  readonly ownNumber?: PhoneNumber;
  /** What the issuer says the caller asks for. */
  readonly purpose?: string;
}

/** Every caller, where no issuer is configured: on loopback alone. */
export const ANONYMOUS: Caller = { identity: ANONYMOUS_IDENTITY, mayAskAboutAnyone: true };

/** Whether a caller may learn anything about a number. It depends on nothing that an operator knows. */
export function mayAskAbout(caller: Caller, number: PhoneNumber): boolean {
  return caller.mayAskAboutAnyone || caller.ownNumber === number;
}
