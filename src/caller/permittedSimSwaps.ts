import { Forbidden } from '../errors.ts';
import type { SimSwapLoader } from '../loaders/simSwapLoader.ts';
import { mayAskAbout, type Caller } from './caller.ts';

/**
 * A loader that answers what its caller may ask, and refuses the rest before anything is looked up.
 * Every question passes here, whichever field, router or representation it came by.
 */
export function permittedSimSwaps(caller: Caller, loader: SimSwapLoader): SimSwapLoader {
  return {
    answer(number, ask) {
      switch (ask.permission) {
        case 'about-number':
          return mayAskAbout(caller, number)
            ? loader.answer(number, ask)
            : Promise.reject(new Forbidden());
      }
    },
  };
}
