import type * as z from 'zod';
import { didYouMean } from './settingNames.ts';
import { valueAt, type FileProblem, type Path } from './document.ts';
import { jsonSchema, membersOf, objectsAt } from './jsonSchema.ts';

type Issue = z.core.$ZodIssue;

/**
 * What the reader found, in words for people. They name members and what may stand there, and never quote what
 * stands there: it may be a secret in the wrong place. Pure.
 */
export function problemsOf(issue: Issue, file: unknown): readonly FileProblem[] {
  const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
  const value = valueAt(file, path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key], what: unknownMember(key, path) }));
  }
  return [{ path, what: value === undefined ? 'is missing' : wordingOf(issue, value) }];
}

function wordingOf(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? `a ${issue.expected}`}`;
    case 'invalid_value':
      return oneOf(issue.values.map(quoted), value);
    case 'too_small':
      return typeof value === 'number'
        ? `must be ${Number(issue.minimum)} or more`
        : 'must not be empty';
    case 'too_big':
      return typeof value === 'number'
        ? `must be ${Number(issue.maximum)} or less`
        : 'must be shorter';
    case 'invalid_key':
      return issue.issues[0]?.message ?? issue.message;
    default:
      return issue.message;
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

function oneOf(allowed: readonly string[], value: unknown): string {
  const hint = typeof value === 'string' ? didYouMean(quoted(value), allowed) : '';
  return `must be ${allowed.length === 1 ? '' : 'one of '}${allowed.join(', ')}${hint}`;
}

function quoted(value: unknown): string {
  return JSON.stringify(String(value));
}

function unknownMember(key: string, path: Path): string {
  const known = objectsAt(jsonSchema(), path).flatMap((one) => Object.keys(membersOf(one)));
  return `is not a known member${didYouMean(key, known)}`;
}
