import {
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser';
import * as z from 'zod';
import { didYouMean } from './settingNames.ts';

export type Path = readonly (string | number)[];

/** A problem of the file, as the end of a sentence about the value at the path. */
export interface FileProblem {
  readonly path: Path;
  readonly what: string;
}

/** A JSON text with comments, as a value that knows its lines. */
export interface JsonDocument {
  readonly value: unknown;
  readonly problems: readonly FileProblem[];
  /** The line of the value at the path, or of the innermost value that exists; counted from 1. */
  lineOf(path: Path): number;
}

/** A longer file is not a file of settings. */
const MAX_CHARACTERS = 1_000_000;

/** JSON with comments and trailing commas. Pure. */
export function readDocument(text: string): JsonDocument {
  if (text.length > MAX_CHARACTERS) return unread(`must have ${MAX_CHARACTERS} characters at most`);
  try {
    // Some editors on Windows write a byte order mark.
    return parseDocument(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // The parser recurses as deeply as the text nests.
    return unread('nests too many brackets');
  }
}

/** A problem as a sentence without its subject, which names the file. Pure. */
export function sentence({ path, what }: FileProblem, where = ''): string {
  return path.length === 0 ? what : `${where}${pathText(path)} ${what}`;
}

/** The path as `operators[0].client.secret`. Pure. */
export function pathText(path: Path): string {
  return path
    .map((part) => {
      if (typeof part === 'number') return `[${part}]`;
      return /^[A-Za-z_$][\w$]*$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`;
    })
    .join('')
    .replace(/^\./, '');
}

function unread(what: string): JsonDocument {
  return { value: undefined, lineOf: () => 1, problems: [{ path: [], what }] };
}

function parseDocument(text: string): JsonDocument {
  const errors: ParseError[] = [];
  // Formatters write a comma after the last member.
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length;
  // The parser guesses at a text that is not JSON: further problems would be about the guesses.
  const [first] = errors;
  if (first !== undefined) {
    const words = printParseErrorCode(first.error).replaceAll(/[A-Z]/g, ' $&').trim().toLowerCase();
    return unread(`is not JSON: ${words} in line ${lineAt(first.offset)}`);
  }
  if (root === undefined) return unread('is not JSON');
  return {
    value: getNodeValue(root),
    lineOf: (path) => lineAt(innermost(root, path).offset),
    problems: [...duplicates(root, [])],
  };
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function innermost(root: Node, path: Path): Node {
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNodeAtLocation(root, path.slice(0, length));
    // The line of a member is the line of its name.
    if (node !== undefined) return node.parent?.type === 'property' ? node.parent : node;
  }
  return root;
}

/** RFC 8259 §4 leaves open which of two members with the same name counts. */
function* duplicates(node: Node, path: Path): Generator<FileProblem> {
  const seen = new Set<string>();
  for (const [index, child] of (node.children ?? []).entries()) {
    if (node.type === 'array') {
      yield* duplicates(child, [...path, index]);
      continue;
    }
    const [key, value] = child.children ?? [];
    const name = String(key?.value);
    if (seen.has(name)) yield { path: [...path, name], what: 'is set twice' };
    seen.add(name);
    if (value !== undefined) yield* duplicates(value, [...path, name]);
  }
}

/**
 * A value by a schema, or its problems in words for people. They name members and allowed values, and never quote the
 * value: it may be a misplaced secret. Pure.
 */
export function parsed<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { readonly data?: z.output<Schema>; readonly problems: readonly FileProblem[] } {
  // zod would compile readers with `new Function`, which the service forbids at its start. Set for each reading:
  // another program in this process may use the same zod.
  const { data, error } = schema.safeParse(value, { jitless: true, error: wordingOf });
  return error === undefined
    ? { data, problems: [] }
    : { problems: error.issues.flatMap(problemsOf) };
}

function problemsOf(issue: z.core.$ZodIssue): readonly FileProblem[] {
  const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
  if (issue.code !== 'unrecognized_keys') return [{ path, what: issue.message }];
  const known = issue.message.split(' ');
  return issue.keys.map((key) => ({
    path: [...path, key],
    what: `is not a known member${didYouMean(key, known)}`,
  }));
}

/** Lists the known members, where one is unknown. */
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
