import type * as z from 'zod';
import { nearestName } from './settingNames.ts';
import { valueAt, type FileProblem, type Path } from './document.ts';
import { jsonSchema, membersOf, objectsAt, type JsonSchema } from './jsonSchema.ts';

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
      return oneOf(issue.values.map(String), value);
    case 'invalid_union':
      return issue.inclusive === false || issue.options === undefined
        ? issue.message
        : oneOf(issue.options.map(String), value);
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
    case 'unrecognized_keys':
    case 'invalid_element':
    case 'invalid_format':
    case 'not_multiple_of':
    case 'custom':
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
  const quoted = allowed.map((one) => JSON.stringify(one)).join(', ');
  const meant = typeof value === 'string' ? nearestName(value, allowed) : undefined;
  const hint = meant === undefined ? '' : `. Did you mean ${JSON.stringify(meant.name)}?`;
  return `must be ${allowed.length === 1 ? '' : 'one of '}${quoted}${hint}`;
}

function unknownMember(key: string, path: Path): string {
  const objects = objectsAt(jsonSchema(), path);
  const owners = objects.flatMap((one) =>
    Object.hasOwn(membersOf(one), key) ? variantOf(one) : [],
  );
  if (owners.length > 0) return `is for ${owners.join(' or ')}`;
  const meant = nearestName(
    key,
    objects.flatMap((one) => Object.keys(membersOf(one))),
  );
  return `is not a known member${meant === undefined ? '' : `. Did you mean ${meant.name}?`}`;
}

/** What tells a variant of an object from the others: `"method": "basic"`. */
function variantOf(schema: JsonSchema): readonly string[] {
  return Object.entries(membersOf(schema)).flatMap(([name, member]) =>
    member.const === undefined ? [] : [`${JSON.stringify(name)}: ${JSON.stringify(member.const)}`],
  );
}
