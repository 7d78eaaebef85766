import { refused, type Parsed } from './phoneNumber.ts';

declare const maxAgeBrand: unique symbol;

/** A window that reaches back from now, in whole hours from 1 to 2400. Made by {@link parseMaxAge} alone. */
export type MaxAgeHours = number & { readonly [maxAgeBrand]: true };

/** CAMARA's bound on `maxAge`: 100 days. */
export const MAX_MAX_AGE_HOURS = 2400;

/** Reads a window; anything but a whole number of hours from 1 to 2400 is refused with the reason. */
export function parseMaxAge(hours: unknown): Parsed<MaxAgeHours> {
  if (!isMaxAge(hours)) {
    return refused(`maxAgeHours is a whole number from 1 to ${MAX_MAX_AGE_HOURS}.`);
  }
  return { kind: 'parsed', value: hours };
}

function isMaxAge(hours: unknown): hours is MaxAgeHours {
  return (
    typeof hours === 'number' && Number.isInteger(hours) && hours >= 1 && hours <= MAX_MAX_AGE_HOURS
  );
}
