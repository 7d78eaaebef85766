import type { PhoneNumber } from '../domain/phoneNumber.ts';
import { Forbidden } from '../errors.ts';
import type { SimSwapLoader } from '../loaders/simSwapLoader.ts';
import { mayAskAbout, type Caller } from './caller.ts';

/**
 * A loader that answers what its caller may ask, and refuses the rest before anything is looked up.
 * Every question passes here, whichever field, router or representation it came by.
 */
export function permittedSimSwaps(caller: Caller, loader: SimSwapLoader): SimSwapLoader {
  const ifPermitted = <T>(number: PhoneNumber, ask: () => Promise<T>): Promise<T> =>
    mayAskAbout(caller, number) ? ask() : Promise.reject(new Forbidden());
  return {
    lastSimSwap: (number) => ifPermitted(number, () => loader.lastSimSwap(number)),
    simSwappedWithin: (number, maxAgeHours) =>
      ifPermitted(number, () => loader.simSwappedWithin(number, maxAgeHours)),
    consent: (number) => ifPermitted(number, () => loader.consent(number)),
  };
}
