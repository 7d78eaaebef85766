import { readdirSync, readFileSync } from 'node:fs';
import { readDocument, valueAt } from '../../config/operatorsFile/document.ts';
import type { Draft } from './draft.ts';

const FOLDER = new URL('../../../profiles/', import.meta.url);

/** What an entry starts from where no profile fits. */
export const STANDARD_PROFILE = 'standard';

/** What is publicly known of an operator. */
export interface Profile {
  readonly entry: Draft;
  /** What to ask the onboarding contact, and where it is from. */
  readonly notes: string;
}

/** The names of all profiles, the standard first. */
export function profileNames(): readonly string[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.jsonc'));
  return [STANDARD_PROFILE, ...files.map((name) => name.replace(/\.jsonc$/, '')).toSorted()];
}

/** Reads one of {@link profileNames}. */
export function readProfile(name: string): Profile {
  if (name === STANDARD_PROFILE) return { entry: {}, notes: '' };
  const text = readFileSync(new URL(`${name}.jsonc`, FOLDER), 'utf8');
  const entry = valueAt(readDocument(text).document.value, ['operators', 0]);
  return {
    entry: typeof entry === 'object' && entry !== null ? { ...entry } : {},
    notes: notesIn(text),
  };
}

/** The comment at the head of a profile. */
function notesIn(text: string): string {
  const lines = text.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('//'));
  return lines
    .slice(0, end)
    .map((line) => line.replace(/^\/\/ ?/, ''))
    .join('\n');
}
