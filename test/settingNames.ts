import { VARIABLE_NAMES } from '../src/config/settings.ts';

/** The name of every variable that the program reads. */
export function settingNames(): readonly string[] {
  return [...VARIABLE_NAMES];
}
