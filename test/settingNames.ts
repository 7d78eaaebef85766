import { VARIABLE_NAMES } from '../src/config/settings.ts';

export function settingNames(): readonly string[] {
  return [...VARIABLE_NAMES];
}
