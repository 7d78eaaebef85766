import * as z from 'zod';
import { AS_DATA } from './definition.ts';
import type { FileProblem } from './document.ts';
import { didYouMean } from './settingNames.ts';

/*
 * What the reader of the definition found, in words for people. They name members and what may be there, and never quote
 * what is there: it may be a secret in the wrong place.
 */

/** How to parse with the definition: its issues have messages for {@link problemsOf}. */
export const IN_WORDS = { ...AS_DATA, error: wordingOf };

/** Pure. */
export function problemsOf(issue: z.core.$ZodIssue): readonly FileProblem[] {
  const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
  if (issue.code !== 'unrecognized_keys') return [{ path, what: issue.message }];
  const known = issue.message.split(' ');
  return issue.keys.map((key) => ({
    path: [...path, key],
    what: `is not a known member${didYouMean(key, known)}`,
  }));
}

/** Of members that are not known: those that are. */
function wordingOf(issue: z.core.$ZodRawIssue): string | undefined {
  const { input } = issue;
  if (input === undefined) return 'is missing';
  const isNumber = typeof input === 'number';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? `a ${issue.expected}`}`;
    case 'invalid_value': {
      const values = issue.values.map(quoted);
      const hint = typeof input === 'string' ? didYouMean(quoted(input), values) : '';
      return `must be ${values.length === 1 ? '' : 'one of '}${values.join(', ')}${hint}`;
    }
    case 'too_small':
      return isNumber ? `must be ${Number(issue.minimum)} or more` : 'must not be empty';
    case 'too_big':
      return isNumber ? `must be ${Number(issue.maximum)} or less` : 'must be shorter';
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'unrecognized_keys':
      return issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape).join(' ') : '';
    default:
      return undefined;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list, in [ ]',
  object: 'an object, in { }',
  record: 'an object, in { }',
};

function quoted(value: unknown): string {
  return JSON.stringify(String(value));
}
