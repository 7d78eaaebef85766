import type { PhoneNumber } from '../domain/phoneNumber.ts';

/** Who asks, and about whom they may. */
export interface Caller {
  /** One string for (issuer, subject, client): consents are shared within it, and with nobody else. */
  readonly key: string;
  /** Risk teams and services; everyone else asks about themselves. */
  readonly mayAskAboutAnyone: boolean;
  /** The number that the issuer has verified to be the caller's own. */
  readonly ownNumber?: PhoneNumber;
  /** What the issuer says the caller asks for. */
  readonly purpose?: string;
}

/** Everyone, where no issuer is configured: on loopback alone. */
export const ANONYMOUS: Caller = { key: 'anonymous', mayAskAboutAnyone: true };

/** Whether a caller may learn anything about a number. It depends on nothing that an operator knows. */
export function mayAskAbout(caller: Caller, number: PhoneNumber): boolean {
  return caller.mayAskAboutAnyone || caller.ownNumber === number;
}
