import { resolve } from 'node:path';
import type { Setting } from '../setting.ts';
import { ALL_SETTINGS, variablesOf } from '../settings.ts';
import { nearestName } from '../settingNames.ts';

/** The variable that names the file; it cannot stand in the file. */
export const SETTINGS_FILE = 'SETTINGS_FILE';

/** The settings that may stand in SETTINGS_FILE, by the variable whose name they have there. */
export const FILE_SETTINGS: ReadonlyMap<string, Setting> = new Map(
  [...ALL_SETTINGS]
    .filter(([name]) => name !== SETTINGS_FILE)
    .map(([name, setting]) => [variablesOf(name, setting).at(-1) ?? name, setting]),
);

/** A value as a variable would have it, or why it cannot be one: the end of a sentence about it. */
export type FileValue =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'problem'; readonly what: string };

/**
 * Reads what stands at a name in SETTINGS_FILE. Whether the value is one that the setting takes, the reader of settings
 * says. Pure.
 *
 * @param folder from which paths are taken
 */
export function fileValue(name: string, value: unknown, folder: string): FileValue {
  const setting = FILE_SETTINGS.get(name);
  if (setting === undefined) return { kind: 'problem', what: whyUnknown(name) };
  const text = isPlain(value) ? String(value) : textOf(setting, value);
  if (text === undefined) return { kind: 'problem', what: `must be ${TAKES[setting.kind]}` };
  // Empty is not set, as in a variable.
  return { kind: 'value', text: isPath(setting) && text !== '' ? resolve(folder, text) : text };
}

/** What JSON has for a value that is neither text nor number nor boolean. */
function textOf({ kind }: Setting, value: unknown): string | undefined {
  if (kind === 'list') return isListOfTexts(value) ? value.join(',') : undefined;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return kind === 'json' && isObject ? JSON.stringify(value) : undefined;
}

const TAKES: Readonly<Record<Setting['kind'], string>> = {
  integer: 'a whole number',
  boolean: 'true or false',
  oneOf: 'a text',
  list: 'a list of texts, in [ ], none of them with a comma',
  text: 'a text',
  url: 'a text',
  file: 'the path of a file',
  json: 'an object, in { }',
  secret: 'the path of a file',
};

function isPath({ kind }: Setting): boolean {
  return kind === 'file' || kind === 'secret';
}

function whyUnknown(name: string): string {
  if (name === SETTINGS_FILE) return 'is a variable alone: it names this file';
  if (ALL_SETTINGS.get(name)?.kind === 'secret') {
    return `is a secret, and none stands in this file: name the file that holds it, as ${name}_FILE`;
  }
  const meant = nearestName(name, FILE_SETTINGS.keys());
  return `is not a known setting${meant === undefined ? '' : `. Did you mean ${meant.name}?`}`;
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.every((one) => typeof one === 'string' && !one.includes(','))
  );
}
