import {
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser';

export type Path = readonly (string | number)[];

/** Something that must change in the file, as the end of a sentence about what stands at the path. */
export interface FileProblem {
  readonly path: Path;
  readonly what: string;
}

/** A JSON text with comments, as a value that knows its lines. */
export interface JsonDocument {
  readonly value: unknown;
  readonly problems: readonly FileProblem[];
  /** Of the value at the path, or of the innermost that is there; counted from 1. */
  lineOf(path: Path): number;
}

/** A longer file is not one of settings. */
const MAX_CHARACTERS = 1_000_000;

/** Without problems it is JSON but for its comments and commas at the end of lists and objects. Pure. */
export function readDocument(text: string): JsonDocument {
  if (text.length > MAX_CHARACTERS) return unread(`must have ${MAX_CHARACTERS} characters at most`);
  try {
    // Some editors of Windows write a mark first.
    return parseDocument(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // The parser goes as deep as the text does.
    return unread('has too many brackets in each other');
  }
}

/** A problem as a sentence without its subject, what names the file; `where` begins it. Pure. */
export function sentence({ path, what }: FileProblem, where = ''): string {
  return path.length === 0 ? what : `${where}${pathText(path)} ${what}`;
}

/** `operators[0].client.secret`. Pure. */
function pathText(path: Path): string {
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
  // A text that is not JSON can be guessed at, and the guesses would be problems of their own.
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

/** What is at the path; `undefined` where nothing is. Pure. */
export function valueAt(value: unknown, [part, ...further]: Path): unknown {
  if (part === undefined) return value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
  return valueAt(Reflect.get(value, part), further);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function innermost(root: Node, path: Path): Node {
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNodeAtLocation(root, path.slice(0, length));
    // The line of a member is that of its name.
    if (node !== undefined) return node.parent?.type === 'property' ? node.parent : node;
  }
  return root;
}

/** RFC 8259 §4 leaves open which of two members of one name counts. */
function* duplicates(node: Node, path: Path): Generator<FileProblem> {
  const seen = new Set<string>();
  for (const [index, child] of (node.children ?? []).entries()) {
    if (node.type === 'array') {
      yield* duplicates(child, [...path, index]);
      continue;
    }
    const [key, value] = child.children ?? [];
    const name = String(key?.value);
    if (seen.has(name)) yield { path: [...path, name], what: 'stands twice' };
    seen.add(name);
    if (value !== undefined) yield* duplicates(value, [...path, name]);
  }
}
